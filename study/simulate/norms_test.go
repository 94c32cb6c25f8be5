// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// loaded is the model of a graph of n nodes, whose node i has edges to others(i).
func loaded(t *testing.T, n int, others func(i int) []int) *plan.Model {
	t.Helper()
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(strconv.Itoa(i))))(t)
	}
	for i := range n {
		for _, j := range others(i) {
			must.Do(t, b.Connect(i, j, 1, 1))
		}
	}
	g := must.Get(b.Graph())(t)
	m := must.Get(run.Load(t.Context(), memory.FromGraph(g), plan.Settings{Tau: tau.At(1)}, plan.LoadOptions{}))(t)
	return m.Model
}

// planned is a plan of equal noise for it.
func planned(t *testing.T, m *plan.Model) *plan.Plan {
	t.Helper()
	options := plan.Options{Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, SensitivityTolerance: 10}
	options.Allocation.Uniform = true
	return must.Get(m.Plan(t.Context(), options))(t)
}

// checkNorms holds the column norms of a simulation against columns of M, of some nodes, and what
// it says of whether they were estimated.
func checkNorms(t *testing.T, m *plan.Model, p *plan.Plan, tolerance float64, estimated bool) {
	t.Helper()
	r := under(t, m, p, Options{Amplitude: 1, Common: true})
	n := m.Graph.Order()
	unit, column := make([]float64, n), make([]float64, n)
	for i := 0; i < n; i += 501 {
		clear(unit)
		unit[i] = 1
		must.Do(t, m.Operator.Diffusion.Apply(t.Context(), column, false, unit, 1))
		want := floats.Dot(column, column) / (p.Sigma() * p.Sigma())
		if r.Estimated != estimated || math.Abs(r.processes[0].norms.N[i]-want) > tolerance*want {
			t.Errorf("N[%d] = %v, want %v; estimated is %v", i, r.processes[0].norms.N[i], want, r.Estimated)
		}
	}
}

// Beyond 10,000 nodes a simulation has the column norms by balls where heat stays near: on a path
// with a star at every tenth node.
func TestNormsByBalls(t *testing.T) {
	m := loaded(t, exactNormsLimit+1, func(i int) []int {
		if i == 0 {
			return nil
		}
		return []int{i/10*10 - 10*btoi(i%10 == 0)}
	})
	checkNorms(t, m, planned(t, m), .01, false)
}

// Where heat spreads fast, along a random graph, norms are estimated, each within some 5 %.
func TestEstimatedNorms(t *testing.T) {
	const n = exactNormsLimit + 1
	random := rand.New(rand.NewPCG(1, 2))
	m := loaded(t, n, func(int) []int { return []int{random.IntN(n), random.IntN(n), random.IntN(n)} })
	checkNorms(t, m, planned(t, m), .25, true)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A simulation that is broken off releases no further trials.
func TestReleaseSeesTheEndOfItsContext(t *testing.T) {
	m := loaded(t, 20, func(i int) []int { return []int{max(0, i-1)} })
	r := under(t, m, planned(t, m), Options{})
	readings := [][]float64{make([]float64, 20)}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.release(ctx, readings, 0); !errors.Is(err, context.Canceled) || floats.Norm(readings[0], 1) != 0 {
		t.Errorf("%v, and %v is released; want that it is broken off", err, readings)
	}
}
