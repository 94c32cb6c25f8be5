// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/run"
)

func TestRunWritesOnlyPrivateValues(t *testing.T) {
	s, dir := testkit.Example(t, "karate")
	rep := must.Get(graphcloak.Run(t.Context(), s, testkit.PaperJob(), graphcloak.LoadOptions{}))(t)
	if rep.NodeCount != 34 || rep.RelationshipCount != 78 || rep.SensorCount != 34 || rep.CommunityCount != 2 {
		t.Errorf("karate is %d nodes, %d relationships, %d sensors, %d communities; want 34, 78, 34, 2",
			rep.NodeCount, rep.RelationshipCount, rep.SensorCount, rep.CommunityCount)
	}
	sum := 0.0
	for _, c := range rep.Communities {
		sum += c.Probability
	}
	if p := rep.Presence.Probability; math.Abs(sum-p) > 1e-12 || !(p > 0 && p <= 1) {
		t.Errorf("the communities' probabilities add up to %v, want %v, that of a source", sum, p)
	}
	if rep.EpsilonSpent != 4 || rep.DeltaSpent != 0.1 {
		t.Errorf("spent (%v, %v), want (4, 0.1)", rep.EpsilonSpent, rep.DeltaSpent)
	}
	g := must.Get(s.Graph(t.Context(), graph.Selection{}))(t)
	heat := must.Get(s.Signal(t.Context(), g, "gcPrivateHeat"))(t)
	y := exact(t, g, 2)
	step := math.Ldexp(1, planOf(t, s, testkit.PaperJob()).Sensors[0].Exponent)
	for i, v := range heat {
		if v == y[i] {
			t.Errorf("node %s: the written value is the exact one", g.ID(i))
		}
		if r := v / step; r != math.Trunc(r) {
			t.Errorf("node %s: %v is no multiple of the lattice %v", g.ID(i), v, step)
		}
	}
	data := must.Get(os.ReadFile(filepath.Join(dir, "nodes.csv")))(t)
	for _, v := range y {
		text, _ := json.Marshal(v)
		if bytes.Contains(data, text) {
			t.Errorf("the exact value %s stands in the store", text)
		}
	}
	account := must.Get(privacy.ReadAccount(t.Context(), s.Ledger(), run.Scope(testkit.PaperJob().Signal)))(t)
	if account.Releases != 1 || account.Spent <= 0 {
		t.Errorf("the ledger holds %d releases worth %v, want 1", account.Releases, account.Spent)
	}
}

// exact returns e^{-τL}f₀ for the source of karate, node 16.
func exact(t *testing.T, g *graph.Graph, tau float64) []float64 {
	t.Helper()
	source, ok := g.Index("16")
	if !ok {
		t.Fatal("karate has no node 16")
	}
	return mat.Col(nil, source, testgraph.Heat(g, tau))
}

// unspent: nothing was spent from a ledger.
func unspent(t *testing.T, l privacy.Ledger) {
	t.Helper()
	if scopes, err := l.Scopes(t.Context()); err != nil || len(scopes) > 0 {
		t.Errorf("the ledger has scopes %q (%v), want none", scopes, err)
	}
}

func planOf(t *testing.T, s graphcloak.Store, job graphcloak.Job) *graphcloak.Plan {
	t.Helper()
	_, p := testkit.Planned(t, s, job)
	return p
}

// Allocated noise has the guarantee of the uniform one, judged by the whitened
// norm of every edge, computed here from a dense matrix exponential.
func TestAllocatedPlan(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	job := testkit.PaperJob()
	job.Plan.Allocation.Uniform = false
	job.Communities.Property = ""
	m, p := testkit.Planned(t, s, job)
	if p.Allocated == nil {
		t.Fatal("the plan is uniform")
	}
	other := job
	other.Plan.Allocation.Uniform = true
	uniform := planOf(t, s, other)
	if p.UniformSigma() != uniform.Sigma() {
		t.Errorf("the uniform σ of equal guarantee is %v, want %v", p.UniformSigma(), uniform.Sigma())
	}
	kernel := testgraph.Heat(m.Graph, 2)
	worst := worstEdge(m.Model, kernel, p)
	// 1/0.485540335 is the μ of (4, 0.1).
	if limit := 1 / 0.485540335; worst > limit || worst < 0.99*limit {
		t.Errorf("the worst edge has μ = %v, want at most %v and not far below", worst, limit)
	}
	var again graphcloak.Plan
	testkit.RoundTrip(t, p, &again)
	if again.UniformSigma() != p.UniformSigma() || len(again.Sensors) != len(p.Sensors) {
		t.Error("an allocated plan does not survive its file")
	}
	rep := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if rep.Allocation != "optimal" || rep.SensorCount != len(p.Sensors) {
		t.Errorf("the run reports %s noise at %d sensors, want optimal at %d", rep.Allocation, rep.SensorCount, len(p.Sensors))
	}
}

