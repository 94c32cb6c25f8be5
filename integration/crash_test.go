// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

const (
	childTask = "GRAPHCLOAK_TEST_TASK"
	mark      = "at: " // starts a line that a child reports
)

// boundaries of the steps of a run, in order. "in" a ledger's update is with the
// lock held and the entry chosen, before the commit; "in write N" is with N of the
// 34 nodes written and the run unfinished.
var boundaries = []string{
	"before check", "after check",
	"before begin", "after begin",
	"before reserve", "after reserve",
	"before account", "in account", "after account",
	"before spend", "in spend", "after spend",
	"before stage", "before sync", "after sync", "after stage",
	"before write", "in write 0", "in write 10", "in write 20", "in write 30", "in write 34", "after write",
	"before settle", "in settle", "after settle",
}

// doomed is the task of a process that kills itself.
type doomed struct {
	At       int // number of the boundary, from 1
	Label    string
	Property string // of its own, with the sources
	RunID    string
	Staged   string // file of the staged release; that of the attempt ends in .attempt
}

// TestCrash kills a run with SIGKILL at each boundary of its steps. What was spent
// stays spent, once; what was staged is completed with the same bits at no further
// cost; an attempt that was paid for is redeemed; what was not paid for is never
// written.
func TestCrash(t *testing.T) {
	t.Parallel()
	label := Load(t, Shipped("karate"), ownType)
	source(t, label, 16)
	c := crash{label: label, s: connect(t)}
	job := (doomed{Label: label}).job()
	c.m = must.Get(graphcloak.Load(t.Context(), c.s, job.Settings, graphcloak.LoadOptions{}))(t)
	c.p = must.Get(c.m.Plan(t.Context(), job.Plan))(t)
	dir := t.TempDir()
	for k := 1; !t.Failed(); k++ {
		d := doomed{At: k, Label: label, Property: secret(t, label), RunID: "crash-" + token(), Staged: filepath.Join(dir, fmt.Sprint(k))}
		must.Get(privacy.SetCap(t.Context(), c.s.Ledger(), d.scope(), job.Plan.Budget))(t)
		passed, untouched := d.run(t)
		name := "untouched"
		if !untouched {
			name = passed[len(passed)-1]
		}
		t.Run(name, func(t *testing.T) { c.inspect(t, d, passed) })
		if untouched {
			if !slices.Equal(passed, boundaries) {
				t.Errorf("a run passes %q, want %q", passed, boundaries)
			}
			return
		}
	}
}

// crash is the survivor's view of the store.
type crash struct {
	label string
	s     *neo4j.Store
	m     *graphcloak.Model
	p     *graphcloak.Plan
}

