// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/laplacian"
)

// slack is the relative rounding that an inequality between computed values of
// order 1 is granted.
const slack = 1e-9

// entryRounding bounds the rounding of a difference of two columns of a kernel.
const entryRounding = 1e-13

// family is a random connected graph with its heat kernel. Sizes, weights and τ are
// drawn; sources are every node, neighbours are adjacent, α = 1 hop.
type family struct {
	g        *graph.Graph
	tau      float64
	spectrum *expm.Spectrum
	m        *mat.Dense // e^{-τL}
	delta    float64    // max over relationships of ‖M_i − M_j‖₂
	hops     [][]float64
}

// randomGraph returns a connected graph of 4 to 16 nodes: a random tree and a share
// of the other pairs, half of the time with weights in [0.2, 3).
func randomGraph(rnd *rand.Rand) (*graph.Graph, error) {
	var b graph.Builder
	n, p, weighted := 4+rnd.IntN(13), rnd.Float64(), rnd.IntN(2) == 0
	weight := func() float64 {
		if weighted {
			return .2 + 2.8*rnd.Float64()
		}
		return 1
	}
	for i := 1; i < n; i++ {
		parent := rnd.IntN(i)
		for j := range i {
			if j == parent || rnd.Float64() < p*p {
				if err := b.AddEdge(graph.ID(strconv.Itoa(i)), graph.ID(strconv.Itoa(j)), weight()); err != nil {
					return nil, err
				}
			}
		}
	}
	return b.Graph()
}

func newFamily(ctx context.Context, rnd *rand.Rand) (*family, error) {
	g, err := randomGraph(rnd)
	if err != nil {
		return nil, err
	}
	f := &family{g: g, tau: math.Exp(math.Log(.05) + rnd.Float64()*math.Log(2/.05))}
	if f.spectrum, err = expm.Decompose(ctx, laplacian.New(g, laplacian.Combinatorial), nil); err != nil {
		return nil, err
	}
	f.m = f.spectrum.Kernel(f.tau, 0)
	f.delta, _ = spectral(g, f.spectrum, f.tau)
	f.hops = hops(g)
	return f, nil
}

// hops returns all distances in a graph of lengths 1.
func hops(g *graph.Graph) [][]float64 {
	out := make([][]float64, g.Order())
	for s := range out {
		out[s] = emd.Lengths(g, s)
	}
	return out
}

func columnDistance(m mat.Matrix, i, j int) float64 {
	r, _ := m.Dims()
	sum := 0.0
	for s := range r {
		d := m.At(s, i) - m.At(s, j)
		sum += d * d
	}
	return math.Sqrt(sum)
}

// law is an inequality left ≤ right that is checked on every member.
type law struct {
	name, printed, form string
	check               func(f *family) (left, right float64)
}

func (f *family) diameter() (d float64) {
	for _, row := range f.hops {
		d = max(d, floats.Max(row))
	}
	return d
}

// singular returns the singular values of e^{-τL}, descending.
func (f *family) singular() []float64 { return f.spectrum.Decay(f.tau) }

// rowBound is max over relationships of Σ_{k≥2} weight_k·|v_k(i) − v_k(j)|.
func (f *family) rowBound(weight func(lambda float64) float64) float64 {
	best := 0.0
	v := f.spectrum.Vectors()
	for e := range f.g.Edges() {
		sum := 0.0
		for k := 1; k < f.g.Order(); k++ {
			sum += weight(f.spectrum.Lambda()[k]) * math.Abs(v.At(k, e.U)-v.At(k, e.V))
		}
		best = max(best, sum)
	}
	return best
}

