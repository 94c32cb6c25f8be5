// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// tieTolerance is the relative difference below which two values count as equal.
const tieTolerance = 1e-9

// explainEdge explains why a relationship attains the sensitivity. With b = e_i − e_j, to
// first order in τ ‖S e^{-τL}b‖² is the number of ends with a sensor less 2τ times the heat
// flow out of them; for large τ only the slowest mode remains, and the norm is largest
// where that mode changes most.
func explainEdge(m sensitivity.Model, s *expm.Spectrum, worst [2]int) []string {
	e, ok := m.Graph.Edge(worst[0], worst[1])
	if !ok {
		return nil
	}
	var text []string
	if m.Sensors == nil {
		text = append(text, heatLossText(m, e))
	} else {
		text = append(text, sensorEndsText(m, e))
	}
	if !m.Graph.UnitLengths() {
		text = append(text, fmt.Sprintf("its length is %.4g, and differences count by unit of length: %s are shorter", e.Length,
			relationships(m, func(f graph.Edge) bool { return f.Length < e.Length })))
	}
	if s == nil || !symmetric(m) {
		return text // modes that are not orthogonal at the sensors have no shares
	}
	return append(text, modesText(m, s, e)...)
}

// heatLossText counts relationships from which less heat leaves: bᵀLb.
func heatLossText(m sensitivity.Model, e graph.Edge) string {
	d := m.Laplacian.Degrees()
	leaving := func(e graph.Edge) float64 {
		switch m.Laplacian.Kind() {
		case laplacian.Normalized:
			return 2 + 2*e.Weight/math.Sqrt(d[e.U]*d[e.V])
		case laplacian.RandomWalk:
			return 2 + e.Weight/d[e.U] + e.Weight/d[e.V]
		}
		return d[e.U] + d[e.V] + 2*e.Weight
	}
	slower := relationships(m, func(f graph.Edge) bool { return leaving(f)*(1+tieTolerance) < leaving(e) })
	return fmt.Sprintf("its ends have weights %.4g and %.4g in all, its own is %.4g: %s let heat leave more "+
		"slowly, which decides for small τ", d[e.U], d[e.V], e.Weight, slower)
}

// relationships says of how many a property holds.
func relationships(m sensitivity.Model, holds func(graph.Edge) bool) string {
	n := 0
	for e := range m.Graph.Edges() {
		if holds(e) {
			n++
		}
	}
	return fmt.Sprintf("%s of the %d relationships", countOrNone(n), m.Graph.Size())
}

// sensorEndsText counts relationships with more ends that carry a sensor.
func sensorEndsText(m sensitivity.Model, e graph.Edge) string {
	sensor := make([]bool, m.Graph.Order())
	for _, i := range m.Sensors {
		sensor[i] = true
	}
	of := func(e graph.Edge) (n int) {
		for _, i := range []int{e.U, e.V} {
			if sensor[i] {
				n++
			}
		}
		return n
	}
	return fmt.Sprintf("%s of its ends carry a sensor: %s have more, which decides for small τ", countOrNone(of(e)),
		relationships(m, func(f graph.Edge) bool { return of(f) > of(e) }))
}

func countOrNone(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// modesText says which eigenvectors contribute most of the squared difference.
func modesText(m sensitivity.Model, s *expm.Spectrum, e graph.Edge) []string {
	type mode struct {
		k     int
		share float64
	}
	v, lambda := s.Vectors(), s.Lambda()
	var list []mode
	total := 0.0
	base := lambda[s.Nullity()] // factored out, so that nothing underflows
	for k := s.Nullity(); k < len(lambda); k++ {
		d := v.At(k, e.U) - v.At(k, e.V)
		c := math.Exp(-2*m.Tau*(lambda[k]-base)) * d * d
		list = append(list, mode{k, c})
		total += c
	}
	slices.SortFunc(list, func(a, b mode) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.k, b.k)) })
	half, sum := 0, 0.0
	for sum < total/2 {
		sum += list[half].share
		half++
	}
	low, high := math.Inf(1), 0.0
	for _, c := range list[:half] {
		low, high = min(low, lambda[c.k]), max(high, lambda[c.k])
	}
	first := s.Nullity()
	change := func(f graph.Edge) float64 { return math.Abs(v.At(first, f.U) - v.At(first, f.V)) }
	steepest, gap := 0, change(e)
	for f := range m.Graph.Edges() {
		if change(f) > gap*(1+tieTolerance) {
			steepest++
		}
	}
	return []string{
		fmt.Sprintf("half of the squared difference comes from %d of %d modes, with λ from %.4g to %.4g", half, len(list), low, high),
		fmt.Sprintf("the slowest mode (λ = %.4g) changes more along %s of the relationships, which decides for large τ", lambda[first],
			countOrNone(steepest)),
	}
}

// lemmas evaluates the paper's bounds, and the sharper ones, on the bracket. They are
// about relationships of length 1 and a sensor at every node.
func (in *Inspection) lemmas(m sensitivity.Model, s *expm.Spectrum) {
	in.Bounds = []Bound{}
	if s == nil || !symmetric(m) || !m.Graph.UnitLengths() {
		in.note("the bounds of the paper's lemmas need all eigenpairs, hops, and a sensor at every node")
		return
	}
	a := alpha(m)
	lambda, first := s.Lambda(), s.Nullity()
	lower := func(statement string, v float64) {
		in.Bounds = append(in.Bounds, Bound{statement, v, v <= in.Sensitivity.Upper})
	}
	upper := func(statement string, v float64) {
		in.Bounds = append(in.Bounds, Bound{statement, v, v >= in.Sensitivity.Lower})
	}
	inverse := math.Exp(-m.Tau * lambda[len(lambda)-1])
	lower("Δ₂ ≥ α/κ₂", a*inverse)
	lower("Δ₂ ≥ √2·α/κ₂", math.Sqrt2*a*inverse)
	rows, all := 0.0, 0.0
	v := s.Vectors()
	for e := range m.Graph.Edges() {
		weighted, plain := 0.0, 0.0
		for k := first; k < len(lambda); k++ {
			d := math.Abs(v.At(k, e.U) - v.At(k, e.V))
			weighted += math.Exp(-m.Tau*lambda[k]) * d
			plain += d
		}
		rows, all = max(rows, weighted), max(all, plain)
	}
	decay := math.Exp(-m.Tau * lambda[first])
	upper("Δ₂ ≤ α·Σ e^{-τλ_k}|v_k(i) − v_k(j)|", a*rows)
	upper("Δ₂ ≤ α·e^{-τλ₂}·‖U_i − U_j‖₁", a*decay*all)
	upper("Δ₂ ≤ √2·α·e^{-τλ₂}", math.Sqrt2*a*decay)
}
