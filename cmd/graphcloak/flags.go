// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/suggest"
)

// Groups of commands in the help of the root.
const (
	groupPipeline = "pipeline"
	groupManage   = "manage"
)

// newGroup makes a command that only holds others, such as `graph import`.
func newGroup(name, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     name,
		Short:   short,
		GroupID: groupManage,
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(children...)
	return cmd
}

// storeGroups are the settings of commands on a store, and modelGroups of those that make a model of its graph.
var (
	storeGroups = []config.Group{config.GroupConnection, config.GroupSource, config.GroupOutput, config.GroupExecution}
	modelGroups = slices.Concat(storeGroups, []config.Group{
		config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
	})
)

// withSettings gives a command the flags of some groups and of more. The defaults, by key,
// are the command's own.
func (a *app) withSettings(cmd *cobra.Command, defaults map[string]string, some []config.Group, more ...config.Group) *cobra.Command {
	groups := slices.Concat(some, more)
	cmd.Flags().SortFlags = false
	config.AddFlags(cmd.Flags(), defaults, groups...)
	a.defaults[cmd] = defaults
	for _, s := range config.Settings() {
		if s.Values != nil && slices.Contains(groups, s.Group) {
			completeWords(cmd, s.Flag, s.Values)
		}
	}
	return cmd
}

// completeWords lets a shell complete the words that a flag takes. The command
// `completion` itself is cobra's.
func completeWords(cmd *cobra.Command, flag string, words []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added just before
	}
}

// unknownCommand refuses words that are no subcommand, with the likely one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fail(exitUsage, "unknown command %q for %q", args[0], cmd.CommandPath())
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if near := suggest.Nearest(args[0], names); near != "" {
		return err.hint("did you mean `%s %s`?", cmd.CommandPath(), near)
	}
	return err.hint("`%s --help` lists the commands", cmd.CommandPath())
}
