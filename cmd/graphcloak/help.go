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
			a.printTopic(w, config.Topic{Title: "Common flags", Flags: few}, briefFlagHelp)
		}
		fmt.Fprintf(w, "\nAll flags, by topic: %s --help-all\n", cmd.CommandPath())
	}
	fmt.Fprintf(w, "\nDocumentation: %s\n", docsURL)
}

// briefs are the flags that most calls need.
var briefs = []string{
	"from", "uri", "username", "node-labels", "relationship-types", "node-key", "source-property", "measurement-property", "tau",
	"epsilon", "delta", "community-property", "mode", "dry-run", "report", "format", "output", "verbose",
}

// ofJobs are the common flags of commands about jobs, whose settings are their own.
var ofJobs = []string{"from", "uri", "username", "format", "output", "verbose"}

// common returns the flags that a short help shows: the command's own and the common ones.
func common(cmd *cobra.Command, topics []config.Topic) []*pflag.Flag {
	var few []*pflag.Flag
	if !cmd.HasParent() || cmd.HasSubCommands() && cmd.Flags().Lookup("format") == nil {
		return nil
	}
	brief := briefs
	if cmd.Name() == "serve" || cmd.Parent().Name() == "job" {
		brief = ofJobs
	}
	for _, t := range topics {
		for _, f := range t.Flags {
			own := t.Title == "Flags" && cmd.InheritedFlags().Lookup(f.Name) == nil && f.Name != "help"
			if own || f.Annotations != nil && slices.Contains(brief, f.Name) {
				few = append(few, f)
			}
		}
	}
	return few
}

// briefFlagHelp is [flagHelp] up to the first mark of its sentence.
func briefFlagHelp(f *pflag.Flag) (name, usage string) {
	name, usage = flagHelp(f)
	usage = strings.TrimSuffix(usage, defaultOf(f))
	for _, mark := range []string{"; ", ": ", ", "} {
		usage, _, _ = strings.Cut(usage, mark)
	}
	return name, usage + defaultOf(f)
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

// defaultOf tells a default that is a choice.
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