// worstEdge returns max over edges of ‖diag(1/σ) M b_e‖₂, from a dense kernel.
func worstEdge(m *plan.Model, kernel *mat.Dense, p *graphcloak.Plan) float64 {
	worst := 0.0
	for e := range m.Graph.Edges() {
		sum := 0.0
		for _, sensor := range p.Sensors {
			d := (kernel.At(sensor.Node, e.U) - kernel.At(sensor.Node, e.V)) / sensor.Sigma()
			sum += d * d
		}
		worst = max(worst, math.Sqrt(sum))
	}
	return worst
}

func TestRefusalsSpendNothing(t *testing.T) {
	tests := []struct {
		name   string
		change func(*graphcloak.Job)
		want   error  // nil: any
		text   string // part of the message
	}{
		{"tau below 0", func(j *graphcloak.Job) { j.Tau = tau.At(-1) }, nil, "tau"},
		{"epsilon 0", func(j *graphcloak.Job) { j.Plan.Epsilon = 0 }, nil, "epsilon"},
		{"epsilon NaN", func(j *graphcloak.Job) { j.Plan.Epsilon = math.NaN() }, nil, "epsilon"},
		{"delta 1", func(j *graphcloak.Job) { j.Plan.Delta = 1 }, nil, "delta"},
		{"delta 0", func(j *graphcloak.Job) { j.Plan.Delta = 0 }, nil, "delta"},
		{"alpha negative", func(j *graphcloak.Job) { j.Plan.Alpha = -1 }, nil, "alpha"},
		{"no signal", func(j *graphcloak.Job) { j.Signal = graphcloak.Signal{} }, plan.ErrNoSignal, "source"},
		{"source outside [0, 1]", func(j *graphcloak.Job) { j.Signal.SourceProperty = "tooHot" }, run.ErrBadSignal, "tooHot"},
		{"reading missing", func(j *graphcloak.Job) {
			j.Signal = graphcloak.Signal{MeasurementProperty: "partial"}
			j.Plan.Measured = true
		}, run.ErrBadSignal, "partial"},
		{"property in the way", func(j *graphcloak.Job) { j.Write.Prefix = "my" }, nil, "mySource"},
		{"community missing", func(j *graphcloak.Job) { j.Communities.Property = "partial" }, nil, "communit"},
		{"prior zero", func(j *graphcloak.Job) { j.PriorProperty = "none" }, recovery.ErrInvalid, "none"},
		{"prior too narrow", func(j *graphcloak.Job) { j.PriorProperty, j.Recover.Sources = "tiny", 2 }, recovery.ErrInvalid, "tiny"},
		{"more sources than two", func(j *graphcloak.Job) { j.Recover.Sources = 3 }, recovery.ErrInvalid, "3 sources"},
		{"computed values under a plan for measured ones", func(j *graphcloak.Job) { j.Plan.Measured = true }, nil, "measured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := testkit.Graph(t,
				"id,source,tooHot,partial,club,mySource,none,tiny\na,1,1.5,1,x,9,0,5e-324\nb,0,0,,x,9,0,0\nc,0,0,,y,9,0,0\n",
				"source,target\na,b\nb,c\n")
			before := must.Get(os.ReadFile(filepath.Join(dir, "nodes.csv")))(t)
			job := testkit.PaperJob()
			tt.change(&job)
			_, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
			if err == nil {
				t.Fatal("it ran")
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%q does not name %q", err, tt.text)
			}
			after, err := os.ReadFile(filepath.Join(dir, "nodes.csv"))
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("nodes.csv changed (%v)", err)
			}
			unspent(t, s.Ledger())
		})
	}
}

func TestSmallGraphs(t *testing.T) {
	tests := []struct {
		name, nodes, relationships string
		note                       string
	}{
		{"disconnected", "id,source\na,1\nb,0\nc,0\nd,0\n", "source,target\na,b\nc,d\n", ""},
		{"self-loop and parallel", "id,source\na,1\nb,0\n", "source,target\na,b\nb,a\na,a\n", "self-loops"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := testkit.Graph(t, tt.nodes, tt.relationships)
			for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized, laplacian.RandomWalk} {
				job := testkit.PaperJob()
				job.Settings.Laplacian = kind
				job.Communities.Property = ""
				rep, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
				if err != nil {
					t.Fatalf("%v: %v", kind, err)
				}
				if tt.note != "" && !strings.Contains(strings.Join(rep.Notes, "\n"), tt.note) {
					t.Errorf("notes %q do not say %q", rep.Notes, tt.note)
				}
				if rep.ComponentCount > 1 && !strings.Contains(strings.Join(rep.NotProtected, "\n"), "component") {
					t.Error("the report does not say that the component is public")
				}
			}
		})
	}
}

