// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// hall is a folder with three members, whose property risk is private.
func hall(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nodes.csv":         "id,labels,name,source,risk\na,Member,x,1,0\nb,Member,y,0,1\nc,Member,z,0,0\n",
		"relationships.csv": "source,target\na,b\nb,c\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func openHall(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s := must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
	t.Cleanup(func() { s.Close(t.Context()) })
	return s
}

func hallJob(signal graphcloak.Signal, epsilon float64) graphcloak.Job {
	return graphcloak.Job{
		Settings: graphcloak.Settings{Tau: tau.At(1)}, Signal: signal,
		Plan: graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: epsilon, Delta: 0.1}, Alpha: 1, Measured: signal.MeasurementProperty != "",
			Allocation: graphcloak.Allocation{Uniform: true},
		},
	}
}

// TestChargesCountAgainstTheirProperty: sources and readings of one property are charged to
// one account.
func TestChargesCountAgainstTheirProperty(t *testing.T) {
	ctx := t.Context()
	s := openHall(t, hall(t))
	do := func(signal graphcloak.Signal) (string, error) {
		rep, err := graphcloak.Run(ctx, s, hallJob(signal, 1), graphcloak.LoadOptions{})
		if err != nil {
			return "", err
		}
		return rep.BudgetScope, nil
	}
	source, measured := graphcloak.Signal{SourceProperty: "source"}, graphcloak.Signal{MeasurementProperty: "source"}
	for _, signal := range []graphcloak.Signal{source, measured} {
		if scope, err := do(signal); err != nil || scope != "property=source" {
			t.Errorf("%+v was paid from %q, %v", signal, scope, err)
		}
	}
	if a, err := privacy.VerifyLedger(ctx, s.Ledger(), "property=source"); err != nil || a.Releases != 2 {
		t.Errorf("%+v, %v, want both releases", a, err)
	}
}

// TestOneCapForOneProperty: neither another selection nor another path to the folder
// evades a cap, and one may be required.
func TestOneCapForOneProperty(t *testing.T) {
	ctx := t.Context()
	dir := hall(t)
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(dir, link))
	do := func(path string, label ...string) error {
		s := must.Get(folder.New(ctx, path, folder.Options{}))(t)
		defer s.Close(ctx)
		job := hallJob(graphcloak.Signal{SourceProperty: "source"}, 1)
		job.RequireCap, job.Selection.NodeLabels = true, label
		_, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{})
		return err
	}
	if err := do(dir); !errors.Is(err, run.ErrNoCap) {
		t.Fatalf("without a cap: %v, want ErrNoCap", err)
	}
	s := must.Get(folder.New(ctx, dir, folder.Options{}))(t)
	defer s.Close(ctx)
	if scopes, err := s.Ledger().Scopes(ctx); err != nil || len(scopes) != 0 {
		t.Errorf("the refusal left scopes %q, %v", scopes, err)
	}
	scope := run.Scope(graphcloak.Signal{SourceProperty: "source"})
	must.Get(privacy.SetCap(ctx, s.Ledger(), scope, privacy.Budget{Epsilon: 1, Delta: 0.1}))(t)
	must.Do(t, do(dir, "Member"))
	for path, labels := range map[string][]string{dir: nil, link: {"Member"}} {
		if err := do(path, labels...); !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("%s, labels %q: %v, want ErrExhausted", path, labels, err)
		}
	}
}

// TestNodeKeyEvadesNoCap: sensors that were counted by one name are not counted again
// under another.
func TestNodeKeyEvadesNoCap(t *testing.T) {
	ctx := t.Context()
	s := openHall(t, hall(t))
	job := hallJob(graphcloak.Signal{SourceProperty: "source"}, 1)
	job.Plan.Guarantee = privacy.PerSensor
	scope := run.Scope(job.Signal)
	must.Get(privacy.SetCap(ctx, s.Ledger(), scope, privacy.Budget{Epsilon: 1, Delta: 0.1}))(t)
	for _, step := range []struct {
		key  string
		want error
	}{{"", nil}, {"", privacy.ErrExhausted}, {"name", privacy.ErrInput}} {
		job.Selection.NodeKey, job.RunID = step.key, ""
		if _, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{}); !errors.Is(err, step.want) {
			t.Errorf("key %q: %v, want %v", step.key, err, step.want)
		}
	}
	if a, err := privacy.VerifyLedger(ctx, s.Ledger(), scope); err != nil || a.Releases != 1 {
		t.Errorf("%+v, %v, want one release within a cap for one", a, err)
	}
}

