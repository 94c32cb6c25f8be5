// SPDX-License-Identifier: Apache-2.0

package main

// Exit codes: those of neo4j-cli and more, but for usage, which is 64 as in sysexits.h: Go
// ends a program that broke with 2, and that may be after a spend.
const (
	exitOK         = 0
	exitInternal   = 1
	exitBroken     = 2 // Go's own: out of memory, SIGQUIT, a fatal error
	exitNotFound   = 3 // label, type, property, database, run, file
	exitAuth       = 4 // credentials or rights; database read-only
	exitConflict   = 5 // property or file exists, run in progress, graph changed
	exitValidation = 6 // a value or the data is not acceptable
	// 7, which is neo4j-cli's for a limited rate, is never returned.
	exitTransient    = 8  // server away or busy, timeout: trying again may help
	exitBudget       = 9  // privacy budget would be exceeded; nothing was released
	exitNotCertified = 10 // under --strict: recovery without a certificate, or infeasible
	exitMemory       = 11 // memory guard
	exitWarnings     = 12 // done, with warnings, under --strict
	exitUnfinished   = 13 // budget is or may be spent, and the run is unfinished: resume it
	exitUsage        = 64 // unknown command, flag, or word where one of a few is wanted
	exitInterrupt    = 130
	exitTerminated   = 143
)

// exitMeaning is what a script does about an exit code.
type exitMeaning struct {
	code    int
	name    string // in the JSON of a failure
	meaning string
	again   string // is the same command safe to be run again, and does it help
	todo    string
}

// exitMeanings is the whole table: the help topic, the reference page and a test have it
// from here.
func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{exitOK, "", "done, or nothing was to be done", "`run` pays for another release, unless --release-id or --once-per says that " +
			"it is the same", "nothing"},
		{exitInternal, "internal", "a fault of the program", "safe; it will hardly help", "report it with what was printed"},
		{
			exitBroken, "", "the program broke, as by SIGQUIT or for want of memory; something may have been spent", "as 13",
			"`graphcloak runs list` shows what was paid for; run it again, and report it",
		},
		{
			exitNotFound, "not_found", "label, type, property, database, run or file is not there", "safe; no use before it is there",
			"the message names it, and often what was meant",
		},
		{
			exitAuth, "auth", "credentials or rights are missing, or the store is read-only", "safe; no use before they are fixed",
			"`graphcloak doctor` tests them",
		},
		{
			exitConflict, "conflict", "something is in the way: another run, a changed graph, a ledger that went back, a file",
			"safe; helps where another run was in the way", "the hint says which command settles it",
		},
		{
			exitValidation, "validation", "a setting, a file or the data is not acceptable", "safe; no use",
			"fix what the message names; nothing was spent",
		},
		{
			exitTransient, "transient", "server away or busy, or another process is at the same run", "safe; helps",
			"run it again later: retry with a growing pause",
		},
		{
			exitBudget, "budget_exceeded", "the budget would be exceeded; nothing was released",
			"safe; helps from `retry_at` on, where the cap slides",
			"no incident: wait, or let its owner change the cap",
		},
		{
			exitNotCertified, "not_certified", "under --strict: recovery without a certificate",
			"pays again, for the run is finished and written",
			"read the report; leave --strict out",
		},
		{exitMemory, "memory", "too large for the memory", "safe; no use", "select fewer nodes, or another machine"},
		{
			exitWarnings, "warnings", "under --strict: done, with warnings", "pays again, for the run is finished and written",
			"read the warnings",
		},
		{
			exitUnfinished, "unfinished", "budget is or may be spent, and the run is unfinished",
			"safe on the same machine: the same command goes on at no further cost", "run it again; the hint names the run",
		},
		{exitUsage, "usage", "a command, a flag or its value is wrong", "safe; no use", "fix the command line"},
		{exitInterrupt, "interrupted", "stopped by SIGINT", "as 13 where the message names a run, else safe", "run it again"},
		{exitTerminated, "terminated", "stopped by SIGTERM", "as 13 where the message names a run, else safe", "run it again"},
	}
}

// codeName is the machine-readable name of a code.
func codeName(exit int) string {
	for _, m := range exitMeanings() {
		if m.code == exit {
			return m.name
		}
	}
	return ""
}
