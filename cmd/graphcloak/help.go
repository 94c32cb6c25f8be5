// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
)

// help prints what a command does, examples first, and its flags: the common ones, or all
// by topic where --help-all asks for them.
func (a *app) help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	if !a.helpAll && cmd.HasParent() && cmd.Runnable() {
		about, _, _ = strings.Cut(about, "\n\n")
	}
	fmt.Fprintf(w, "%s", term.Reflow(about, min(a.width, term.ProseWidth)))
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(w, "\nUsage:\n  %s\n", use)
	a.printCommands(w, cmd)
	all := cmd.LocalFlags()
	if cmd.HasParent() {
		all.AddFlagSet(cmd.InheritedFlags())
	}
	topics := config.Topics(all)
	if a.helpAll {
		for _, t := range topics {
			a.printTopic(w, t, false)
		}
	} else {
		if few := common(cmd, topics); len(few) > 0 {
			a.printTopic(w, config.Topic{Title: "Common flags", Flags: few}, true)
		}
		fmt.Fprintf(w, "\nAll flags, by topic: %s --help-all\n", cmd.CommandPath())
	}
	fmt.Fprintf(w, "\nDocumentation: %s\n", docsURL)
}

// commonFlags are the flags that most calls need; --help-all has all. Commands about jobs, whose settings are their own, have
// those that come first in common.
var commonFlags = []string{
	"from", "uri", "username", "format", "output", "verbose", "node-labels", "relationship-types", "node-key", "source-property",
	"measurement-property", "tau", "epsilon", "delta", "community-property", "mode", "dry-run", "report",
}

// common returns the flags that a short help shows: the command's own and the common ones.
func common(cmd *cobra.Command, topics []config.Topic) (few []*pflag.Flag) {
	if !cmd.HasParent() || cmd.HasSubCommands() && cmd.Flags().Lookup("format") == nil {
		return nil
	}
	names := commonFlags
	if cmd.Name() == "serve" || cmd.Parent().Name() == "job" {
		names = names[:slices.Index(names, "node-labels")]
	}
	for _, t := range topics {
		for _, f := range t.Flags {
			own := t.Title == "Flags" && cmd.InheritedFlags().Lookup(f.Name) == nil
			if own || f.Annotations != nil && slices.Contains(names, f.Name) {
				few = append(few, f)
			}
		}
	}
	return few
}

// Columns of a flag's name with its value in help, and where a name without a letter
// begins.
const (
	flagColumn = 34
	flagIndent = 6
)

// printTopic prints flags with what they mean beside them, or below a long name.
func (a *app) printTopic(w io.Writer, t config.Topic, brief bool) {
	fmt.Fprintf(w, "\n%s:\n", t.Title)
	width := min(a.width, term.ProseWidth)
	for _, f := range t.Flags {
		name, usage := flagHelp(f, brief)
		rows := term.Wrap(usage, max(width-flagColumn-2, 20))
		if len(name) > flagColumn {
			fmt.Fprintf(w, "%s\n", name)
			name = ""
		}
		for _, row := range rows {
			fmt.Fprintf(w, "%-*s  %s\n", flagColumn, name, row)
			name = ""
		}
	}
}

// flagHelp returns a flag with its value, and what it means with its default; in brief its value where there is room, and the
// first clause of what it means.
func flagHelp(f *pflag.Flag, brief bool) (name, usage string) {
	value, usage := pflag.UnquoteUsage(f)
	if name = flagName(f, value); brief {
		usage, _, _ = strings.Cut(usage, "; ")
		if len(name) > flagColumn {
			name = flagName(f, "")
		}
	}
	return name, usage + defaultOf(f)
}

// flagName is a flag with what it takes.
func flagName(f *pflag.Flag, value string) string {
	name := strings.Repeat(" ", flagIndent) + "--" + f.Name
	if f.Shorthand != "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value == "" || value == "bool" {
		return name
	}
	return name + " " + value
}

// defaultOf is a default that is a choice.
func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "false", "0", "0s", "[]", "neo4j://localhost:7687"}, f.DefValue) {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// printCommands lists the commands below one, by group where there are groups.
func (a *app) printCommands(w io.Writer, cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	const column = 15
	width := min(a.width, term.ProseWidth)
	for _, g := range groups {
		title := "\n" + g.Title + ":\n"
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() || g.ID != "" && c.GroupID != g.ID {
				continue
			}
			name := fmt.Sprintf("%s  %-12s ", title, c.Name())
			title = ""
			for _, row := range term.Wrap(c.Short, max(width-column, 20)) {
				fmt.Fprintf(w, "%-*s%s\n", column, name, row)
				name = ""
			}
		}
	}
	for _, c := range cmd.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			topic := fmt.Sprintf("`%s help %s`: %s", cmd.CommandPath(), c.Name(), c.Short)
			fmt.Fprintf(w, "\n%s\n", strings.Join(term.Wrap(topic, width), "\n"))
		}
	}
}

// newExitCodesTopic is a page of the help; there is nothing to run.
func newExitCodesTopic(app *app) *cobra.Command {
	topic := &cobra.Command{Use: "exit-codes", Short: "What each exit code means, and whether to run again"}
	var b strings.Builder
	b.WriteString("A command ends with one of these. An unknown code is a failure. \"Safe\": the same command line spends nothing twice.\n")
	for _, m := range exitMeanings() {
		const indent = "      "
		text := term.Wrap(indent+m.meaning, min(app.width, term.ProseWidth))
		text[0] = fmt.Sprintf("\n%4d  %s", m.code, strings.TrimPrefix(text[0], indent))
		for _, line := range []string{"run again: " + m.again, "to do: " + m.todo} {
			text = append(text, term.Wrap(indent+line, min(app.width, term.ProseWidth))...)
		}
		b.WriteString(strings.Join(text, "\n") + "\n")
	}
	topic.Long = strings.TrimSuffix(b.String(), "\n")
	return topic
}

const docsURL = "https://github.com/graphcloak/graphcloak/tree/main/docs"
