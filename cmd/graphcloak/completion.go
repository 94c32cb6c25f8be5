// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
)

// completeValues lets a shell complete the words that a flag takes. The command
// `completion` itself is cobra's.
func (a *app) completeValues(cmd *cobra.Command, groups []config.Group) {
	for _, s := range config.Settings() {
		if s.Values == nil || !slices.Contains(groups, s.Group) {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(s.Flag, cobra.FixedCompletions(s.Values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag was added from the same table
		}
	}
}
