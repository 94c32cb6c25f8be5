// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// loaded is the model of a graph beyond the order of exact norms, whose node i has edges to others(i).
func loaded(t *testing.T, n int, others func(i int) []int) *plan.Model {
	t.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id\n")
	edges.WriteString("source,target\n")
	for i := range n {
		nodes.WriteString(strconv.Itoa(i) + "\n")
		for _, j := range others(i) {
			edges.WriteString(strconv.Itoa(j) + "," + strconv.Itoa(i) + "\n")
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": nodes.String(), "relationships.csv": edges.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	m, err := run.Load(t.Context(), s, plan.Settings{Tau: 1}, plan.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Model
}

// planned is a plan of equal noise for it.
func planned(t *testing.T, m *plan.Model) *plan.Plan {
	t.Helper()
	options := plan.Options{Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, SensitivityTolerance: 10}
	options.Allocation.Uniform = true
	p, err := m.Plan(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkNorms holds the column norms of a simulation against columns of M, of some nodes, and what
// it says of whether they were estimated.
func checkNorms(t *testing.T, m *plan.Model, p *plan.Plan, tolerance float64, estimated bool) {
	t.Helper()
	e, err := newEvaluator(t.Context(), m, Options{Trials: 1, Amplitude: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.newSimulation(t.Context(), p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	n := m.Graph.Order()
	unit, column := make([]float64, n), make([]float64, n)
	for i := 0; i < n; i += 501 {
		clear(unit)
		unit[i] = 1
		if err := m.Operator.Diffusion.Apply(t.Context(), column, false, unit, 1); err != nil {
			t.Fatal(err)
		}
		want := floats.Dot(column, column) / (p.Sigma() * p.Sigma())
		if e.estimated != estimated || math.Abs(r.norms.N[i]-want) > tolerance*want {
			t.Errorf("N[%d] = %v, want %v; estimated is %v", i, r.norms.N[i], want, e.estimated)
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

// Where heat spreads fast, along a random graph, norms are estimated, each within some 5 %, and a
// simulation says so.
func TestEstimatedNorms(t *testing.T) {
	const n = exactNormsLimit + 1
	random := rand.New(rand.NewPCG(1, 2))
	m := loaded(t, n, func(int) []int { return []int{random.IntN(n), random.IntN(n), random.IntN(n)} })
	p := planned(t, m)
	checkNorms(t, m, p, .25, true)
	e, err := Evaluate(t.Context(), m, p, Options{Trials: 1, Amplitude: 1, Recover: analyst.Options{FalseAlarm: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(e.Notes, "column norms were estimated by 1024 random products") {
		t.Errorf("notes are %q", e.Notes)
	}
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
	e, err := newEvaluator(t.Context(), m, Options{Trials: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.newSimulation(t.Context(), planned(t, m).Plan)
	if err != nil {
		t.Fatal(err)
	}
	readings := [][]float64{make([]float64, 20)}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.release(ctx, readings, 0); !errors.Is(err, context.Canceled) || floats.Norm(readings[0], 1) != 0 {
		t.Errorf("%v, and %v is released; want that it is broken off", err, readings)
	}
}
