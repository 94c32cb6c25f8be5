// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// keeping keeps the attempt of a run, and ends it with an error once its release was drawn.
func keeping(kept **run.Kept, drawn error) func(*run.Kept) error {
	return func(k *run.Kept) error {
		if k.Attempt == nil {
			return drawn
		}
		*kept = k
		return nil
	}
}

// TestRedeemOnce: an attempt whose release was written is not drawn again, as from a
// copy of the folder that kept it.
func TestRedeemOnce(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &watched{Store: store}
	job := testkit.PaperJob()
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	job.Write.Enabled = false
	var kept *run.Kept
	job.Keep = keeping(&kept, nil)
	m, _ := testkit.Planned(t, s, job)
	must.Get(m.Run(t.Context(), job))(t)
	if err := m.Redeem(t.Context(), kept, job); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("%v for a release that was written, want %v", err, privacy.ErrReplay)
	}
}

// TestRedeemOnTheSameGraph: the noise of a paid attempt is not drawn for readings of a graph that
// changed since, on which its sensitivity means nothing.
func TestRedeemOnTheSameGraph(t *testing.T) {
	store, dir := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	job.Write.Enabled = false
	var kept *run.Kept
	job.Keep = keeping(&kept, errors.New("killed"))
	m, _ := testkit.Planned(t, store, job)
	if _, err := m.Run(t.Context(), job); err == nil {
		t.Fatal("the run went on")
	}
	path := filepath.Join(dir, "relationships.csv")
	data := must.Get(os.ReadFile(path))(t)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	testkit.Write(t, dir, "relationships.csv", strings.Join(lines[:len(lines)-1], "\n")+"\n")
	changed := must.Get(graphcloak.Load(t.Context(), testkit.Folder(t, dir), job.Settings, graphcloak.LoadOptions{}))(t)
	job.Keep = func(*run.Kept) error { t.Error("a release was drawn on another graph"); return nil }
	err := changed.Redeem(t.Context(), kept, job)
	if u, ok := errors.AsType[*graphcloak.UnfinishedError](err); !ok || u.Spent != run.IsSpent ||
		!errors.Is(err, plan.ErrGraphChanged) {
		t.Errorf("%v, want ErrGraphChanged of a run that is spent", err)
	}
	job.Keep = nil
	if err := m.Redeem(t.Context(), kept, job); err != nil {
		t.Errorf("on the graph that it was made for: %v", err)
	}
}

// losing is a store whose ledger loses the answer to the spend, which it stores or does not.
type losing struct {
	graphcloak.Store
	stores    bool
	cancelled int
}

func (s *losing) Ledger() privacy.Ledger { return losingLedger{s.Store.Ledger(), s} }

func (s *losing) Cancel(ctx context.Context, runID string) error {
	s.cancelled++
	return s.Store.Cancel(ctx, runID)
}

type losingLedger struct {
	privacy.Ledger
	store *losing
}

func (l losingLedger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	lost := false
	err := l.Ledger.Update(ctx, scope, releaseID, func(a privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
		e, err := rule(a, prior)
		if lost = err == nil && e != nil && e.Kind == privacy.KindSpent; lost && !l.store.stores {
			return nil, nil
		}
		return e, err
	})
	if err == nil && lost {
		return privacy.ErrUncertain
	}
	return err
}

// TestLostAnswerMayBeSpent: a run whose spend was not answered may be spent. Its reservation stays,
// nothing is drawn, and it goes on once the ledger says what became of it.
func TestLostAnswerMayBeSpent(t *testing.T) {
	for _, stores := range []bool{true, false} {
		store, _ := testkit.Example(t, "karate")
		s := &losing{Store: store, stores: stores}
		job := testkit.PaperJob()
		job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
		var kept *run.Kept
		job.Keep = func(k *run.Kept) error {
			if kept = k; k.Attempt == nil {
				t.Error("noise was drawn")
			}
			return nil
		}
		m, _ := testkit.Planned(t, s, job)
		_, err := m.Run(t.Context(), job)
		u, ok := errors.AsType[*graphcloak.UnfinishedError](err)
		if !ok || u.Spent != run.MaySpent || !errors.Is(err, privacy.ErrUncertain) || s.cancelled > 0 {
			t.Errorf("stored %v: %v, reservation taken back %d times; want a run that may be spent", stores, err, s.cancelled)
		}
		job.Keep = nil
		err = m.Redeem(t.Context(), kept, job)
		r := kept.Release
		if stores && (err != nil || r == nil) || !stores && !errors.Is(err, run.ErrUnpaid) {
			t.Errorf("stored %v: it goes on with %v", stores, err)
		}
		if (s.cancelled > 0) == stores {
			t.Errorf("stored %v: the reservation was taken back %d times", stores, s.cancelled)
		}
	}
}

// TestPaymentThatCannotBeAskedFor: an attempt whose ledger does not answer may be spent.
func TestPaymentThatCannotBeAskedFor(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	var kept *run.Kept
	job.Keep = keeping(&kept, errors.New("killed"))
	m, _ := testkit.Planned(t, store, job)
	if _, err := m.Run(t.Context(), job); err == nil {
		t.Fatal("the run went on")
	}
	away := errors.New("away")
	job.Ledger = awayLedger{store.Ledger(), away}
	err := m.Redeem(t.Context(), kept, job)
	if u, ok := errors.AsType[*graphcloak.UnfinishedError](err); !ok || u.Spent != run.MaySpent || !errors.Is(err, away) {
		t.Errorf("%v, want a run that may be spent", err)
	}
}

