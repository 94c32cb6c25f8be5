// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// watched is a store whose ledger and table of a run are looked at.
type watched struct {
	graphcloak.Store
	granted func() // called by the ledger when it has granted a release
	written int
}

func (w *watched) Ledger() privacy.Ledger { return watchedLedger{w.Store.Ledger(), w} }

func (w *watched) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	w.written++
	return w.Store.Write(ctx, g, t, force)
}

type watchedLedger struct {
	privacy.Ledger
	store *watched
}

func (l watchedLedger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	paid := false
	err := l.Ledger.Update(ctx, scope, releaseID, func(a privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
		e, err := rule(a, prior)
		paid = err == nil && e != nil && e.Kind == privacy.KindSpent
		return e, err
	})
	if err == nil && paid && l.store.granted != nil {
		l.store.granted()
	}
	return err
}

// TestNoiseIsDrawnAfterTheSpend: when the ledger has granted a release, and when it
// refuses one, no word of the generator has been read; and what is released then is
// what [privacy.Plan.Perturb] makes of the readings from that state of it.
func TestNoiseIsDrawnAfterTheSpend(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &watched{Store: store}
	m, p := testkit.Planned(t, s, testkit.PaperJob())
	signal := graphcloak.Signal{SourceProperty: "source"}
	// A ledger draws its identity with its first entry, whatever that is.
	must.Get(privacy.SetCap(t.Context(), store.Ledger(), "another", p.Budget))(t)
	var want, got [16]byte
	reset := func() {
		cryptotest.SetGlobalRandom(t, 71)
		rand.Read(want[:])
		cryptotest.SetGlobalRandom(t, 71)
	}
	s.granted = func() {
		rand.Read(got[:])
		cryptotest.SetGlobalRandom(t, 73) // the state that the noise starts from
	}
	reset()
	r := must.Get(m.Release(t.Context(), p, run.Job{Signal: signal, RunID: "1", Attempt: "a"}))(t)
	if got != want {
		t.Error("noise was drawn before the ledger had granted the release")
	}
	cryptotest.SetGlobalRandom(t, 73)
	y := exact(t, m.Graph, 2)
	alone := must.Get(p.Perturb(y, "1", nil))(t)
	// The readings are computed: off by η, so by η/g steps and one of rounding.
	for k, x := range r.Steps() {
		if off := math.Abs(float64(x - alone.Steps()[k])); off > 1+p.NormError/p.Sensors[k].Step() {
			t.Errorf("sensor %d: %v steps from the noise of the plan", k, off)
		}
	}

	s.granted = nil
	must.Get(privacy.SetCap(t.Context(), store.Ledger(), run.Scope(signal), p.Budget))(t)
	reset()
	if _, err := m.Release(t.Context(), p, run.Job{Signal: signal, RunID: "2", Attempt: "b"}); !errors.Is(err, privacy.ErrExhausted) {
		t.Fatalf("%v, want ErrExhausted", err)
	}
	if rand.Read(got[:]); !bytes.Equal(got[:], want[:]) {
		t.Error("noise was drawn for a release that the ledger refused")
	}
}

// TestNothingIsWrittenUnpaid: a release that no ledger has granted is not written
// back.
func TestNothingIsWrittenUnpaid(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &watched{Store: store}
	job := testkit.PaperJob()
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	m, p := testkit.Planned(t, s, job)
	r := must.Get(p.Perturb(exact(t, m.Graph, 2), job.RunID, nil))(t)
	if _, err := m.Complete(t.Context(), &graphcloak.Release{Release: r, Model: m.Settings}, job); err == nil || s.written > 0 {
		t.Errorf("a release without payment was written %d times (%v)", s.written, err)
	}
}

// TestNothingIsWrittenOnceGivenUp: a release that was paid for, kept and given up is not written back.
func TestNothingIsWrittenOnceGivenUp(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &watched{Store: store}
	job := testkit.PaperJob()
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	var kept *graphcloak.Release
	job.Keep = func(k *run.Kept) error {
		if kept = k.Release; kept == nil {
			return nil
		}
		return errors.New("killed")
	}
	m, _ := testkit.Planned(t, s, job)
	if _, err := m.Run(t.Context(), job); err == nil || kept == nil {
		t.Fatal("the run went on")
	}
	must.Get(privacy.MarkVoid(t.Context(), store.Ledger(), run.Scope(job.Signal), job.RunID))(t)
	if _, err := m.Complete(t.Context(), kept, job); !errors.Is(err, privacy.ErrReplay) || s.written > 0 {
		t.Errorf("completed: %v, written %d times", err, s.written)
	}
	if _, err := m.Publish(t.Context(), kept, job); !errors.Is(err, privacy.ErrReplay) || s.written > 0 {
		t.Errorf("published: %v, written %d times", err, s.written)
	}
}

