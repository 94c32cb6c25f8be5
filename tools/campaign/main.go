// SPDX-License-Identifier: Apache-2.0

// Command campaign attacks the program with the tests that hold it, in larger numbers,
// and prints what was tried and what survived. Run it from the module's root:
//
//	go run ./tools/campaign [-long] [-only REGEXP]
//
// The attacks are those of the tests: it runs go test and counts. A test that counts
// its attempts logs "campaign: 1605 tried, 1605 survived"; elsewhere each test without
// subtests is one attempt, and of a fuzz target each execution. Tests on Neo4j bring up
// their server as always. It fails where anything did not survive, was skipped, or is
// not there.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	long := flag.Bool("long", false, "every fault at every commit, every alteration of every field, ten kills of the server, a minute "+
		"for each fuzz target")
	only := flag.String("only", "", "run the campaigns whose name matches, such as fuzz")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *long, *only); err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, long bool, only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	targets, err := fuzzers(".")
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(slices.Concat(campaigns, targets), func(c campaign) bool { return !match.MatchString(c.name) })
	if len(all) == 0 {
		return fmt.Errorf("no campaign is named like %q", only)
	}
	begin := time.Now()
	fmt.Fprintf(out, "%s, %s, %d processors\n\n| campaign | tried | survived | seconds |\n|---|---|---|---|\n",
		begin.UTC().Format(time.DateOnly), runtime.GOARCH, runtime.NumCPU())
	var total result
	for len(all) > 0 {
		n := together(all)
		results, err := attack(ctx, all[:n], long)
		if err != nil {
			return err
		}
		for k, r := range results {
			fmt.Fprintf(out, "| %s | %d | %d | %.0f |\n", all[k].name, r.tried, r.survived, r.seconds)
			total.tried, total.survived = total.tried+r.tried, total.survived+r.survived
		}
		all = all[n:]
	}
	fmt.Fprintf(out, "| all | %d | %d | %.0f |\n", total.tried, total.survived, time.Since(begin).Seconds())
	if fallen := total.tried - total.survived; fallen > 0 {
		return fmt.Errorf("%d of %d did not survive", fallen, total.tried)
	}
	return nil
}

// together returns how many of the first campaigns are run by one process, and so
// before one server: those of one package, but a fuzz target alone.
func together(all []campaign) int {
	n := 1
	for !all[0].fuzz && n < len(all) && !all[n].fuzz && all[n].dir == all[0].dir {
		n++
	}
	return n
}

// attack runs the tests of campaigns on one package and counts.
func attack(ctx context.Context, rows []campaign, long bool) ([]result, error) {
	args := args(rows, long)
	fmt.Fprintln(os.Stderr, "go", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go ends its tests
	cmd.WaitDelay = time.Minute
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	seen, err := read(stdout, rows)
	ended := cmd.Wait()
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	var results []result
	fallen := false
	for _, c := range rows {
		r := seen.sum(c.tests)
		if r.survived < r.tried {
			fallen = true
			fmt.Fprintf(os.Stderr, "%s: %d of %d did not survive\n%s\n", c.name, r.tried-r.survived, r.tried, r.said)
		}
		results = append(results, r)
	}
	if ended != nil && !fallen && !seen.late { // it died outside a test
		return nil, errors.Join(ended, errors.New(seen.outside.String()))
	}
	return results, nil
}
