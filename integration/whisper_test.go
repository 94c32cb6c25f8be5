// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// club is a karate club of which members 0 to 9 have heard a whisper, and member 33 is not asked. It returns the label, which is the
// relationships' type too, and the boolean property.
func club(t *testing.T) (label, property string) {
	t.Helper()
	label, property = Load(t, Shipped("karate"), ownType), "heard"+token()
	Query(t, "MATCH (n:`"+label+"`) WHERE n.id < 33 SET n.`"+property+"` = n.id < 10", nil)
	return label, property
}

// counts are those of a run's answers.
func counts(t *testing.T, rep map[string]any) (asked, anew, spent float64) {
	t.Helper()
	w, ok := rep["whisper"].(map[string]any)
	if !ok {
		t.Fatalf("the report has no whisper: %v", rep)
	}
	return w["asked"].(float64), w["new"].(float64), rep["epsilonSpent"].(float64)
}

// releases are the payments of a property's account.
func releases(t *testing.T, property string) int64 {
	t.Helper()
	account := must.Get(privacy.VerifyLedger(t.Context(), connect(t).Ledger(), "property="+property))(t)
	return account.Releases
}

// TestWhisper: of a boolean property on (:Person)-[:KNOWS]-(:Person), each person is asked once a round: the next run spends nothing,
// who is new is asked alone, another round asks everybody until the cap of each person ends it, and a value that is neither yes nor no
// is refused by its count.
func TestWhisper(t *testing.T) {
	setUp(t)
	c := newCLI(t)
	label, property := club(t)
	args := func(more ...string) []string {
		return append([]string{
			"run", "--node-labels", label, "--relationship-types", label, "--node-key", "id", "--answer-property", property,
			"--epsilon", "2",
		}, more...)
	}
	run := func(what string, asked, anew, spent float64, more ...string) {
		t.Helper()
		if a, n, s := counts(t, c.ok(t, args(more...)...)); a != asked || n != anew || s != spent {
			t.Errorf("%s: %v answer, %v of them now, ε = %v; want %v, %v, %v", what, a, n, s, asked, anew, spent)
		}
	}
	run("first", 33, 33, 2)
	said := func() []any {
		return Query(t, "MATCH (n:`"+label+"`) WITH n ORDER BY n.id RETURN collect(n.gcAnswer), count(n.gcRumour)", nil)[0]
	}
	first := said()
	if first[1] != int64(33) {
		t.Errorf("%v people have a kept answer, want 33", first[1])
	}
	Query(t, "MATCH (n:`"+label+"`) WHERE n.id < 33 SET n.`"+property+"` = NOT n.`"+property+"`", nil)
	run("second", 33, 0, 0)
	if second := said(); len(first[0].([]any)) != len(second[0].([]any)) || releases(t, property) != 1 {
		t.Errorf("a second run in a round pays or asks again")
	} else {
		for k, x := range first[0].([]any) {
			if second[0].([]any)[k] != x {
				t.Errorf("the kept answer of %d has changed with its truth", k)
			}
		}
	}
	Query(t, "MATCH (n:`"+label+"` {id: 33}) SET n.`"+property+"` = true", nil)
	run("somebody new", 34, 1, 2)

	Query(t, "MATCH (n:`"+label+"` {id: 7}) SET n.`"+property+"` = 0.5", nil)
	r := c.run(t, args("--round", "2")...)
	if r.exit == 0 || !strings.Contains(r.stderr, "is neither true nor false, 1 nor 0") || !strings.Contains(r.stderr, "1 ") ||
		strings.Contains(r.stderr, `"7"`) || releases(t, property) != 2 {
		t.Errorf("a half truth: exit %d: %s", r.exit, r.stderr)
	}
	Query(t, "MATCH (n:`"+label+"` {id: 7}) SET n.`"+property+"` = true", nil)
	run("round 2", 34, 34, 2, "--round", "2")
	c.ok(t, "budget", "set", "--budget-scope", "property="+property, "--epsilon", "4", "--delta", "1e-6")
	c.refused(t, 9, "", args("--round", "3")...)
	if n := releases(t, property); n != 3 {
		t.Errorf("%d releases, want 3", n)
	}
}

// TestWhisperJob: a nightly whisper of `serve` asks once and spends nothing at its next times, and asks all of a new round but
// somebody who was deleted with their kept answer.
func TestWhisperJob(t *testing.T) {
	setUp(t)
	label, property := club(t)
	name := "whisper-" + token()
	forgetJob(t, name)
	job := func(schedule string, round int) map[string]any {
		j := jobOn(name, schedule, label, "", "answerProperty", property, "epsilon", 2, "round", round)
		delete(j, "sourceProperty")
		return j
	}
	newCLI(t).ok(t, "budget", "set", "--budget-scope", "property="+property, "--epsilon", "4", "--delta", "1e-6", "--create")
	f := newFleet(t, 1, job("* * * * * *", 1))
	finished := func() (count int, last jobs.Claim) {
		ticks := must.Get(connect(t).Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: name}))(t)
		for _, c := range ticks {
			if c.Outcome.Status == jobs.Finished {
				count++
			}
		}
		if len(ticks) > 0 {
			last = ticks[0]
		}
		return count, last
	}
	for range 600 {
		if n, _ := finished(); n >= 2 {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	f.stop()
	if n, last := finished(); n < 2 || releases(t, property) != 1 {
		t.Fatalf("%d times have finished, the last as %+v, with %d releases; want 2 and more with 1", n, last, releases(t, property))
	}

	c := newCLI(t)
	c.env = append(c.env, "GRAPHCLOAK_CONFIG="+f.settings)
	Query(t, "MATCH (n:`"+label+"` {id: 12}) DETACH DELETE n", nil)
	f.set(job("0 2 * * *", 2))
	c.ok(t, "job", "run", name)
	rows := Query(t, "MATCH (n:`"+label+"`) WHERE n.gcAnswerRound = 2 RETURN count(n)", nil)
	if n := releases(t, property); rows[0][0] != int64(32) || n != 2 {
		t.Errorf("a new round, without one who has left: %v people have an answer after %d releases, want 32 after 2", rows[0][0], n)
	}
}
