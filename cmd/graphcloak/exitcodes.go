// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitMeaning is what a script does about an exit code.
type exitMeaning struct {
	code    int
	meaning string
	again   string // is the same command safe to be run again, and does it help
	todo    string
}

// exitMeanings is the whole table: the help topic, the reference page and a test have it
// from here.
func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{exitOK, "done, or nothing was to be done", "`run` pays for another release, unless --release-id or --once-per says that " +
			"it is the same", "nothing"},
		{exitInternal, "a fault of the program", "safe; it will hardly help", "report it with what was printed"},
		{
			exitBroken, "the program broke, as by SIGQUIT or for want of memory; something may have been spent", "as 13",
			"`graphcloak runs list` shows what was paid for; run it again, and report it",
		},
		{
			exitNotFound, "label, type, property, database, run or file is not there", "safe; no use before it is there",
			"the message names it, and often what was meant",
		},
		{
			exitAuth, "credentials or rights are missing, or the store is read-only", "safe; no use before they are fixed",
			"`graphcloak doctor` tests them",
		},
		{
			exitConflict, "something is in the way: another run, a changed graph, a ledger that went back, a file",
			"safe; helps where another run was in the way", "the hint says which command settles it",
		},
		{
			exitValidation, "a setting, a file or the data is not acceptable", "safe; no use",
			"fix what the message names; nothing was spent",
		},
		{
			exitTransient, "server away or busy, or another process is at the same run", "safe; helps",
			"run it again later: retry with a growing pause",
		},
		{
			exitBudget, "the budget would be exceeded; nothing was released", "safe; helps from `retry_at` on, where the cap slides",
			"no incident: wait, or let its owner change the cap",
		},
		{
			exitNotCertified, "under --strict: recovery without a certificate", "pays again, for the run is finished and written",
			"read the report; leave --strict out",
		},
		{exitMemory, "too large for the memory", "safe; no use", "select fewer nodes, or another machine"},
		{exitWarnings, "under --strict: done, with warnings", "pays again, for the run is finished and written", "read the warnings"},
		{
			exitUnfinished, "budget is or may be spent, and the run is unfinished",
			"safe on the same machine: the same command goes on at no further cost", "run it again; the hint names the run",
		},
		{exitUsage, "a command, a flag or its value is wrong", "safe; no use", "fix the command line"},
		{exitInterrupt, "stopped by SIGINT", "as 13 where the message names a run, else safe", "run it again"},
		{exitTerminated, "stopped by SIGTERM", "as 13 where the message names a run, else safe", "run it again"},
	}
}

// newExitCodesTopic is a page of the help; there is nothing to run.
func newExitCodesTopic(app *app) *cobra.Command {
	topic := &cobra.Command{Use: "exit-codes", Short: "What each exit code means, and whether to run again"}
	var b strings.Builder
	b.WriteString("A command ends with one of these. An unknown code is a failure. \"Safe\": the same command line spends nothing twice.\n")
	for _, m := range exitMeanings() {
		const indent = "      "
		text := wrap(indent+m.meaning, min(app.width, proseWidth))
		text[0] = fmt.Sprintf("\n%4d  %s", m.code, strings.TrimPrefix(text[0], indent))
		for _, line := range []string{"run again: " + m.again, "to do: " + m.todo} {
			text = append(text, wrap(indent+line, min(app.width, proseWidth))...)
		}
		b.WriteString(strings.Join(text, "\n") + "\n")
	}
	topic.Long = strings.TrimSuffix(b.String(), "\n")
	return topic
}