// inspect finds what a process left that passed these boundaries and then died,
// and goes on from there.
func (c crash) inspect(t *testing.T, d doomed, passed []string) {
	defer c.s.Undo(context.Background(), d.RunID) // whatever is left would be in the way of the next run
	attempted := slices.Contains(passed, "after begin")
	spent, staged, written := slices.Contains(passed, "after spend"), slices.Contains(passed, "after stage"),
		slices.Contains(passed, "after write")
	want := []privacy.Kind{privacy.KindCap}
	if spent {
		want = append(want, privacy.KindSpent)
	}
	if slices.Contains(passed, "after settle") {
		want = append(want, privacy.KindWritten)
	}
	c.holds(t, d, want...)
	before := c.carried(t, d)
	status := jobs.Status("")
	switch {
	case written:
		status = jobs.Finished
	case slices.Contains(passed, "in write 0"):
		status = jobs.Running
	case slices.Contains(passed, "after reserve"):
		status = jobs.Reserved
	}
	if run, err := c.s.Run(t.Context(), d.RunID); run.WriteStatus() != status || status == "" && !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("the run is %q, %v, want %q", run.WriteStatus(), err, status)
	}
	if (status == "" || status == jobs.Reserved) && len(before) > 0 || written && len(before) != c.m.Graph.Order() {
		t.Errorf("%d nodes carry values of a run with status %q", len(before), status)
	}
	if status == jobs.Running { // it is in the way of another
		other := newTable(t, c.m.Graph, "other-"+token())
		err := c.s.Check(t.Context(), c.m.Graph, other, true)
		way, ok := errors.AsType[*connector.UnfinishedError](err)
		if !ok || way.RunID != d.RunID || !errors.Is(err, connector.ErrConflict) {
			t.Errorf("another run: %v, want ErrConflict that names the run in the way", err)
		}
		if err := c.s.Write(t.Context(), c.m.Graph, other, true); !errors.Is(err, connector.ErrConflict) {
			t.Errorf("another run writes: %v, want ErrConflict", err)
		}
	}
	data, err := os.ReadFile(d.Staged)
	if staged != (err == nil) || !staged && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the staged release: %v, after %q", err, passed)
	}
	if slices.Contains(passed, "after reserve") && !attempted || staged && !spent || len(before) > 0 && !staged {
		t.Errorf("spend, stage, write is the order; the run passed %q", passed)
	}
	if !spent && attempted { // the attempt says so, and takes the reservation back
		if _, err := c.redeem(t, d); !errors.Is(err, run.ErrUnpaid) {
			t.Errorf("redeeming what was not paid for: %v, want ErrUnpaid", err)
		}
		if run, err := c.s.Run(t.Context(), d.RunID); status != "" && run.WriteStatus() != jobs.Canceled {
			t.Errorf("the reservation is %q, %v, want CANCELED", run.WriteStatus(), err)
		}
	}
	if !spent { // nothing happened: the same run id is free
		if _, err := c.m.Run(t.Context(), d.job()); err != nil {
			t.Errorf("the run from its start: %v", err)
		}
		c.holds(t, d, privacy.KindCap, privacy.KindSpent, privacy.KindWritten)
		c.undo(t, d)
		return
	}
	c.refused(t, d)
	c.holds(t, d, want...)
	if after := c.carried(t, d); !reflect.DeepEqual(after, before) {
		t.Errorf("a refused run changed the nodes from %v to %v", before, after)
	}
	if !staged { // its noise was never drawn
		r, err := c.redeem(t, d)
		if err != nil {
			t.Fatalf("redeem: %v", err)
		}
		data = must.Get(json.Marshal(r))(t)
		c.holds(t, d, want...)
	}
	twin := c.twin(t, d, slices.Contains(passed, "after settle"))
	c.complete(t, d, data, before)
	if twin != nil {
		c.doubled(t, d, twin)
	}
	c.twin(t, d, true)
	c.undo(t, d)
}

// redeem goes on with the attempt that the process left.
func (c crash) redeem(t *testing.T, d doomed) (*graphcloak.Release, error) {
	t.Helper()
	data := must.Get(os.ReadFile(d.Staged + ".attempt"))(t)
	var k run.Kept
	must.Do(t, json.Unmarshal(data, &k))
	err := c.m.Redeem(t.Context(), &k, d.job())
	return k.Release, err
}

// twin draws a release that is paid for once more, as a copy of the attempt could; not
// where it was written, which the ledger knows.
func (c crash) twin(t *testing.T, d doomed, written bool) *graphcloak.Release {
	t.Helper()
	r, err := c.redeem(t, d)
	if written && (!errors.Is(err, privacy.ErrReplay) || r != nil) || !written && err != nil {
		t.Errorf("redeem once more: %v, written is %t", err, written)
	}
	return r
}

// doubled completes a finished release with other values: neither the store nor the
// ledger takes them.
func (c crash) doubled(t *testing.T, d doomed, r *graphcloak.Release) {
	t.Helper()
	before := c.carried(t, d)
	if _, err := c.m.Complete(t.Context(), r, d.job()); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("other values of a finished run: %v, want ErrConflict", err)
	}
	job := d.job()
	job.Write.Enabled = false
	if rep, err := c.m.Complete(t.Context(), r, job); !errors.Is(err, privacy.ErrReplay) || rep != nil {
		t.Errorf("a report of other values: %v, %v, want ErrReplay", rep, err)
	}
	if after := c.carried(t, d); !reflect.DeepEqual(after, before) {
		t.Errorf("refused values changed the nodes from %v to %v", before, after)
	}
}

// holds checks the chain, its entries and what they add up to.
func (c crash) holds(t *testing.T, d doomed, want ...privacy.Kind) {
	t.Helper()
	account := must.Get(privacy.VerifyLedger(t.Context(), c.s.Ledger(), d.scope()))(t)
	entries := must.Get(c.s.Ledger().Entries(t.Context(), d.scope()))(t)
	var cost privacy.Cost
	if slices.Contains(want, privacy.KindSpent) {
		cost = c.p.Cost()
	}
	var kinds []privacy.Kind
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
		if e.Kind != privacy.KindCap && e.ReleaseID != d.RunID {
			t.Errorf("entry %d is of release %q, want %q", e.Seq, e.ReleaseID, d.RunID)
		}
	}
	if !slices.Equal(kinds, want) || account.Spent != cost {
		t.Errorf("the ledger holds %q worth %d, want %q worth %d", kinds, account.Spent, want, cost)
	}
}

