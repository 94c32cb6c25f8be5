// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/builtin"
)

// completeValues lets a shell complete the words that a flag takes. The command
// `completion` itself is cobra's.
func completeValues(cmd *cobra.Command, groups []config.Group) {
	for _, s := range config.Settings() {
		var complete cobra.CompletionFunc
		switch {
		case !slices.Contains(groups, s.Group):
			continue
		case s.Key == "from":
			complete = completeFrom
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
