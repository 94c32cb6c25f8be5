// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/privacy"
)

// Beyond 10,000 nodes a simulation has the column norms by balls where heat stays near.
func TestNormsByBalls(t *testing.T) {
	const n = exactNormsLimit + 1
	var nodes, edges strings.Builder
	nodes.WriteString("id\n")
	edges.WriteString("source,target\n")
	for i := range n {
		nodes.WriteString(strconv.Itoa(i) + "\n")
		if i > 0 { // a path with a star at every tenth node
			edges.WriteString(strconv.Itoa(i/10*10-10*btoi(i%10 == 0)) + "," + strconv.Itoa(i) + "\n")
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
	defer s.Close(t.Context())
	m, err := graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: 1}, graphcloak.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	options := graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, SensitivityTolerance: 10}
	options.Allocation.Uniform = true
	p, err := m.Plan(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEvaluator(t.Context(), m, Options{Trials: 1, Amplitude: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.newSimulation(t.Context(), p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	unit, column := make([]float64, n), make([]float64, n)
	for i := 0; i < n; i += 501 {
		clear(unit)
		unit[i] = 1
		if err := m.Operator().Diffusion.Apply(t.Context(), column, false, unit, 1); err != nil {
			t.Fatal(err)
		}
		want := floats.Dot(column, column) / (p.Sigma() * p.Sigma())
		if e.estimated || math.Abs(r.norms.N[i]-want) > .01*want {
			t.Errorf("N[%d] = %v, want %v", i, r.norms.N[i], want)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
