// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

// earlierHall is a folder with the ledger of an earlier version.
func earlierHall(t *testing.T) (*folder.Store, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "earlier-ledger"))); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Open(filepath.Join(dir, "store.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".graphcloak"), 0o700),
		os.WriteFile(filepath.Join(dir, ".graphcloak", "store.db"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func hallJob(signal graphcloak.Signal, epsilon float64) graphcloak.Job {
	return graphcloak.Job{
		Settings: graphcloak.Settings{Tau: 1}, Signal: signal,
		Plan: graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: epsilon, Delta: 0.1}, Alpha: 1, Measured: signal.MeasurementProperty != "",
			Allocation: graphcloak.Allocation{Uniform: true},
		},
	}
}

// TestEarlierLedgerGoesOn: what an earlier version kept under path and selection is
// counted, once, under the name that the data have now, and its cap with it.
func TestEarlierLedgerGoesOn(t *testing.T) {
	ctx := t.Context()
	s, _ := earlierHall(t)
	l := s.Ledger()
	source := graphcloak.Signal{SourceProperty: "source"}
	scope := graphcloak.Scope(source)
	all, selected := "folder:/srv/graphs/hall nodes=* property=source", "folder:/srv/graphs/hall nodes=Member property=source"
	var before privacy.Cost
	for _, name := range []string{all, selected} {
		a, err := privacy.VerifyLedger(ctx, l, name)
		if err != nil {
			t.Fatal(err)
		}
		before += a.Spent
	}
	preview, names, err := graphcloak.Account(ctx, l, scope)
	if err != nil || len(names) != 2 || preview.Releases != 3 || preview.Spent != before || preview.Cap == nil {
		t.Fatalf("seen before it goes on: %+v of %q, %v; want 3 releases of ρ = %v and a cap", preview, names, err, before.Rho())
	}
	job := hallJob(source, 0.5)
	for k := range int64(2) {
		rep, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := privacy.VerifyLedger(ctx, l, scope)
		if err != nil || a.Releases != 4+k || a.Cap.Budget != (privacy.Budget{Epsilon: 5, Delta: 0.1}) {
			t.Errorf("after run %d: %+v, %v", k, a, err)
		}
		if rep.BudgetScope != scope || len(rep.LedgerHead) != 64 {
			t.Errorf("the report names scope %q and head %q", rep.BudgetScope, rep.LedgerHead)
		}
	}
	first, err := privacy.ReplayLedger(ctx, l, all)
	if err != nil || first.MovedTo != scope {
		t.Errorf("the earlier scope: %+v, %v", first, err)
	}
	job.Scope = all
	if _, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{}); !errors.Is(err, privacy.ErrMoved) {
		t.Errorf("a run under the earlier name: %v, want ErrMoved", err)
	}
	job.Scope, job.Plan.Budget.Epsilon = "", 4.9 // fits the cap of 5 by itself, not behind three releases
	if _, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{}); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("a run past the cap: %v, want ErrExhausted", err)
	}
}

// TestEarlierLedgerIsRefusedWhereItIsAmbiguous: joint and perSensor releases do not
// add up, and nothing is spent or closed before that is found.
func TestEarlierLedgerIsRefusedWhereItIsAmbiguous(t *testing.T) {
	s, _ := earlierHall(t)
	heat := graphcloak.Signal{MeasurementProperty: "heat"}
	scopes, err := s.Ledger().Scopes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := graphcloak.Run(t.Context(), s, hallJob(heat, 1), graphcloak.LoadOptions{}); !errors.Is(err, graphcloak.ErrScopes) {
		t.Fatalf("%v, want ErrScopes", err)
	}
	if after, err := s.Ledger().Scopes(t.Context()); err != nil || len(after) != len(scopes) {
		t.Errorf("%d scopes after the refusal, %v, want %d", len(after), err, len(scopes))
	}
	job := hallJob(heat, 1)
	job.Scope = "folder:/srv/graphs/hall nodes=* property=heat"
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); err != nil {
		t.Errorf("the earlier scope, by name: %v", err)
	}
}

