// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// campaign is a row of the table: tests of one package.
type campaign struct {
	name   string
	dir    string
	tests  []string
	long   string // flag of the package's tests that makes them try everything
	fuzz   bool
	server bool // the fuzz target asks Neo4j
}

// campaigns are the attacks beside the fuzz targets; those of one package stand
// together.
var campaigns = []campaign{
	{
		name: "connection cut or silent at each commit of a run", dir: "integration", long: "-campaign",
		tests: []string{"TestLostCommits", "TestServerGone", "TestLostSpend", "TestWaitForLock"},
	},
	{name: "connection cut at each commit of a claim", dir: "integration", tests: []string{"TestLostClaims"}},
	{name: "client killed at each boundary of a run", dir: "integration", tests: []string{"TestCrash", "TestKilledInWrite"}},
	{name: "writer suspended, and its run taken over or undone", dir: "integration", tests: []string{"TestSleptWriter", "TestWriterWaits"}},
	{name: "server killed while 16 writers spend", dir: "integration", long: "-campaign", tests: []string{"TestLedgerSurvivesKills"}},
	{name: "runs and schedulers at once", dir: "integration", tests: []string{"TestRacingRuns", "TestSchedulers"}},
	{name: "three servers of scheduled jobs, killed", dir: "integration", long: "-campaign", tests: []string{"TestServe"}},
	{
		name: "three servers of scheduled jobs, the holder of a tick suspended", dir: "integration", long: "-campaign",
		tests: []string{"TestSuspendedServers"},
	},
	{name: "names before the server's parser", dir: "integration", long: "-campaign", tests: []string{"TestQuoteOnServer"}},
	{
		name: "names and records planted in the database", dir: "integration",
		tests: []string{
			"TestImportOfHostileNames", "TestPlantedType", "TestPlantedRun", "TestPlantedTicks", "TestUnsafeNames",
			"TestQueryOfStrangers", "TestStranger",
		},
	},
	{name: "queries that do more than read", dir: "integration", tests: []string{"TestHostileQueries"}},
	{name: "names before the server's parser, fuzzed", dir: "integration", tests: []string{"FuzzQuote"}, fuzz: true, server: true},
	{name: "plan and release files altered by field", dir: "cmd/graphcloak", long: "-tamper-all", tests: []string{"TestTamperedFiles"}},
	{name: "run on a folder stopped or killed", dir: "cmd/graphcloak", tests: []string{"TestInterrupted", "TestResumeSettles"}},
	{name: "sensor killed", dir: "privacy/sensor", tests: []string{"TestCloakSurvivesKill"}},
	{
		name: "ledger altered or set back", dir: "privacy",
		tests: []string{
			"TestReplayFindsTampering", "TestReplayFindsRewriting", "TestWatchRefusesALedgerThatWentBack",
			"TestWatchFindsClones",
		},
	},
	{name: "ledger of a folder damaged", dir: "internal/database", tests: []string{"TestDamage"}},
}

// args are those of go for campaigns on one package.
func args(rows []campaign, long bool) []string {
	var tests, flags []string
	for _, c := range rows {
		tests = append(tests, c.tests...)
		if long && !slices.Contains(flags, c.long) && c.long != "" {
			flags = append(flags, c.long)
		}
	}
	first, pattern := rows[0], "^("+strings.Join(tests, "|")+")$"
	args := []string{"test", "-json", "-count=1", "-timeout=60m"}
	if !first.fuzz {
		return slices.Concat(args, []string{"-run", pattern, "./" + first.dir}, flags)
	}
	duration := "3s"
	switch {
	case long:
		duration = "60s"
	case first.server:
		duration = "20s" // the server starts within
	}
	// To shorten one input that reaches new code may take Go a minute.
	args = append(args, "-run", "^$", "-fuzz", pattern, "-fuzztime", duration, "-fuzzminimizetime=10x")
	if first.server { // one process, and so one server
		args = append(args, "-parallel=1")
	}
	return append(args, "./"+first.dir)
}

var target = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)

// fuzzers finds the fuzz targets below a folder, but for those that campaigns name.
func fuzzers(top string) (found []campaign, err error) {
	err = fs.WalkDir(os.DirFS(top), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path.Join(top, name))
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		for _, m := range target.FindAllSubmatch(text, -1) {
			f := campaign{name: "fuzz " + path.Join(dir, string(m[1])), dir: dir, tests: []string{string(m[1])}, fuzz: true}
			if !slices.ContainsFunc(campaigns, func(c campaign) bool { return c.dir == dir && slices.Contains(c.tests, f.tests[0]) }) {
				found = append(found, f)
			}
		}
		return nil
	})
	return found, err
}
