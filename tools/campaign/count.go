// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// result is what became of a campaign.
type result struct {
	tried, survived int
	seconds         float64
	said            string // by what did not survive
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// tally is what is known of one test.
type tally struct {
	event           // the last one that ended it; zero where the process died
	parent          bool
	counted         bool // it logged its own count, or those of a fuzz target
	tried, survived int
	output          strings.Builder
}

// record is a run of go test.
type record struct {
	tests   map[string]*tally
	outside strings.Builder // what no test said, such as the compiler
	late    bool            // a fuzz target failed by its time alone
}

var (
	attempts = regexp.MustCompile(`campaign: (\d+) tried, (\d+) survived`)
	// timedOut is all that a target says which failed because its time was over: the
	// engine of Go before 1.27 may take the end for a failure (go.dev/issue/75804). What
	// fell says more, such as which input.
	timedOut   = regexp.MustCompile(`^=== RUN +\S+\n(fuzz: .*\n)+--- FAIL: .*\n +context deadline exceeded\n(=== NAME .*\n)?$`)
	executions = regexp.MustCompile(`fuzz: elapsed: .*(?:execs|coverage): (\d+)`)
)

// read reads the events of a run that was asked for the tests of campaigns.
func read(events io.Reader, rows []campaign) (*record, error) {
	r := &record{tests: make(map[string]*tally)}
	for dec := json.NewDecoder(events); ; {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return r, err
		}
		if rows[0].fuzz && e.Output != "" && executions.MatchString(e.Output) {
			e.Test = rows[0].tests[0]
		}
		if e.Test == "" {
			r.outside.WriteString(e.Output)
			continue
		}
		if err := r.test(e.Test).add(e); err != nil {
			return r, err
		}
	}
	for _, c := range rows {
		for _, name := range c.tests { // what never ran has not survived
			if t := r.test(name); c.fuzz && t.Action == "fail" && timedOut.MatchString(t.output.String()) {
				t.Action, r.late = "pass", true
			}
		}
	}
	return r, nil
}

// test returns the tally of a test and marks those that it is a part of.
func (r *record) test(name string) *tally {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		r.test(name[:at]).parent = true
	}
	if r.tests[name] == nil {
		r.tests[name] = new(tally)
	}
	return r.tests[name]
}

func (t *tally) add(e event) (err error) {
	switch e.Action {
	case "pass", "fail", "skip":
		t.event = e
	case "output":
		t.output.WriteString(e.Output)
	}
	if m := attempts.FindStringSubmatch(e.Output); m != nil {
		t.counted = true
		t.tried, err = strconv.Atoi(m[1])
		if err == nil {
			t.survived, err = strconv.Atoi(m[2])
		}
	} else if m := executions.FindStringSubmatch(e.Output); m != nil {
		t.counted = true
		var n int
		n, err = strconv.Atoi(m[1])
		t.tried = max(t.tried, n)
		t.survived = t.tried
	}
	return err
}

// sum adds up tests and their subtests. A test that failed although its count, or
// each of its subtests, says otherwise is one attempt that did not survive.
func (r *record) sum(tests []string) (total result) {
	fallen := make(map[string]bool) // a subtest did not survive
	var names []string
	for name, t := range r.tests {
		root, _, _ := strings.Cut(name, "/")
		if !slices.Contains(tests, root) {
			continue
		}
		names = append(names, name)
		if at := strings.LastIndexByte(name, '/'); at >= 0 && t.Action != "pass" {
			fallen[name[:at]] = true
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t := r.tests[name]
		if !t.counted && !t.parent {
			t.tried, t.survived = 1, 1
		}
		if t.Action != "pass" {
			if t.survived == t.tried && !fallen[name] {
				t.tried, t.survived = max(t.tried, 1), max(t.tried, 1)-1
			}
			total.said += name + " " + t.Action + "\n" + t.output.String()
		}
		total.tried, total.survived = total.tried+t.tried, total.survived+t.survived
		if !strings.Contains(name, "/") {
			total.seconds += t.Elapsed
		}
	}
	return total
}
