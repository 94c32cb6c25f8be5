// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"bytes"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
)

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
