// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/graphcloak/graphcloak/config"
)

// checkFiled refuses a job in the store whose author would have more than its server says:
// what it names is read or written with the server's rights, not its author's.
func checkFiled(job, server *config.Config) error {
	if len(server.Server.FiledJobs) == 0 {
		return fail(exitValidation, "jobs in the store are not run: the server's --filed-jobs names no labels and properties that "+
			"they may name")
	}
	for _, name := range job.Named() {
		if !slices.Contains(server.Server.FiledJobs, name) {
			return fail(exitValidation, "%q is not among what the server's --filed-jobs lets a job in the store name", visible(name))
		}
	}
	return nil
}
