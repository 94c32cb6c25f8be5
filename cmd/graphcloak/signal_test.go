// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// Values of --signal become the same plan and the same bits as those of the store: of sources, of readings, and of readings at several
// times. What is kept of a run does not hold them.
func TestSignalIsThatOfTheStore(t *testing.T) {
	source := []string{"--source-property", "x", "--tau", "2"}
	for name, c := range map[string]struct {
		nodes, signal string
		args          []string
	}{
		"sources":  {"id,x\na,\nb,0.75\nc,0\nd,true\n", "id,x\nd,true\nc,0\nb,0.75\n,3\n", source},
		"an empty": {"id,x\na,\nb,0.75\nc,0\nd,1\n", "id,x\nd,1\nc,0\n\"b\",0.75\na,\n,4\n", source},
		"readings": {"id,x\na,1\nb,-2.5\nc,1e-3\nd,4\n", "id,x\nd,4\nb,-2.5\na,1\nc,1e-3\n,4\n", []string{"--measurement-property", "x"}},
		"sources of an operator": {
			"id,x\na,\nb,0.75\nc,0\nd,1\n", "id,x\nd,1\nc,0\nb,0.75\n,3\n",
			[]string{"--source-property", "x", "--operator", "operator.csv"},
		},
		"times": {
			"id,x\na,1;2\nb,\nc,3;4\nd,\n", "id,x\nc,3;4\na,1;2\n,2\n",
			[]string{"--measurement-property", "x", "--operator", "operator.csv"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := map[string]string{}
			for _, given := range []bool{false, true} {
				a, _, _ := kit(t, append([]string{"--from", "folder:g", "--allocation", "uniform"}, c.args...)...)
				if given {
					a.signal, a.stdin = "-", strings.NewReader(c.signal)
					c.nodes = "id,other\na,\nb,\nc,\nd,\n"
				}
				writeGraph(t, "g", c.nodes, "source,target\na,b\nb,c\nc,d\nd,a\n")
				must.Do(t, os.WriteFile("operator.csv", []byte("sensor,node,response,time\na,a,1,1\na,b,1,2\nc,c,1,1\nc,d,1,2\n"), 0o600))
				s := must.Get(a.openStore(t.Context()))(t)
				job := must.Get(a.job())(t)
				m := must.Get(a.load(t.Context(), s, job))(t)
				opts := job.Plan
				opts.Randomness = privacy.EscrowRandomness
				p := must.Get(m.Plan(t.Context(), opts))(t)
				job.RunID, job.Noise = "one", must.Get(privacy.NewEscrow([]byte(strings.Repeat("k", privacy.KeySize)), "test", 1))(t)
				job.Signal.Values = must.Get(a.readSignal(m, job.Signal))(t)
				if (job.Signal.Values != nil) != given {
					t.Fatalf("--signal was read: %v, want %v", !given, given)
				}
				r := must.Get(m.Release(t.Context(), p, job))(t)
				made[fmt.Sprint(given)] = string(must.Get(json.Marshal(r))(t))
			}
			if made["true"] != made["false"] {
				t.Errorf("--signal releases\n%s\nthe store\n%s", made["true"], made["false"])
			}
		})
	}
}

// badSignals are refused with what is said of them: no id and no value of a row.
var badSignals = []struct{ name, text, said string }{
	{"another property", "id,y\nb,0.5519\n,1\n", `the first line is not "id,x"`},
	{"no header", secretNode + ",0.5519\n,1\n", `the first line is not "id,x"`},
	{"more columns", "id,x,y\nb,0.5519,1\n,1,\n", `the first line is not "id,x"`},
	{"nothing", "", `the first line is not "id,x"`},
	{"no end", "id,x\nb,0.5519\n" + secretNode + ",1\n", "it ends after 2 rows"},
	{"an end in a row", "id,x\nb,0.5519\n" + secretNode, "wrong number of fields"},
	{"an end in a field", "id,x\nb,0.5519\n\"" + secretNode, "parse error on line 3"},
	{"a row is missing", "id,x\nb,0.5519\n,2\n", "line 3 counts other than the 1 row before it"},
	{"a row too many", "id,x\nb,0.5519\nc,0.5519\n,1\n", "line 4 counts other than the 2 rows before it"},
	{"an id is missing", "id,x\n,0.5519\n,1\n", "line 2 counts other than the 0 rows before it"},
	{"more behind the end", "id,x\nb,0.5519\n,1\nc,0.5519\n", "there is more behind line 3"},
	{"unknown ids", "id,x\nb,0\nx5519,1\ny5519,0.5519\n,3\n", "2 rows with an id that no selected node has, the first on line 3"},
	{"an id twice", "id,x\nb,0.5519\nc,0.5519\nb,0.5519\n,3\n", "1 row with an id that was there before, the first on line 4"},
	{"no number", "id,x\nb,v5519\n" + secretNode + ",NaN\n,2\n", `"x" is not a finite number on 2 nodes`},
	{"a list", "id,x\nb,0.5519;5519\n,1\n", `"x" is not a finite number on 1 node`},
	{"no source", "id,x\nb,5519\n,1\n", `"x" is outside [0, 1] on 1 node`},
	{"no source at all", "id,x\nb,\n,1\n", `no selected node has "x"`},
	{"an open quotation mark", "id,x\n" + secretNode + ",\"5519\n,1\n", "parse error on line"},
}

