// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
)

// help prints what a command does, examples first, flags by group.
func (a *app) help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	fmt.Fprintf(w, "%s\n", about)
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(w, "\nUsage:\n  %s\n", use)
	printCommands(w, cmd)
	inherited := cmd.InheritedFlags()
	own := cmd.LocalFlags()
	if cmd.HasParent() {
		own.AddFlagSet(inherited)
	}
	for _, u := range config.Usages(own, a.width) {
		fmt.Fprintf(w, "\n%s:\n%s", u.Title, u.Text)
	}
	fmt.Fprintf(w, "\nDocumentation: %s\n", docsURL)
}

func printCommands(w io.Writer, cmd *cobra.Command) {
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
				fmt.Fprintf(&lines, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
		if lines.Len() > 0 {
			fmt.Fprintf(w, "\n%s:\n%s", title, lines.String())
		}
	}
	for _, c := range cmd.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(w, "\n`%s help %s`: %s\n", cmd.CommandPath(), c.Name(), c.Short)
		}
	}
}
