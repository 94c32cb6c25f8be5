// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// startedAgain are the exit codes after which the same command goes on with what may be paid for: 2 is Go's own, of a
// program that broke, and the last three are of signals.
var startedAgain = []int{2, 8, 13, 130, 137, 143}

// documentedCodes are the failures of the reference page.
func documentedCodes(t *testing.T) (codes []int) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "exit-codes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			if code, err := strconv.Atoi(strings.TrimSpace(cells[1])); err == nil && code != 0 {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

// TestStartedAgain: the unit and the CronJob start again after a code that may leave a run paid for and unfinished, and
// after no other; the scheduler stays down only where a person has to fix something.
func TestStartedAgain(t *testing.T) {
	prevented := func(unit string) (codes []int) {
		text, err := os.ReadFile(filepath.Join("..", "systemd", unit))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if list, ok := strings.CutPrefix(strings.TrimSpace(line), "RestartPreventExitStatus="); ok {
				for _, word := range strings.Fields(list) {
					code, err := strconv.Atoi(word)
					if err != nil {
						t.Fatal(err)
					}
					codes = append(codes, code)
				}
			}
		}
		return codes
	}
	once := append(prevented("graphcloak@.service"), 9) // which the unit counts as success
	for _, code := range documentedCodes(t) {
		if again := slices.Contains(startedAgain, code); again == slices.Contains(once, code) {
			t.Errorf("exit %d: the unit starts again: %v, want %v", code, !again, again)
		}
	}
	if got, want := prevented("graphcloak-serve.service"), []int{3, 4, 6, 64}; !slices.Equal(got, want) {
		t.Errorf("serve stays down after %v, want %v", got, want)
	}
	text, err := os.ReadFile(filepath.Join("..", "kubernetes", "cronjob.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.CronJob
	if err := yaml.Unmarshal(text, &job); err != nil {
		t.Fatal(err)
	}
	var values []int
	for _, rule := range job.Spec.JobTemplate.Spec.PodFailurePolicy.Rules {
		if on := rule.OnExitCodes; on != nil {
			for _, v := range on.Values {
				values = append(values, int(v))
			}
		}
	}
	if !slices.Equal(values, startedAgain) {
		t.Errorf("the CronJob starts again after %v, want %v", values, startedAgain)
	}
}