// TestPlanChargesWhatWasCertified: the numbers that package sensitivity and package
// expm certify are those that the plan's noise is chosen for: the upper end of each
// bracket, the computing error of the whole vector for sources of norm up to √n, and
// the failure probability of a random screen.
func TestPlanChargesWhatWasCertified(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	job.Plan.Guarantee = privacy.PerSensor
	m, p := testkit.Planned(t, store, job)
	n := m.Graph.Order()
	l := laplacian.New(m.Graph, laplacian.Combinatorial)
	brackets := must.Get(sensitivity.PerSensor(t.Context(), sensitivity.Model{Graph: m.Graph, Laplacian: l, Tau: 2, Alpha: 1},
		sensitivity.Options{}))(t)
	if len(p.Sensors) != len(brackets) || len(brackets) != n {
		t.Fatalf("%d sensors, %d brackets", len(p.Sensors), len(brackets))
	}
	for k, b := range brackets {
		if !(b.Lower < b.Upper) || p.Sensors[k].Bound != b.Upper*(1+0x1p-30) { // so much for other machines
			t.Errorf("sensor %d is charged %v of [%v, %v]", k, p.Sensors[k].Bound, b.Lower, b.Upper)
		}
	}
	d := must.Get(expm.New(t.Context(), l, 2, expm.Options{}))(t)
	if eta := d.Err() * math.Sqrt(float64(n)); p.NormError < eta || p.NormError > eta*(1+1e-9) {
		t.Errorf("the computing error is charged at %v, want Err·√n = %v from above", p.NormError, eta)
	}
}

// TestPlanTakesTheScreensFailure: a sensitivity that a random screen helped to
// certify keeps its failure probability and its seed, in the plan and in the charge,
// and the noise is for δ − β. The coins are fixed.
func TestPlanTakesTheScreensFailure(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 79)
	g := must.Get(graph.BarabasiAlbert(1100, 4, 1))(t)
	var nodes, relationships strings.Builder
	nodes.WriteString("id,sensor\n")
	for i := range g.Order() {
		fmt.Fprintf(&nodes, "%d,%t\n", i, i%3 == 0)
	}
	relationships.WriteString("source,target\n")
	for e := range g.Edges() {
		fmt.Fprintf(&relationships, "%d,%d\n", e.U, e.V)
	}
	s, _ := testkit.Graph(t, nodes.String(), relationships.String())
	job := testkit.PaperJob()
	job.Settings = graphcloak.Settings{
		Tau: tau.At(1), Public: graphcloak.Public{Sensors: graph.SensorSelection{Property: "sensor"}},
		Method: expm.Chebyshev,
	}
	_, p := testkit.Planned(t, s, job)
	beta := p.Sensitivity.Failure
	if !(beta >= 1e-13*(1-1e-12) && beta <= 1e-12) || p.Sensitivity.Seed != p.Seed || p.Seed == [32]byte{} {
		t.Errorf("the sensitivity may fail with probability %v, seed %v of the plan's %x; want a tenth of 1e-12 at least", beta,
			p.Sensitivity.Seed, p.Seed)
	}
	c, err := p.Charge("s", "r", "a")
	if err != nil || c.Failure != beta || c.Certificate == (privacy.Digest{}) {
		t.Errorf("the charge has β = %v, certificate %v (%v); want %v", c.Failure, c.Certificate, err, beta)
	}
}