func TestMemoryGuard(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	_, err := graphcloak.Load(t.Context(), s, testkit.PaperJob().Settings, graphcloak.LoadOptions{MemoryLimit: 1000})
	if !errors.Is(err, plan.ErrMemory) {
		t.Errorf("1000 bytes: %v, want ErrMemory", err)
	}
	if _, err := graphcloak.Load(t.Context(), s, testkit.PaperJob().Settings,
		graphcloak.LoadOptions{MemoryLimit: 1000, IgnoreMemory: true}); err != nil {
		t.Errorf("without the guard: %v", err)
	}
}

// TestRecoveryFitsBeforeTheSpend: a recovery that memory has no room for is refused
// before anything is spent.
func TestRecoveryFitsBeforeTheSpend(t *testing.T) {
	const n = 300
	dir, nodes, ring := t.TempDir(), "id,source\n0,1\n", "source,target\n0,1\n"
	for i := 1; i < n; i++ {
		nodes += fmt.Sprintf("%d,0\n", i)
		ring += fmt.Sprintf("%d,%d\n", i, (i+1)%n)
	}
	testkit.Write(t, dir, "nodes.csv", nodes)
	testkit.Write(t, dir, "relationships.csv", ring)
	s := must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
	defer s.Close(t.Context())
	job := testkit.PaperJob()
	job.Communities.Property = ""
	job.Method = expm.Chebyshev // needs less than the recovery
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{MemoryLimit: 1 << 20}); !errors.Is(err, plan.ErrMemory) ||
		!strings.Contains(err.Error(), "recovery") {
		t.Errorf("%v, want ErrMemory for the recovery", err)
	}
	unspent(t, s.Ledger())
}

// TestTinyPrior: a prior whose largest value is the smallest number is a prior like
// any other in proportion.
func TestTinyPrior(t *testing.T) {
	s, _ := testkit.Graph(t,
		"id,source,tiny,unit,club\na,1,5e-324,1,x\nb,0,5e-324,1,y\nc,0,0,0,y\n",
		"source,target\na,b\nb,c\n")
	var priors []float64
	for _, property := range []string{"tiny", "unit"} {
		job := testkit.PaperJob()
		job.Write.Enabled, job.PriorProperty = false, property
		rep := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
		priors = append(priors, rep.Communities[0].Prior)
	}
	if priors[0] != priors[1] {
		t.Errorf("prior of the community %v, want %v", priors[0], priors[1])
	}
}

func TestCancelledRunWritesNothing(t *testing.T) {
	s, dir := testkit.Example(t, "karate")
	before, _ := os.ReadFile(filepath.Join(dir, "nodes.csv"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := graphcloak.Run(ctx, s, testkit.PaperJob(), graphcloak.LoadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "nodes.csv")); !bytes.Equal(before, after) {
		t.Error("nodes.csv changed")
	}
}

// Under perSensor the analyst still sees every value, so the ceiling is that of
// all of them together.
func TestCeilingIsJoint(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	job.Plan.Guarantee = privacy.PerSensor
	rep := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	p := must.Get(m.Plan(t.Context(), job.Plan))(t)
	kernel := testgraph.Heat(m.Graph, 2)
	worst := worstEdge(m.Model, kernel, p)
	if least := 0.5 * math.Erfc(-worst/2/math.Sqrt2); rep.Ceiling < least {
		t.Errorf("the ceiling is %v, two neighbours are told apart with %v", rep.Ceiling, least)
	}
}

// A plan covers the error of the operator that it was made with.
func TestPrivatePathRefuses(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	p := planOf(t, s, job)
	for _, method := range []expm.Method{expm.Chebyshev, expm.Eigen} {
		set := job.Settings
		set.Method = method
		m := must.Get(graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{}))(t)
		own := must.Get(m.Plan(t.Context(), job.Plan))(t)
		_, err := m.Release(t.Context(), p, run.Job{Signal: job.Signal, RunID: method.String(), Attempt: "a"})
		if refuse := own.NormError > p.NormError; (err != nil) != refuse {
			t.Errorf("%v (error %v under a plan for %v): %v", method, own.NormError, p.NormError, err)
		}
		// Nor under a plan of its own, which charges its error.
		_, err = m.Release(t.Context(), own, run.Job{Signal: job.Signal, RunID: "own " + method.String(), Attempt: "a"})
		if err != nil {
			t.Errorf("%v under a plan of its own: %v", method, err)
		}
	}
}