// The name of a scope tells a property only where it was made of one.
func TestPropertyOf(t *testing.T) {
	for scope, want := range map[string]string{
		"property=risk": "risk", "property=a property=b": "a property=b", "property=": "", "sensors": "", "risk": "",
		"night property=risk": "", "": "",
	} {
		if got, ok := run.PropertyOf(scope); got != want || ok != (want != "") {
			t.Errorf("scope %q tells the property %q, %t, want %q", scope, got, ok, want)
		}
	}
}

// payFor pays for a release of the data of a scope.
func payFor(t *testing.T, l privacy.Ledger, scope, id string) error {
	t.Helper()
	_, err := privacy.Spend(t.Context(), l, privacy.Charge{
		Scope: scope, ReleaseID: id, Attempt: "attempt-" + id, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Cost: 1000,
	})
	return err
}

// clocked is a ledger with a clock of the test's.
type clocked struct {
	privacy.Ledger
	clock *time.Time
}

func (l clocked) Now(context.Context) (time.Time, error) { return *l.clock, nil }

// TestPayments: what a ledger says of the releases of some data: which is the latest one that is finished, which are not, and what
// became of each.
func TestPayments(t *testing.T) {
	ctx := t.Context()
	clock := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	l := clocked{new(privacy.MemoryLedger), &clock}
	for _, id := range []string{"written", "void", "open", "late"} { // a day each
		clock = clock.Add(24 * time.Hour)
		must.Do(t, payFor(t, l, "data", id))
	}
	if err := payFor(t, l, "other", "written"); err != nil { // other data may have a release of the same name
		t.Fatal(err)
	}
	must.Get(privacy.MarkWritten(ctx, l, "data", "written", privacy.Digest{1}))(t)
	if found, err := run.Void(ctx, l, "data", "void"); !found || err != nil {
		t.Fatalf("void: %v, %v", found, err)
	}
	for _, id := range []string{"void", "written", "unknown"} {
		if found, err := run.Void(ctx, l, "data", id); found || err != nil {
			t.Errorf("%s is given up (%v, %v), and was not open", id, found, err)
		}
	}
	paid := must.Get(run.PaymentsOf(ctx, l, "data"))(t)
	first := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for after, want := range map[time.Time]string{{}: "open late", first.Add(50 * time.Hour): "late", clock: ""} {
		got := ""
		for _, e := range paid.Unfinished(after) {
			got += " " + e.ReleaseID
		}
		if got != "" && got[1:] != want || got == "" && want != "" {
			t.Errorf("unfinished after %v: %q, want %q", after, got, want)
		}
	}
	for after, want := range map[time.Time]bool{first.Add(-time.Second): true, first: false} { // when it was paid for, not when written
		if e, ok := paid.Finished(after); ok != want || ok && e.ReleaseID != "written" {
			t.Errorf("finished after %v: %v %v", after, e, ok)
		}
	}
	all := must.Get(run.PaymentsOf(ctx, l, ""))(t)
	for id, want := range map[string]privacy.Kind{"written": privacy.KindWritten, "void": privacy.KindVoid} {
		if about := all.About(id); len(about) != 2 || about[1].Kind != want || about[1].Scope != "data" {
			t.Errorf("%s: %+v", id, about)
		}
	}
	if open := all.Unfinished(time.Time{}); len(open) != 3 || open[2].Scope != "other" {
		t.Errorf("of all data unfinished: %+v", open)
	}
}
