// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/privacy/audit"
)

// command runs one on the graph of [graphFolder].
func command(t *testing.T, args ...string) (exit int, output string) {
	t.Helper()
	return obey(t, onGraph(args...)...)
}

// onGraph has the folder of [graphFolder] in it.
func onGraph(args ...string) []string { return append(args, "--from", "folder:"+os.Getenv("GRAPH")) }

// TestVerifyNeedsItsMarks: what this machine has seen cannot be vouched for where it
// cannot be read.
func TestVerifyNeedsItsMarks(t *testing.T) {
	graphFolder(t)
	spend := []string{"run", "--source-property", "source", "--epsilon", "1", "--delta", "0.1", "--mode", "stats"}
	succeeds(t, onGraph(spend...)...)
	succeeds(t, onGraph("budget", "verify")...)
	marks, err := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "graphcloak", "ledgers", "*", "*.json"))
	if err != nil || len(marks) == 0 {
		t.Fatalf("%d marks, %v", len(marks), err)
	}
	for _, path := range marks {
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if exit, output := command(t, "budget", "verify"); exit != exitConflict || strings.Contains(output, "are whole") {
		t.Errorf("marks that cannot be read: exit %d, %s", exit, output)
	}
}

// TestDryRunsAskTheLedger: what the ledger refuses, a first release too, no dry run
// promises; what it grants, they do.
func TestDryRunsAskTheLedger(t *testing.T) {
	graphFolder(t)
	plan := filepath.Join(t.TempDir(), "plan.json")
	succeeds(t, onGraph("plan", "--epsilon", "4", "--delta", "0.1", "-o", plan)...)
	signal := []string{"--source-property", "source", "--dry-run"}
	for _, c := range []struct {
		limit string
		want  int
	}{{"1", exitBudget}, {"4", 0}} {
		succeeds(t, onGraph("budget", "set", "--budget-scope", "property=source", "--create", "--epsilon", c.limit, "--delta",
			"0.1")...)
		for _, dry := range [][]string{{"run", "--epsilon", "4", "--delta", "0.1"}, {"release", "--plan", plan}} {
			if exit, output := command(t, append(dry, signal...)...); exit != c.want {
				t.Errorf("%s within a cap of %s: exit %d, want %d: %s", dry[0], c.limit, exit, c.want, output)
			}
		}
	}
}

// A plan that is refuted ends the command with exit code 6, and says so.
func TestRefutedAudit(t *testing.T) {
	a, stdout, _ := kit(t, "--from", "example:karate", "--tau", "1", "--epsilon", "1", "--delta", "1e-3", "--allocation", "uniform")
	_, _, p, _ := planned(t, a)
	if err := a.showAudit(p.Plan, &audit.Report{}); err != nil {
		t.Errorf("not refuted: %v", err)
	}
	err := a.showAudit(p.Plan, &audit.Report{Refuted: true, Distinguish: audit.Result{Epsilon: 2}})
	failed, ok := errors.AsType[*failure](err)
	if !ok || failed.exit != exitValidation || !strings.Contains(err.Error(), "at least ε = 2.000") ||
		!strings.Contains(stdout.String(), "REFUTED") {
		t.Errorf("refuted: %v, %s", err, stdout)
	}
}