// carried returns the values that nodes carry by node. Each node that carries one
// carries all of them, and the id of the run.
func (c crash) carried(t *testing.T, d doomed) map[any]map[string]any {
	t.Helper()
	nodes := make(map[any]map[string]any)
	for _, row := range Query(t, "MATCH (n:`"+c.label+"`) WHERE any(k IN keys(n) WHERE k STARTS WITH 'it') RETURN n.id, properties(n)",
		nil) {
		values := row[1].(map[string]any)
		maps.DeleteFunc(values, func(k string, _ any) bool { return !strings.HasPrefix(k, "it") })
		if values["itRunId"] != d.RunID || len(values) != 7 {
			t.Errorf("node %v carries %v, want seven properties and the id of run %s", row[0], values, d.RunID)
		}
		nodes[row[0]] = values
	}
	return nodes
}

// refused tries to get another release for what was paid.
func (c crash) refused(t *testing.T, d doomed) {
	t.Helper()
	if _, err := c.m.Run(t.Context(), d.job()); !errors.Is(err, privacy.ErrReplay) && !errors.Is(err, connector.ErrConflict) {
		t.Errorf("the same run id again: %v, want ErrReplay or ErrConflict", err)
	}
	_, err := c.m.Release(t.Context(), c.p, run.Job{Signal: d.job().Signal, RunID: "other", Attempt: token()})
	if !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("another release id: %v, want ErrExhausted, for nothing is refunded", err)
	}
}

// complete finishes the run from its staged release.
func (c crash) complete(t *testing.T, d doomed, data []byte, before map[any]map[string]any) {
	t.Helper()
	var r graphcloak.Release
	must.Do(t, json.Unmarshal(data, &r))
	if _, err := c.m.Complete(t.Context(), &r, d.job()); err != nil {
		t.Fatalf("complete: %v", err)
	}
	c.holds(t, d, privacy.KindCap, privacy.KindSpent, privacy.KindWritten)
	entries := must.Get(run.Payment(t.Context(), c.s.Ledger(), &r))(t)
	if digest, err := r.Digest(); err != nil || *entries[len(entries)-1].Values != digest {
		t.Errorf("the ledger says that %v was written, the staged release is %v, %v", entries[len(entries)-1].Values, digest, err)
	}
	if run, err := c.s.Run(t.Context(), d.RunID); err != nil || run.WriteStatus() != jobs.Finished {
		t.Errorf("the run is %q, %v, want FINISHED", run.WriteStatus(), err)
	}
	heat := must.Get(c.s.Signal(t.Context(), c.m.Graph, "itPrivateHeat"))(t)
	for k, y := range r.Values() {
		if node := c.p.Sensors[k].Node; math.Float64bits(heat[node]) != math.Float64bits(y) {
			t.Errorf("node %d has %v, staged is %v", node, heat[node], y)
		}
	}
	after := c.carried(t, d)
	if len(after) != c.m.Graph.Order() {
		t.Errorf("%d nodes are written, want %d", len(after), c.m.Graph.Order())
	}
	for node, values := range before {
		if !reflect.DeepEqual(after[node], values) {
			t.Errorf("node %v: the process that died wrote %v, completed is %v", node, values, after[node])
		}
	}
}

func (c crash) undo(t *testing.T, d doomed) {
	t.Helper()
	if n, err := c.s.Undo(t.Context(), d.RunID); err != nil || n != int64(c.m.Graph.Order()) {
		t.Errorf("undone %d nodes, %v, want %d", n, err, c.m.Graph.Order())
	}
}

func (d doomed) scope() string { return run.Scope(d.job().Signal) }

func (d doomed) job() graphcloak.Job {
	return graphcloak.Job{
		Settings: graphcloak.Settings{
			Tau: tau.At(2), Selection: graph.Selection{NodeLabels: []string{d.Label}, RelationshipTypes: []string{d.Label}, NodeKey: "id"},
			Public: graphcloak.Public{Communities: community.Options{Property: "club"}},
		},
		Plan: graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1, Allocation: graphcloak.Allocation{Uniform: true},
		},
		Signal: graphcloak.Signal{SourceProperty: d.Property},
		Write:  graphcloak.WriteOptions{Enabled: true, Prefix: "it"},
		RunID:  d.RunID,
	}
}

