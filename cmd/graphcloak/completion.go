// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/jobs"
)

// completionTime bounds a look into the store while somebody waits at a prompt.
const completionTime = 2 * time.Second

// lookup finds the words that may stand in a place.
type lookup func(ctx context.Context) []string

// completeValues lets a shell complete the words that a flag takes. The command
// `completion` itself is cobra's.
func (a *app) completeValues(cmd *cobra.Command, groups []config.Group) {
	labels, types, properties := a.storeNames(0), a.storeNames(1), a.storeNames(2)
	fromStore := map[string]lookup{
		"nodeLabels": labels, "sensorLabel": labels, "relationshipTypes": types,
		"nodeKey": properties, "relationshipWeightProperty": properties, "sourceProperty": properties, "measurementProperty": properties, "sensorProperty": properties,
		"communityProperty": properties, "priorProperty": properties, "nodeCaption": properties,
		"metric": func(ctx context.Context) []string { return append([]string{"hops"}, properties(ctx)...) },
	}
	for _, s := range config.Settings() {
		var complete cobra.CompletionFunc
		switch find := fromStore[s.Key]; {
		case !slices.Contains(groups, s.Group):
			continue
		case s.Key == "from":
			complete = completeFrom
		case find != nil:
			complete = a.completion(find, s.Type() == "list")
		case s.Values != nil:
			complete = cobra.FixedCompletions(s.Values, cobra.ShellCompDirectiveNoFileComp)
		default:
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(s.Flag, complete); err != nil {
			panic(err) // the flag was added from the same table
		}
	}
}

// completeArguments lets a shell complete the arguments, and the flags of single commands,
// that name what is in a store.
func (a *app) completeArguments(root *cobra.Command) {
	runs, names := a.completion(a.runIDs, false), a.completion(a.jobNames, false)
	for _, words := range [][]string{{"runs", "show"}, {"report"}, {"report", "compare"}} {
		a.commandAt(root, words).ValidArgsFunction = runs
	}
	for _, word := range []string{"show", "run", "pause", "resume", "cancel"} {
		a.commandAt(root, []string{"job", word}).ValidArgsFunction = names
	}
	for _, flag := range []string{"resume", "undo"} {
		if err := a.commandAt(root, []string{"run"}).RegisterFlagCompletionFunc(flag, runs); err != nil {
			panic(err) // the command has both
		}
	}
}

func (a *app) commandAt(root *cobra.Command, words []string) *cobra.Command {
	cmd, _, err := root.Find(words)
	if err != nil {
		panic(err) // the words are ours
	}
	return cmd
}

// completion is a function of cobra's that is silent where nothing is found, and leaves no
// trace of why.
func (a *app) completion(find lookup, list bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if !a.settle(cmd) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		before := ""
		if at := strings.LastIndexByte(begun, ','); list && at >= 0 {
			before, begun = begun[:at+1], begun[at+1:]
		}
		var found []cobra.Completion
		for _, name := range find(ctx) {
			if strings.HasPrefix(name, begun) && isPlainWord(name) && !slices.Contains(strings.Split(before, ","), name) {
				found = append(found, before+name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// settle resolves the settings of the line that is being typed. Nobody is asked for
// anything, and nothing is said.
func (a *app) settle(cmd *cobra.Command) bool {
	layers := config.Layers{Flags: cmd.Flags(), Defaults: a.defaults[cmd]}
	if _, err := a.addFiles(&layers); err != nil {
		return false
	}
	c, err := config.Load(layers)
	if err != nil || c.Connection.PasswordStdin {
		return false
	}
	c.Terminal.Quiet, c.Terminal.NoInput, c.Terminal.NoProgress = true, true, true
	a.config, a.stderr, a.log = c, io.Discard, slog.New(slog.DiscardHandler)
	return true
}

// isPlainWord holds for names that no shell reads as anything else: the others are typed
// in quotation marks by who means them.
func isPlainWord(name string) bool {
	return name != "" && len(name) <= longestName && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	})
}

// completeFrom completes the places that a graph comes from.
func completeFrom(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.HasPrefix(begun, config.FromFolder+":") {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	all := []string{config.FromNeo4j, config.FromFolder + ":"}
	for _, name := range builtin.Names() {
		all = append(all, config.FromExample+":"+name)
	}
	for _, form := range builtin.Generators() {
		family, _, _ := strings.Cut(form, ",")
		all = append(all, config.FromGenerate+":"+family)
	}
	all = slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, begun) })
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// storeNames finds labels (0), relationship types (1) or properties (2) in the store.
func (a *app) storeNames(which int) lookup {
	return func(ctx context.Context) []string {
		names := a.names
		if from := a.config.From; from.Kind == config.FromExample || from.Kind == config.FromGenerate {
			names = a.builtinNames
		}
		labels, types, properties, err := names(ctx)
		if err != nil {
			return nil
		}
		return [][]string{labels, types, properties}[which]
	}
}

func (a *app) names(ctx context.Context) (labels, types, properties []string, err error) {
	s, err := a.openUnwatched(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	return s.Names(ctx)
}

// builtinNames reads a graph of the program's own without a copy on disk.
func (a *app) builtinNames(ctx context.Context) (labels, types, properties []string, err error) {
	source, err := builtinFolder(a.config.From)
	if err != nil {
		return nil, nil, nil, err
	}
	return (&folder.CSV{FS: source}).Names(ctx)
}

// runIDs finds runs, the latest first.
func (a *app) runIDs(ctx context.Context) (ids []string) {
	s, err := a.openUnwatched(ctx)
	if err != nil {
		return nil
	}
	defer s.Close(context.WithoutCancel(ctx))
	runs, err := allRuns(ctx, s, jobs.RunQuery{})
	if err != nil {
		return nil
	}
	for _, r := range runs {
		ids = append(ids, r.RunID)
	}
	return ids
}

// jobNames finds the jobs of the store and of the file of settings.
func (a *app) jobNames(ctx context.Context) (names []string) {
	s, e, err := a.openJobs(ctx)
	if err != nil {
		return nil
	}
	defer s.Close(context.WithoutCancel(ctx))
	all, _, err := e.Jobs(ctx)
	if err != nil {
		return nil
	}
	for _, j := range all {
		names = append(names, j.Name)
	}
	return names
}