type awayLedger struct {
	privacy.Ledger
	err error
}

func (l awayLedger) Update(context.Context, string, string, privacy.Rule) error { return l.err }

// reserving keeps the record of the run that was reserved last.
type reserving struct {
	graphcloak.Store
	record []report.Property
}

func (r *reserving) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	r.record = t.Record()
	return r.Store.Reserve(ctx, g, t, force)
}

// TestTimesAreWholeSeconds: the time between the start of a run and its payment was spent on
// private values. What stands in the report, its record, the run's id and the ledger tells
// it in whole seconds, rounded up.
func TestTimesAreWholeSeconds(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &reserving{Store: store}
	job := testkit.PaperJob()
	var err error
	job.RunID = must.Get(run.NewRunID())(t)
	begun := time.Now()
	m, _ := testkit.Planned(t, s, job)
	rep := must.Get(m.Run(t.Context(), job))(t)
	entries, err := store.Ledger().Entries(t.Context(), rep.BudgetScope)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	id := uuid.MustParse(job.RunID)
	seconds, nanos := id.Time().UnixTime()
	times := map[string]time.Time{"report": rep.StartedAt, "run id": time.Unix(seconds, nanos)}
	for _, e := range entries {
		times[string(e.Kind)] = e.Time
	}
	for what, at := range times {
		if at.Nanosecond() != 0 || at.Before(begun.Add(-time.Second)) || at.After(time.Now().Add(2*time.Second)) {
			t.Errorf("%s: %v, want a whole second near %v", what, at, begun)
		}
	}
	if ms := rep.PrivacyMillis; ms < 1000 || ms%1000 != 0 {
		t.Errorf("privacyMillis is %d, want whole seconds", ms)
	}
	if sum := rep.ProjectMillis + rep.PreProcessingMillis + rep.PrivacyMillis + rep.RecoveryMillis; rep.ComputeMillis != sum {
		t.Errorf("computeMillis is %d, and its parts add up to %d", rep.ComputeMillis, sum)
	}
	if want := rep.StartedAt.Format(time.RFC3339); rep.StartedAt.Before(begun) ||
		!slices.Contains(s.record, report.Property{Name: "startedAt", Value: want}) {
		t.Errorf("reserved with %v, want startedAt %s", s.record, want)
	}
}

// TestRunIDsKeepTheirOrder within a second too.
func TestRunIDsKeepTheirOrder(t *testing.T) {
	var ids []string
	for range 100 {
		id := must.Get(run.NewRunID())(t)
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Error("ids that were made one after the other do not sort so")
	}
}

// TestResumeFromAFolder: a program whose run dies, before or after its noise was drawn, completes it from a folder at no
// further cost. While a process holds it no other does, and once it is complete nothing of it is kept.
func TestResumeFromAFolder(t *testing.T) {
	for _, drawn := range []bool{false, true} {
		s, _ := testkit.Example(t, "karate")
		job, folder, died := testkit.PaperJob(), run.Folder(t.TempDir()), errors.New("died")
		job.RunID = "run-1"
		held := must.Get(folder.Take(job.RunID))(t)
		job.Keep = func(k *run.Kept) error {
			switch {
			case k.Attempt != nil:
				return held.Keep(k)
			case drawn:
				return errors.Join(held.Keep(k), died)
			}
			return died
		}
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, died) {
			t.Fatalf("%v, want %v", err, died)
		}
		if _, _, err := folder.Resume(job.RunID); !errors.Is(err, run.ErrUnderWay) || folder.State(job.RunID) != run.Running {
			t.Errorf("beside its process: %v", err)
		}
		if err := held.Close(); err != nil { // as the end of the process does
			t.Fatal(err)
		}
		held, k, err := folder.Resume(job.RunID)
		if err != nil || (k.Release != nil) != drawn {
			t.Fatalf("%+v, %v", k, err)
		}
		job.Keep = held.Keep
		m := must.Get(run.Load(t.Context(), s, *k.Settings(), graphcloak.LoadOptions{}))(t)
		rep, err := m.Resume(t.Context(), k, job)
		if err != nil || rep.RunID != job.RunID {
			t.Fatal(err)
		}
		if drawn { // and once more, which does no harm
			must.Get(m.Complete(t.Context(), k.Release, job))(t)
		}
		heat := must.Get(s.Signal(t.Context(), m.Graph, "gcPrivateHeat"))(t)
		for i, node := range k.Release.Nodes() {
			if heat[node] != k.Release.Values()[i] {
				t.Fatalf("node %d has %v, the release %v", node, heat[node], k.Release.Values()[i])
			}
		}
		if nodes, err := s.Undo(t.Context(), job.RunID); err != nil || nodes != 34 {
			t.Errorf("undo cleared %d nodes (%v), want 34", nodes, err)
		}
		account, err := privacy.VerifyLedger(t.Context(), s.Ledger(), rep.BudgetScope)
		if err != nil || account.Releases != 1 {
			t.Errorf("%+v, %v: want one release, also after the undo", account, err)
		}
		if err := held.Forget(); err != nil || folder.State(job.RunID) != run.Unknown {
			t.Error(err)
		}
		if left, err := folder.Runs(); err != nil || len(left) > 0 {
			t.Errorf("%q is still kept, %v", left, err)
		}
	}
}