// TestWorstReadings: what an audit attacks are the readings of the two sources at the
// plan's worst relationship, no further apart than the plan charges, also where α
// permits only part of a source to move.
func TestWorstReadings(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for _, alpha := range []float64{1, 0.25, 3} {
		job := testkit.PaperJob()
		job.Plan.Alpha = alpha
		m, p := testkit.Planned(t, s, job)
		a, b, ok := m.WorstReadings(p.Plan)
		if !ok || len(a) != len(p.Sensors) || len(b) != len(a) {
			t.Fatalf("%d and %d readings of %d sensors (%v)", len(a), len(b), len(p.Sensors), ok)
		}
		kernel := testgraph.Heat(m.Graph, p.Tau)
		from, _ := m.Graph.Index(p.Sensitivity.Edge[0])
		to, _ := m.Graph.Index(p.Sensitivity.Edge[1])
		var square float64
		for k, s := range p.Sensors {
			moved := min(1, alpha)
			wantA, wantB := kernel.At(s.Node, from), (1-moved)*kernel.At(s.Node, from)+moved*kernel.At(s.Node, to)
			if math.Abs(a[k]-wantA) > 1e-9 || math.Abs(b[k]-wantB) > 1e-9 {
				t.Fatalf("α = %v, sensor %d: %v and %v, want %v and %v", alpha, k, a[k], b[k], wantA, wantB)
			}
			square += (a[k] - b[k]) * (a[k] - b[k])
		}
		if d := math.Sqrt(square); d > p.Sensitivity.Upper*(1+1e-9) || alpha <= 1 && d < p.Sensitivity.Upper*(1-1e-6) {
			t.Errorf("α = %v: the readings are %v apart, the plan charges %v", alpha, d, p.Sensitivity.Upper)
		}
	}
}

// TestAuditOfAllocatedPlan attacks allocated noise where it gives most away: the
// sources are the ends of the plan's worst relationship, and the distinguisher is
// the likelihood ratio. ε stays above what is found, and four fifths of the noise
// are refuted. Under fresh keys the first would fail with probability 1e-3 at most;
// the key is fixed.
func TestAuditOfAllocatedPlan(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	job.Plan.Allocation = graphcloak.Allocation{}
	job.Plan.Randomness = privacy.EscrowRandomness
	m, p := testkit.Planned(t, s, job)
	if p.Allocated == nil {
		t.Fatal("the plan's noise is uniform")
	}
	pair := worstPair(t, m.Model, p)
	escrow := must.Get(privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "audit", 1))(t)
	var noise [][]float64 // of every release, by the order of the calls: drawn once for both scales
	mechanism := func(scale float64) audit.Mechanism {
		calls := 0
		return func(y []float64) ([]float64, error) {
			if calls == len(noise) {
				r, err := p.Perturb(y, strconv.Itoa(calls), escrow)
				if err != nil {
					return nil, err
				}
				noise = append(noise, r.Values())
				floats.Sub(noise[calls], y)
			}
			v := slices.Clone(y)
			floats.AddScaled(v, scale, noise[calls])
			calls++
			return v, nil
		}
	}
	found := func(scale float64) float64 {
		r := must.Get(audit.Distinguish(t.Context(), mechanism(scale), pair, audit.Likelihood(p.Plan, pair),
			audit.Options{Delta: p.Delta, Trials: 30_000, Confidence: .999}))(t)
		return r.Epsilon
	}
	full, less := found(1), found(.8)
	t.Logf("ε = %v: at least %.3f with the noise of the plan, at least %.3f with four fifths of it", p.Epsilon, full, less)
	if full > p.Epsilon || full < .8*p.Epsilon {
		t.Errorf("the plan's noise: ε ≥ %v, want from %v to %v", full, .8*p.Epsilon, p.Epsilon)
	}
	if less <= p.Epsilon {
		t.Errorf("four fifths of the noise: ε ≥ %v, want above %v", less, p.Epsilon)
	}
}

// worstPair returns the exact readings of the plan's sensors for a source at each
// end of its worst relationship.
func worstPair(t *testing.T, m *plan.Model, p *graphcloak.Plan) audit.Pair {
	t.Helper()
	kernel := testgraph.Heat(m.Graph, p.Tau)
	column := func(end int) []float64 {
		node, ok := m.Graph.Index(p.Sensitivity.Edge[end])
		if !ok {
			t.Fatalf("no node %q", p.Sensitivity.Edge[end])
		}
		y := make([]float64, len(p.Sensors))
		for k, s := range p.Sensors {
			y[k] = kernel.At(s.Node, node)
		}
		return y
	}
	return audit.Pair{A: column(0), B: column(1)}
}