// A bad --signal spends nothing, leaves nothing, and no message, log or file repeats an id or a value of it.
func TestRefusedSignalFilesAreNotTold(t *testing.T) {
	for _, c := range badSignals {
		for _, command := range []string{"run", "release"} {
			t.Run(command+" "+c.name, func(t *testing.T) {
				secretKit(t)
				plan := t.TempDir() + "/plan.json"
				if code, text := told(t, "", "plan", "--from=folder:g", "--allocation=uniform", "--trials=0", "-o", plan); code != 0 {
					t.Fatal(text)
				}
				args := append([]string{command, "--from=folder:g", "--signal=-", "--source-property=x"}, talkative("json")...)
				if command == "release" {
					args = append(args, "--plan", plan)
				}
				untold(t, exitValidation, c.text, args...)
				_, text := told(t, c.text, args...)
				if !strings.Contains(text, strings.ReplaceAll(c.said, `"`, `\"`)) {
					t.Errorf("want %s: %s", c.said, text)
				}
				left, err := stagedRuns()
				if _, opened := os.Stat("g/.graphcloak"); err != nil || len(left) > 0 || !os.IsNotExist(opened) {
					t.Errorf("what is left: %q, %v, %v", left, err, opened)
				}
			})
		}
	}
}

// A run that died after its payment is gone on with by the same command with the same --signal, and by no other.
func TestSignalIsGivenAgain(t *testing.T) {
	graphFolder(t)
	const text = "id,source\na,1\n,1\n"
	given := func(a *app, signal string) {
		if a.signal = ""; signal != "" {
			a.signal, a.stdin = "-", strings.NewReader(signal)
		}
	}
	begin := func() string {
		a, s, job := prepared(t)
		m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
		given(a, text)
		job.Signal.Values = must.Get(a.readSignal(m, job.Signal))(t)
		identity := must.Get(jobIdentity(job, a.config, []any{m.Graph.Digest(), m.Settings.Operators}))(t)
		must.Do(t, a.journal(t.Context(), s.Ledger(), &job, outputSize(m.Graph), identity))
		unstaged(&job)
		if _, err := m.Run(t.Context(), job); !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		must.Do(t, a.drop())
		return job.RunID
	}
	resume := func(id, signal string) error {
		a, s, _ := prepared(t)
		defer a.drop()
		given(a, signal)
		return a.resume(t.Context(), s, id)
	}
	first := begin()
	if err := resume(first, ""); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--signal") {
		t.Errorf("without --signal: %v", err)
	}
	if err := resume(first, text[:len(text)-3]); err == nil || !strings.Contains(err.Error(), "it ends after 1 row") {
		t.Errorf("cut short: %v", err)
	}
	a, s, _ := prepared(t)
	given(a, text)
	if err := a.run(t.Context(), s); err != nil {
		t.Errorf("the same command: %v", err)
	}
	if got := strings.Join(ledgerKinds(t), " "); got != "spent written" {
		t.Errorf("the ledger holds %q", got)
	}
	if err := resume(begin(), text); err != nil {
		t.Errorf("--resume: %v", err)
	}
	if got := strings.Join(ledgerKinds(t), " "); got != "spent written spent written" {
		t.Errorf("the ledger holds %q", got)
	}
	id := interrupted(t, unstaged)
	if err := resume(id, text); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "the store") {
		t.Errorf("--signal in place of the store's: %v", err)
	}
	must.Do(t, resume(id, ""))
}
