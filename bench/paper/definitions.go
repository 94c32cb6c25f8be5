// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// definitions evaluates what the paper defines, or prints with a slip, in both
// readings, on small examples.
func definitions(ctx context.Context, r *runner) error {
	g, err := graph.Path(10)
	if err != nil {
		return err
	}
	s, err := expm.Decompose(ctx, laplacian.New(g, laplacian.Combinatorial), nil)
	if err != nil {
		return err
	}
	m := s.Kernel(1, 0)
	r.neighbours(g, m)
	r.mass(m)
	if err := r.jointly(g, m); err != nil {
		return err
	}
	r.flows()
	r.condition(g, m)
	r.intermediate()
	r.coherence(m)
	if err := r.indices(ctx); err != nil {
		return err
	}
	r.lists()
	r.constantOne()
	return nil
}

// neighbours reads "e_i, e_j neighbours" as the paper's definition has it: at a
// distance of at most α.
func (r *runner) neighbours(g *graph.Graph, m *mat.Dense) {
	const alpha = .5
	literal, real := 0.0, 0.0
	for i, row := range hops(g) {
		for j := range i {
			d := columnDistance(m, i, j)
			if row[j] <= alpha {
				literal = max(literal, alpha*d)
			}
			real = max(real, alpha*d/row[j])
		}
	}
	moved := columnDistance(m, 0, 1) / 2 // from e_0 to (e_0 + e_1)/2, at EMD 1/2
	r.claim("neighbours", literal >= moved, real >= moved,
		"on a path at α = ½ no pair is that near, so that the printed form is %g; half of a source moved by a hop makes a "+
			"difference of %.4f, and the true form is %.4f", literal, moved, real)
}

// mass compares totals of measurements: diffusion keeps them.
func (r *runner) mass(m *mat.Dense) {
	worst := 0.0
	for i := range m.RawMatrix().Rows {
		worst = max(worst, math.Abs(mat.Sum(m.ColView(i))-1))
	}
	r.claim("mass", false, worst < 1e-12,
		"columns of e^{-τL} add up to 1 within %.1g", worst)
}

// jointly compares noise for each sensor's own sensitivity with noise for Δ₂, by the
// ε of the vector of all measurements.
func (r *runner) jointly(g *graph.Graph, m *mat.Dense) error {
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-5}
	c, err := privacy.Analytic{}.Sigma(budget, 1)
	if err != nil {
		return err
	}
	n := g.Order()
	own, joint := make([]float64, n), 0.0
	for e := range g.Edges() {
		joint = max(joint, columnDistance(m, e.U, e.V))
		for s := range own {
			own[s] = max(own[s], math.Abs(m.At(s, e.U)-m.At(s, e.V)))
		}
	}
	mu := 0.0
	for e := range g.Edges() {
		sum := 0.0
		for s := range own {
			d := (m.At(s, e.U) - m.At(s, e.V)) / (c * own[s])
			sum += d * d
		}
		mu = max(mu, math.Sqrt(sum))
	}
	var eps [3]float64 // each by itself, all, all twice
	for i, mu := range []float64{mu, 1 / c, math.Sqrt2 / c} {
		if eps[i], err = privacy.GDPEpsilon(mu, budget.Delta); err != nil {
			return err
		}
	}
	within := func(e float64) bool { return e <= budget.Epsilon*(1+1e-6) }
	r.claim("jointly", within(eps[0]), within(eps[1]) && !within(eps[2]),
		"on a path of 10 at ε = 1, δ = 10⁻⁵: noise for each sensor's own sensitivity gives the vector ε = %.3f, noise for Δ₂ "+
			"%.3f, and two releases %.3f", eps[0], eps[1], eps[2])
	return nil
}

// flows reads the constraints of the printed definition of EMD.
func (r *runner) flows() {
	p := []float64{1, 0}
	// Σ_i f_ij ≤ q_i for all i, as printed, bounds every column by the least q_i.
	printed := float64(len(p)) * floats.Min(p)
	r.claim("emd-indices", printed >= 1, floats.Sum(p) >= 1,
		"from (1, 0) to itself the printed constraints let %g flow and demand 1; the true ones %g", printed, floats.Sum(p))
}

// condition reads two indices around κ₂.
func (r *runner) condition(g *graph.Graph, m *mat.Dense) {
	least, most := math.Inf(1), 0.0
	for e := range g.Edges() {
		d := columnDistance(m, e.U, e.V)
		least, most = min(least, d), max(most, d)
	}
	pairs := 0.0
	for i, row := range hops(g) {
		for j := range i {
			pairs = max(pairs, columnDistance(m, i, j)/row[j])
		}
	}
	r.claim("least-difference", relative(least, pairs) < slack, relative(most, pairs) < slack,
		"on a path at τ = 1, α = 1: least %.4f, largest %.4f, Δ₂ = %.4f", least, most, pairs)
	var svd mat.SVD
	wide := mat.NewDense(1, 2, []float64{3, 4})
	values := 0
	if svd.Factorize(wide, mat.SVDNone) {
		values = len(svd.Values(nil))
	}
	rows, columns := wide.Dims()
	r.claim("condition-number", values >= max(rows, columns), values == min(rows, columns),
		"a matrix of %d × %d has %d", rows, columns, values)
}

