// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

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