func laws() []law {
	return []law{
		{name: "ill-conditioned", printed: "Δ₂ ≥ α/κ₂", form: "", check: func(f *family) (float64, float64) {
			s := f.singular()
			return s[len(s)-1] / s[0], f.delta
		}},
		{name: "ill-conditioned, sharper", form: "Δ₂ ≥ √2·α/κ₂", check: func(f *family) (float64, float64) {
			s := f.singular()
			return math.Sqrt2 * s[len(s)-1] / s[0], f.delta
		}},
		{name: "spectrum", printed: "Σ of the other s_i ≤ (n+1)^{3/2}·ρν/α", check: func(f *family) (float64, float64) {
			s := f.singular()
			return floats.Sum(s[1:]), math.Pow(float64(len(s))+1, 1.5) * f.diameter() * f.delta
		}},
		{name: "spectrum, sharper", form: "Σ of the other s_i ≤ (√n + 1)·√(n−1)·ρν/α", check: func(f *family) (float64, float64) {
			s := f.singular()
			n := float64(len(s))
			return floats.Sum(s[1:]), (math.Sqrt(n) + 1) * math.Sqrt(n-1) * f.diameter() * f.delta
		}},
		{
			name: "rows of singular vectors", printed: "Δ₂ ≤ Σ_{k≥2} e^{-τs_k}|(U_i)_k − (U_j)_k|, over neighbours",
			check: func(f *family) (float64, float64) {
				return f.delta, f.rowBound(func(l float64) float64 { return math.Exp(-f.tau * l) })
			},
		},
		{name: "rows of singular vectors, corollary", printed: "Δ₂ ≤ e^{-τs₂}·‖U_i − U_j‖₁", check: func(f *family) (float64, float64) {
			return f.delta, math.Exp(-f.tau*f.spectrum.Lambda()[1]) * f.rowBound(func(float64) float64 { return 1 })
		}},
		{name: "algebraic connectivity", form: "Δ₂ ≤ √2·α·e^{-τs₂}", check: func(f *family) (float64, float64) {
			return f.delta, math.Sqrt2 * math.Exp(-f.tau*f.spectrum.Lambda()[1])
		}},
		{
			name: "relationships suffice", form: "max over pairs of ‖M_i − M_j‖/d(i, j) = max over relationships",
			check: func(f *family) (float64, float64) {
				pairs, neighbours := 0.0, 0.0
				for i := range f.hops {
					for j := range i {
						d := columnDistance(f.m, i, j)
						pairs = max(pairs, d/f.hops[i][j])
						if f.hops[i][j] == 1 {
							neighbours = max(neighbours, d)
						}
					}
				}
				return pairs, neighbours + entryRounding // entries of order 1 are subtracted
			},
		},
		{name: "converse of spectrum, for entries ≥ 0", form: "Δ₂ ≤ √6·ν", check: func(f *family) (float64, float64) {
			return f.delta, math.Sqrt(6) * f.nu()
		}},
	}
}

// nu is the least ν that the premises of the converse allow: the sum of all singular
// values but the largest, and the largest difference of neighbours' column norms.
func (f *family) nu() float64 {
	nu := floats.Sum(f.singular()[1:])
	for e := range f.g.Edges() {
		nu = max(nu, math.Abs(mat.Norm(f.m.ColView(e.U), 2)-mat.Norm(f.m.ColView(e.V), 2)))
	}
	return nu
}