// intermediate compares the two sides of the last step of the lemma's proof.
func (r *runner) intermediate() {
	first, sharper := 0, true
	for n := 2; n <= 10_000; n++ {
		k := float64(n)
		right := math.Pow(k+1, 1.5)
		if (math.Sqrt(k)+1)*(k-1) > right && first == 0 {
			first = n
		}
		sharper = sharper && (math.Sqrt(k)+1)*math.Sqrt(k-1) <= right
	}
	r.claim("spectrum-step", first == 0, sharper,
		"the printed step fails from n = %d, the other holds up to n = 10,000", first)
}

// columnCoherence is the largest |⟨M_i, M_j⟩| of normalised columns.
func columnCoherence(m *mat.Dense, diagonal bool) float64 {
	_, n := m.Dims()
	best := 0.0
	for i := range n {
		for j := range i + 1 {
			if i == j && !diagonal {
				continue
			}
			x, y := m.ColView(i), m.ColView(j)
			best = max(best, math.Abs(mat.Dot(x, y))/(mat.Norm(x, 2)*mat.Norm(y, 2)))
		}
	}
	return best
}

// coherence evaluates μ in both readings, and the sparsity 1/3μ that Tropp's theorem
// allows.
func (r *runner) coherence(m *mat.Dense) {
	identity := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	printed, without := columnCoherence(identity, true), columnCoherence(identity, false)
	r.claim("coherence", 1/(3*printed) >= 1, without == 0,
		"of orthonormal columns μ is %g as printed, which allows k ≤ %.2g sources, and %g without i = j",
		printed, 1/(3*printed), without)
	coherent := columnCoherence(m, false)
	r.claim("incoherent", 1/(3*coherent) >= 1, 3*without < 1,
		"e^{-L} of a path has μ = %.3f, and k ≤ 1/3μ = %.2f admits no source; orthonormal columns admit any number",
		coherent, 1/(3*coherent))
}

// indices puts sensors where A_ij has them, and counts what R returns.
func (r *runner) indices(ctx context.Context) error {
	const m, n, source = 50, 100, 76
	g := func(x float64) float64 { return math.Exp(-x * x / (4 * .05)) }
	loudest := func(entry func(sensor int) float64) int {
		best := 1
		for i := 2; i <= m; i++ {
			if entry(i) > entry(best) {
				best = i
			}
		}
		return best
	}
	printed := loudest(func(i int) float64 { return g(float64(i)/n - float64(source)/m) })
	form := loudest(func(i int) float64 { return g(float64(source)/n - float64(i)/m) })
	r.claim("interval-matrix", 2*printed == source, 2*form == source,
		"a source at 0.76 is heard loudest at %.2f as printed, at %.2f in the true form", float64(printed)/m, float64(form)/m)
	v, err := newInterval(m, n, .05, .1)
	if err != nil {
		return err
	}
	f := peaks(n, .76)
	d, err := v.data(f, r.random("definitions", 0).NormFloat64)
	if err != nil {
		return err
	}
	res, _, err := recovery.Recover(ctx, d, recovery.ColumnGeneration{}, recovery.Auto, nil)
	if err != nil {
		return err
	}
	r.claim("estimate", len(res.F) == m, len(res.F) == n,
		"R returns %d entries; there are %d measurements and %d places", len(res.F), m, n)
	return nil
}

// lists checks the order of the sensors around a source, and the mass of a vector of
// the lower bound.
func (r *runner) lists() {
	const p, m = 5, 50
	spread := func(right func(j int) float64) float64 {
		least, most := math.Inf(1), 0.0
		for j := 1; j <= p; j++ {
			d := right(j) + float64(p+1-j)/m // from the j-th on the left, which ascend
			least, most = min(least, d), max(most, d)
		}
		return most - least
	}
	printed := spread(func(j int) float64 { return float64(p+1-j) / m })
	form := spread(func(j int) float64 { return float64(j) / m })
	r.claim("order-of-sensors", printed < 1e-12, form < 1e-12,
		"distances of s_j and s_{j+p}, which the proof takes as equal, differ by %.3f as printed, by %.1g in the true order (p = "+
			"%d, m = %d)", printed, form, p, m)
	const a = .25
	number := .25 + .5 + .25*math.Exp(.5+a)
	r.claim("packing-vector", number == 1, .25+.5+.25 == 1.0,
		"with a power the mass is %.3f at a = ¼, with a unit vector %g", number, .25+.5+.25)
}

// constantOne evaluates the step before the constant C₁ in units of
// e^{-1/32}/(mT³), and a sum of the appendix.
func (r *runner) constantOne() {
	step := (1 - 1.0/16) / (16 * math.Pi) / 2 // −W''/2 with |z − s| = √(T/8)
	r.claim("constant-1", step >= 17.0/512, relative(step, 15/(512*math.Pi)) < 1e-12,
		"the step before gives %.6f; 17/512 is %.6f, 15/(512π) is %.6f", step, 17.0/512, 15/(512*math.Pi))
	const m = 40.0
	printed, form := 0.0, 0.0
	for p := 2.0; p <= 20; p++ {
		sum := 0.0
		for j := 1.0; j <= p; j++ {
			sum += j / m * (p/m - j/m)
		}
		printed = max(printed, relative(p*(p+1)*(p+1)/(6*m*m), sum))
		form = max(form, relative(p*(p*p-1)/(6*m*m), sum))
	}
	r.claim("sum-of-distances", printed < 1e-12, form < 1e-12,
		"off by up to a factor of %.3g as printed, by %.1g in the true form, p = 2 … 20", 1+printed, form)
}