// run starts the process and returns the boundaries that it passed, and whether it
// came through all of them.
func (d doomed) run(t *testing.T) (passed []string, untouched bool) {
	t.Helper()
	out, err := child(t, "TestCrashChild", d).Output()
	for line := range strings.Lines(string(out)) {
		if at, ok := strings.CutPrefix(line, mark); ok {
			passed = append(passed, strings.TrimSpace(at))
		}
	}
	if err == nil {
		return passed, true
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 || len(passed) != d.At {
		t.Fatalf("the process was to be killed at boundary %d: %v\n%s", d.At, err, out)
	}
	return passed, false
}

// TestCrashChild is the process that kills itself; in a test run of its own it has
// nothing to do.
func TestCrashChild(t *testing.T) {
	var d doomed
	if !given(t, &d) {
		return
	}
	p := &process{at: d.At}
	s := connect(t, func(o *neo4j.Options) {
		o.BatchSize, o.Concurrency = childBatch, 1
		o.Progress = func(stage string, done, _ int64) {
			if stage == "write" {
				p.pass(fmt.Sprintf("in write %d", done))
			}
		}
	})
	job := d.job()
	job.Keep = func(k *run.Kept) error {
		if k.Attempt == nil {
			p.pass("before stage")
			defer p.pass("after stage")
			return p.stage(d.Staged, k.Release)
		}
		p.pass("before begin")
		defer p.pass("after begin")
		data, err := json.Marshal(k)
		if err != nil {
			return err
		}
		return os.WriteFile(d.Staged+".attempt", data, 0o600)
	}
	must.Get(graphcloak.Run(t.Context(), &mortal{Store: s, process: p}, job, graphcloak.LoadOptions{}))(t)
}

// process kills itself at a boundary. What it reported before is in the pipe.
type process struct{ at, passed int }

func (p *process) pass(boundary string) {
	fmt.Println(mark + boundary)
	if p.passed++; p.passed != p.at {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill() // SIGKILL: nothing deferred runs, no connection is closed in order
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// stage keeps a release as the command does: synced under another name, renamed.
func (p *process) stage(path string, r *graphcloak.Release) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	p.pass("before sync")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	p.pass("after sync")
	return os.Rename(path+".tmp", path)
}

// mortal is a store whose process dies between its steps.
type mortal struct {
	*neo4j.Store
	*process
	updates int
}

func (s *mortal) Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.pass("before check")
	defer s.pass("after check")
	return s.Store.Check(ctx, g, t, force)
}

func (s *mortal) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.pass("before reserve")
	defer s.pass("after reserve")
	return s.Store.Reserve(ctx, g, t, force)
}

func (s *mortal) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.pass("before write")
	defer s.pass("after write")
	return s.Store.Write(ctx, g, t, force)
}

func (s *mortal) Ledger() privacy.Ledger { return mortalLedger{s.Store.Ledger(), s} }

type mortalLedger struct {
	privacy.Ledger
	s *mortal
}

// Update is called to read the account, to spend and to mark as written.
func (l mortalLedger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	name := fmt.Sprint("update ", l.s.updates)
	if names := []string{"account", "spend", "settle"}; l.s.updates < len(names) {
		name = names[l.s.updates]
	}
	l.s.updates++
	l.s.pass("before " + name)
	defer l.s.pass("after " + name)
	locked := sync.OnceFunc(func() { l.s.pass("in " + name) })
	return l.Ledger.Update(ctx, scope, releaseID, func(a privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
		e, err := rule(a, prior)
		locked()
		return e, err
	})
}

// child is this test binary with one test to run and a task for it.
func child(t *testing.T, test string, task any) *exec.Cmd {
	t.Helper()
	data := must.Get(json.Marshal(task))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	cmd.Env = append(append(os.Environ(), Server(t).Env()...), childTask+"="+string(data))
	cmd.Stderr = os.Stderr
	return cmd
}

// given reads the task of a child; there is none in a test run of its own.
func given(t *testing.T, task any) bool {
	t.Helper()
	data, ok := os.LookupEnv(childTask)
	if !ok {
		return false
	}
	must.Do(t, json.Unmarshal([]byte(data), task))
	return true
}