// lemmas counts violations on a seeded family of random graphs.
func lemmas(ctx context.Context, r *runner) error {
	n := r.trials(1500)
	list := laws()
	var mu sync.Mutex
	worst, violated, norms := make([]float64, len(list)), make([]int, len(list)), 0.0
	err := r.each(ctx, "graphs", n, func(ctx context.Context, k int) error {
		f, err := newFamily(ctx, r.random("lemmas", k))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		norms = max(norms, f.rowNorms())
		for i, l := range list {
			left, right := l.check(f)
			worst[i] = max(worst[i], left/right)
			if left > right*(1+slack) {
				violated[i]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t := r.table("lemmas", fmt.Sprintf("Inequalities on %d random graphs of 4 to 16 nodes; tightest is the largest left side "+
		"over right side", n),
		"statement,printed,form,violations,tightest")
	held := map[string]bool{}
	for i, l := range list {
		held[l.name] = violated[i] == 0
		t.add(l.name, l.printed, l.form, violated[i], worst[i])
		r.Claims = append(r.Claims, Claim{
			Statement: "Lemma, " + l.name, Printed: l.printed, True: l.form, PrintedHolds: l.printed != "" && held[l.name],
			TrueHolds: held[l.name],
			Found:     fmt.Sprintf("%d violations in %d graphs; left/right at most %.3f", violated[i], n, worst[i]),
		})
	}
	r.counterexamples(held)
	r.leverage(norms)
	return r.additions(ctx, n)
}

// counterexamples are matrices on which printed statements fail; held says which laws
// hold on the family of graphs.
func (r *runner) counterexamples(held map[string]bool) {
	wide := mat.NewDense(1, 2, []float64{1 / math.Sqrt2, 1 / math.Sqrt2})
	r.claim("wide-matrix", columnDistance(wide, 0, 1) >= 1, held["ill-conditioned"],
		"M = [1 1]/√2 has κ₂ = 1 and Δ₂ = %g", columnDistance(wide, 0, 1))
	signed := mat.NewDense(1, 2, []float64{1, -1})
	r.claim("converse", columnDistance(signed, 0, 1) <= 0, held["converse of spectrum, for entries ≥ 0"],
		"M = [1 −1] has ν = 0, since its columns have equal norms and its only other singular value is none, and Δ₂ = %g",
		columnDistance(signed, 0, 1))
	one, both := []float64{1, 0}, []float64{1, 1}
	// On two places a unit apart, mass 1 flows at no cost as far as places share it.
	moved := 1 - math.Min(one[0], both[0]) - math.Min(one[1], both[1])
	difference := floats.Distance(one, both, 2)
	r.claim("unequal-masses", moved > 0, moved == 0 && difference > 0,
		"f = (1, 0) and f' = (1, 1) are at EMD %g by the printed form, and ‖Mf − Mf'‖₂ = %g under M = I", moved, difference)
}

// rowNorms is how far the rows of the matrix of all eigenvectors are from norm 1.
func (f *family) rowNorms() float64 {
	worst := 0.0
	for i := range f.g.Order() {
		worst = max(worst, math.Abs(mat.Norm(f.spectrum.Vectors().ColView(i), 2)-1))
	}
	return worst
}

func (r *runner) leverage(worst float64) {
	r.claim("leverage", true, worst < 1e-12,
		"norms of rows are within %.1g of 1", worst)
}

// additions adds a relationship to random graphs: λ₂ cannot fall, Δ₂ can rise.
func (r *runner) additions(ctx context.Context, n int) error {
	type change struct{ connectivity, sensitivity float64 }
	found := make([]*change, n)
	err := r.each(ctx, "added relationships", n, func(ctx context.Context, k int) error {
		f, err := newFamily(ctx, r.random("additions", k))
		if err != nil {
			return err
		}
		g, err := f.withOneMore(r.random("added", k))
		if err != nil || g == nil {
			return err
		}
		s, err := expm.Decompose(ctx, laplacian.New(g, laplacian.Combinatorial), nil)
		if err != nil {
			return err
		}
		delta, _ := spectral(g, s, f.tau)
		found[k] = &change{s.Lambda()[1] / f.spectrum.Lambda()[1], delta / f.delta}
		return nil
	})
	if err != nil {
		return err
	}
	added, rose, fell := 0, 0, 0
	for _, c := range found {
		if c == nil {
			continue
		}
		added++
		if c.sensitivity > 1+slack {
			rose++
		}
		if c.connectivity < 1-slack {
			fell++
		}
	}
	r.claim("connectivity", rose == 0, fell == 0 && rose > 0,
		"of %d single relationships added, λ₂ fell in %d, and Δ₂ rose in %d (%.1f %%)",
		added, fell, rose, 100*float64(rose)/float64(max(1, added)))
	return nil
}

// withOneMore adds a relationship of weight 1 between two nodes that have none; nil
// where every pair has one.
func (f *family) withOneMore(rnd *rand.Rand) (*graph.Graph, error) {
	var pairs [][2]int
	for i, row := range f.hops {
		for j := range i {
			if row[j] > 1 {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	var b graph.Builder
	for e := range f.g.Edges() {
		if err := b.AddEdge(f.g.ID(e.U), f.g.ID(e.V), e.Weight); err != nil {
			return nil, err
		}
	}
	p := pairs[rnd.IntN(len(pairs))]
	if err := b.AddEdge(f.g.ID(p[0]), f.g.ID(p[1]), 1); err != nil {
		return nil, err
	}
	return b.Graph()
}
