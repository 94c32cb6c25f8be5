// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man [DIR]",
		Short:   "Manual page on standard output, or one page a command into a folder",
		Example: "  graphcloak man | man -l -\n  graphcloak man /usr/local/share/man/man1",
		GroupID: groupManage,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true // pages that change only with the program
			header := &doc.GenManHeader{Title: "GRAPHCLOAK", Section: "1", Source: "graphcloak " + readBuild().Version}
			if len(args) == 0 {
				return doc.GenMan(root, header, cmd.OutOrStdout())
			}
			header.Title = ""
			return doc.GenManTree(root, header, args[0])
		},
	}
}