// TestOneCapForOneProperty: neither another selection nor another path to the folder
// evades a cap, and one may be required.
func TestOneCapForOneProperty(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "earlier-ledger"))); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	run := func(path string, label ...string) error {
		s, err := folder.New(ctx, path, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(ctx)
		job := hallJob(graphcloak.Signal{SourceProperty: "source"}, 1)
		job.RequireCap, job.Selection.NodeLabels = true, label
		_, err = graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{})
		return err
	}
	if err := run(dir); !errors.Is(err, graphcloak.ErrNoCap) {
		t.Fatalf("without a cap: %v, want ErrNoCap", err)
	}
	s, err := folder.New(ctx, dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	if scopes, err := s.Ledger().Scopes(ctx); err != nil || len(scopes) != 0 {
		t.Errorf("the refusal left scopes %q, %v", scopes, err)
	}
	scope := graphcloak.Scope(graphcloak.Signal{SourceProperty: "source"})
	if _, err := privacy.SetCap(ctx, s.Ledger(), scope, privacy.Budget{Epsilon: 1, Delta: 0.1}); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, "Member"); err != nil {
		t.Fatal(err)
	}
	for path, labels := range map[string][]string{dir: nil, link: {"Member"}} {
		if err := run(path, labels...); !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("%s, labels %q: %v, want ErrExhausted", path, labels, err)
		}
	}
}

// TestEarlierNamesAreReadWithCare: what only looks like a scope of an earlier version
// is left alone, and what may be about another property is refused.
func TestEarlierNamesAreReadWithCare(t *testing.T) {
	ctx := t.Context()
	spend := func(l privacy.Ledger, scope string) {
		t.Helper()
		c := ledgertest.Charge(scope, "r", "a", 1<<20)
		if _, err := privacy.Spend(ctx, l, c); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		scope string
		found int
		err   error
	}{
		"neo4j://h:7687/neo4j nodes=A,B property=risk":                        {"property=risk", 1, nil},
		"folder:/a b/nodes=1 nodes=* sensors":                                 {"sensors", 1, nil},
		"folder:/a nodes=MATCH (n) WHERE n.property=1 RETURN n property=risk": {"property=risk", 1, nil},
		"folder:/a nodes=* property=a property=risk":                          {"property=risk", 0, graphcloak.ErrScopes},
		"folder:/a nodes=* property=x sensors":                                {"sensors", 0, graphcloak.ErrScopes},
		"folder:/a nodes=* property=highrisk":                                 {"property=risk", 0, nil},
		"folder:/a property=risk":                                             {"property=risk", 0, nil},
		"hospital nodes=* property=risk":                                      {"property=risk", 0, nil},
		"folder:/a nodes=* hospital":                                          {"hospital", 0, nil},
		"neo4j://h:7687/neo4j nodes=* property=risk and more":                 {"property=risk", 0, nil},
	} {
		var l privacy.MemoryLedger
		spend(&l, name)
		_, names, err := graphcloak.Account(ctx, &l, c.scope)
		if len(names) != c.found || !errors.Is(err, c.err) {
			t.Errorf("%q for %q: %q, %v, want %d and %v", name, c.scope, names, err, c.found, c.err)
		}
	}
}

// TestNodeKeyEvadesNoCap: sensors that were counted by one name are not counted anew
// under another.
func TestNodeKeyEvadesNoCap(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nodes.csv":         "id,name,source\na,x,1\nb,y,0\nc,z,0\n",
		"relationships.csv": "source,target\na,b\nb,c\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := folder.New(ctx, dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	job := hallJob(graphcloak.Signal{SourceProperty: "source"}, 1)
	job.Plan.Guarantee, job.Scope = privacy.PerSensor, "s"
	if _, err := privacy.SetCap(ctx, s.Ledger(), "s", privacy.Budget{Epsilon: 1, Delta: 0.1}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		key  string
		want error
	}{{"", nil}, {"", privacy.ErrExhausted}, {"name", privacy.ErrInput}} {
		job.Selection.NodeKey, job.RunID = step.key, ""
		if _, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{}); !errors.Is(err, step.want) {
			t.Errorf("key %q: %v, want %v", step.key, err, step.want)
		}
	}
	if a, err := privacy.VerifyLedger(ctx, s.Ledger(), "s"); err != nil || a.Releases != 1 {
		t.Errorf("%+v, %v, want one release within a cap for one", a, err)
	}
}

// The name of a scope tells a property only where it was made of one.
func TestPropertyOf(t *testing.T) {
	for scope, want := range map[string]string{
		"property=risk": "risk", "property=a property=b": "a property=b", "property=": "", "sensors": "", "risk": "", "night property=risk": "", "": "",
		"folder:/data nodes=labels=Hall property=risk": "risk", "folder:/data nodes=labels=Hall sensors": "",
	} {
		if got, ok := graphcloak.PropertyOf(scope); got != want || ok != (want != "") {
			t.Errorf("scope %q tells the property %q, %t, want %q", scope, got, ok, want)
		}
	}
}
