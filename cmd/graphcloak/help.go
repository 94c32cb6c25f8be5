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
		about = inShort(about)
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
			a.printTopic(w, t, flagHelp)
		}
	} else {
		if few := common(cmd, topics); len(few) > 0 {
			a.printTopic(w, config.Topic{Title: "Common flags", Flags: few}, briefFlagHelp(cmd))
		}
		fmt.Fprintf(w, "\nAll flags, by topic: %s --help-all\n", cmd.CommandPath())
	}
	fmt.Fprintf(w, "\nDocumentation: %s\n", docsURL)
}

// shortAbout is the length of what a short help says of a command, in bytes.
const shortAbout = 560

// inShort keeps the first whole sentences of a text.
func inShort(text string) string {
	if len(text) <= shortAbout {
		return text
	}
	flat := strings.ReplaceAll(text[:shortAbout], "\n", " ")
	if end := strings.LastIndex(flat, ". "); end >= 0 {
		return text[:end+1]
	}
	return text
}

// brief is a common flag as a short help shows it, on one line.
type brief struct{ flag, value, usage string }

// briefs are the flags that most calls need; --help-all has all.
var briefs = []brief{
	{"from", "SOURCE", "neo4j, folder:DIR, example:NAME, …"},
	{"uri", "URI", "address of the server, or NEO4J_URI"},
	{"username", "NAME", "user name, or NEO4J_USERNAME"},
	{"node-labels", "LABELS", "nodes with any of these labels"},
	{"relationship-types", "TYPES", "relationships of any of these types"},
	{"node-key", "NAME", "property that names a node for good"},
	{"source-property", "NAME", "where something started, in [0, 1]; private"},
	{"measurement-property", "NAME", "or what sensors read; private"},
	{"tau", "NUMBER", "diffusion time τ"},
	{"epsilon", "NUMBER", "privacy loss ε of one release"},
	{"delta", "NUMBER", "failure probability δ"},
	{"community-property", "NAME", "property with the community, else detected"},
	{"mode", "MODE", "stream, stats, write"},
	{"dry-run", "", "what would be written and spent, and stop"},
	{"report", "FILE", "the report with its map, as one HTML page"},
	{"format", "FORMAT", "table, json, ndjson, csv or parquet"},
	{"output", "FILE", "write the result to this file"},
	{"verbose", "", "all numbers, and the guarantee in words"},
}

// ofJobs are the common flags of commands about jobs, whose settings are their own.
var ofJobs = []string{"from", "uri", "username", "format", "output", "verbose"}

func briefOf(cmd *cobra.Command, f *pflag.Flag) (brief, bool) {
	i := slices.IndexFunc(briefs, func(b brief) bool { return b.flag == f.Name })
	about := cmd.Name() == "serve" || cmd.HasParent() && cmd.Parent().Name() == "job"
	if i < 0 || f.Annotations == nil || about && !slices.Contains(ofJobs, f.Name) {
		return brief{}, false
	}
	return briefs[i], true
}

// common returns the flags that a short help shows: the command's own and the common
// ones.
func common(cmd *cobra.Command, topics []config.Topic) []*pflag.Flag {
	var few []*pflag.Flag
	if !cmd.HasParent() || cmd.HasSubCommands() && cmd.Flags().Lookup("format") == nil {
		return nil
	}
	for _, t := range topics {
		for _, f := range t.Flags {
			own := t.Title == "Flags" && cmd.InheritedFlags().Lookup(f.Name) == nil
			if _, ok := briefOf(cmd, f); own || ok {
				few = append(few, f)
			}
		}
	}
	return few
}

// briefFlagHelp is [flagHelp] in short, with the default.
func briefFlagHelp(cmd *cobra.Command) func(f *pflag.Flag) (name, usage string) {
	return func(f *pflag.Flag) (name, usage string) {
		b, ok := briefOf(cmd, f)
		if !ok {
			name, usage = flagHelp(f)
			for _, mark := range []string{"; ", ": ", ", "} {
				usage, _, _ = strings.Cut(usage, mark)
			}
			return name, usage
		}
		name = strings.TrimRight(flagName(f)+" "+b.value, " ")
		return name, b.usage + defaultOf(f)
	}
}

// Columns of a flag's name with its value in help, and where a name without a letter
// begins.
const (
	flagColumn = 34
	flagIndent = 6
)

// printTopic prints flags with what they mean beside them, or below a long name.
func (a *app) printTopic(w io.Writer, t config.Topic, help func(*pflag.Flag) (name, usage string)) {
	fmt.Fprintf(w, "\n%s:\n", t.Title)
	width := min(a.width, term.ProseWidth)
	for _, f := range t.Flags {
		name, usage := help(f)
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

// flagHelp returns a flag with its value, and what it means with its default.
func flagHelp(f *pflag.Flag) (name, usage string) {
	value, usage := pflag.UnquoteUsage(f)
	name = flagName(f)
	if value != "" && value != "bool" {
		name += " " + value
	}
	return name, usage + defaultOf(f)
}

func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "  -" + f.Shorthand + ", --" + f.Name
	}
	return strings.Repeat(" ", flagIndent) + "--" + f.Name
}

// defaultOf is a default that is a choice.
func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "false", "0", "0s", "[]", "neo4j://localhost:7687"}, f.DefValue) {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

func (a *app) printCommands(w io.Writer, cmd *cobra.Command) {
	children := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
	if len(children) == 0 {
		return
	}
	titles := []string{"Commands"}
	member := func(c *cobra.Command, _ string) bool { return c != nil }
	if groups := cmd.Groups(); len(groups) > 0 {
		titles = nil
		ids := make(map[string]string)
		for _, g := range groups {
			titles = append(titles, g.Title)
			ids[g.Title] = g.ID
		}
		member = func(c *cobra.Command, title string) bool { return c.GroupID == ids[title] }
	}
	for _, title := range titles {
		var lines strings.Builder
		for _, c := range children {
			if member(c, title) {
				const column = 15
				name := fmt.Sprintf("  %-12s ", c.Name())
				for _, row := range term.Wrap(c.Short, max(min(a.width, term.ProseWidth)-column, 20)) {
					fmt.Fprintf(&lines, "%-*s%s\n", column, name, row)
					name = ""
				}
			}
		}
		if lines.Len() > 0 {
			fmt.Fprintf(w, "\n%s:\n%s", title, lines.String())
		}
	}
	for _, c := range cmd.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			topic := fmt.Sprintf("`%s help %s`: %s", cmd.CommandPath(), c.Name(), c.Short)
			fmt.Fprintf(w, "\n%s\n", strings.Join(term.Wrap(topic, min(a.width, term.ProseWidth)), "\n"))
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
