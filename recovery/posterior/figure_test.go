// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// analyticRatio is σ/Δ₂ of the analytic Gaussian mechanism at ε = 4, δ = 0.1.
const analyticRatio = 0.485540335

// figureGraph is the paper's: two communities of 250 nodes, 5 % inside, 0.1 %
// across. (The printed caption has them the other way round.)
func figureGraph(rnd *rand.Rand) [][2]int {
	var edges [][2]int
	for i := range 500 {
		for j := range i {
			p := 0.001
			if i/250 == j/250 {
				p = 0.05
			}
			if rnd.Float64() < p {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return edges
}

// diffusion is e^{−τL} by uniformisation: Σ_k e^{−q} qᵏ/k! · Pᵏ with P = I − L/d,
// d the largest degree, q = τd, up to 12 standard deviations of the Poisson law;
// for τ/8, then squared three times.
func diffusion(n int, edges [][2]int, tau float64) *mat.Dense {
	degree := make([]float64, n)
	for _, e := range edges {
		degree[e[0]]++
		degree[e[1]]++
	}
	d := floats.Max(degree)
	q := tau / 8 * d
	out, x, y := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		x.Set(i, i, 1)
	}
	for k := range int(q + 12*math.Sqrt(q) + 12) {
		g, _ := math.Lgamma(float64(k + 1))
		floats.AddScaled(out.RawMatrix().Data, math.Exp(float64(k)*math.Log(q)-q-g), x.RawMatrix().Data)
		for i := range n {
			floats.ScaleTo(y.RawRowView(i), 1-degree[i]/d, x.RawRowView(i))
		}
		for _, e := range edges {
			floats.AddScaled(y.RawRowView(e[0]), 1/d, x.RawRowView(e[1]))
			floats.AddScaled(y.RawRowView(e[1]), 1/d, x.RawRowView(e[0]))
		}
		x, y = y, x
	}
	for range 3 {
		x.Mul(out, out)
		out, x = x, out
	}
	return out
}

// l2 is Δ₂ at α = 1 in hops: the largest ‖M_i − M_j‖ over the edges.
func l2(m *mat.Dense, edges [][2]int) float64 {
	largest := 0.0
	n, _ := m.Dims()
	for _, e := range edges {
		sum := 0.0
		for s := range n {
			d := m.At(e[0], s) - m.At(e[1], s) // M is symmetric: rows are faster
			sum += d * d
		}
		largest = max(largest, sum)
	}
	return math.Sqrt(largest)
}

// The paper's graph figure, at a fixed seed: 1,000 trials on 20 graphs. Over other
// seeds the rate was 0.856 ± 0.011 of sampling; at that rate a fresh seed falls
// below 0.80 with probability under 1e-6 (5 standard deviations).
//
// The sources have a = 1. A prior of a = 1 is then the truth and its confidence
// calibrated; the default prior U[0,1] names as well but claims less. Each posterior is
// that of an independent sum on the same trial.
func TestGraphFigure(t *testing.T) {
	const graphs, trials, seed = 20, 50, 3
	rnd := rand.New(rand.NewPCG(seed, 1))
	priors := []posterior.Amplitude{posterior.UniformAmplitude, posterior.UnitAmplitude}
	scores := make([]score, len(priors))
	labels := make([]int, 500)
	for i := range labels {
		labels[i] = i / 250
	}
	for range graphs {
		edges := figureGraph(rnd)
		op := diffusion(500, edges, 2)
		sigma := analyticRatio * l2(op, edges)
		var norms posterior.Norms
		for range trials {
			source := rnd.IntN(500)
			y := mat.Row(nil, source, op)
			for i := range y {
				y[i] += sigma * rnd.NormFloat64()
			}
			d, err := measurement.Whiten(linop.Dense{M: op}, y, measurement.Uniform(sigma, 500))
			if err != nil {
				t.Fatal(err)
			}
			if norms.N == nil {
				if norms, err = posterior.ColumnNorms(t.Context(), d, posterior.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			for i, prior := range priors {
				p, err := posterior.New(t.Context(), d, posterior.Options{Norms: &norms, Amplitude: prior})
				if err != nil {
					t.Fatal(err)
				}
				g, err := p.Groups(labels)
				if err != nil {
					t.Fatal(err)
				}
				if want := bayes(op, y, sigma, prior); math.Abs(g[0]-want) > 1e-3 {
					t.Errorf("prior %d: the first community has %v, by a sum over nodes and amplitudes %v", i, g[0], want)
				}
				scores[i].add(g, source/250)
			}
		}
	}
	for i, want := range []float64{0.08, 0.05} {
		rate, ece := scores[i].summary()
		t.Logf("seed %d, prior %d: right in %.3f of %d trials, expected calibration error %.3f", seed, i, rate, graphs*trials, ece)
		if rate < 0.80 {
			t.Errorf("prior %d: right in %.3f of the trials, want ≥ 0.80", i, rate)
		}
		if ece > want {
			t.Errorf("prior %d: expected calibration error %.3f, want ≤ %v", i, ece, want)
		}
	}
}

// bayes is the probability of the first 250 nodes, from likelihoods e^{−‖y − aM_i‖²/2σ²}
// summed over the nodes, at a = 1 or over a hundred amplitudes in [0, 1].
func bayes(m *mat.Dense, y []float64, sigma float64, prior posterior.Amplitude) float64 {
	amplitudes := []float64{1}
	if prior == posterior.UniformAmplitude {
		amplitudes = nil
		for k := range 100 {
			amplitudes = append(amplitudes, (float64(k)+.5)/100)
		}
	}
	first, all := 0.0, 0.0
	for i := range 500 {
		along, length := 0.0, 0.0
		for s, v := range m.RawRowView(i) { // M is symmetric
			along, length = along+v*y[s], length+v*v
		}
		for _, a := range amplitudes {
			w := math.Exp((a*along - a*a*length/2) / (sigma * sigma)) // ‖y‖² is the same for all
			all += w
			if i < 250 {
				first += w
			}
		}
	}
	return first / all
}

// score counts right answers and calibration, in ten bins of confidence.
type score [10]struct{ n, right, confidence float64 }

func (s *score) add(groups []float64, truth int) {
	named := floats.MaxIdx(groups)
	b := &s[min(9, int(10*groups[named]))]
	b.n++
	b.confidence += groups[named]
	if named == truth {
		b.right++
	}
}

func (s *score) summary() (rate, ece float64) {
	n := 0.0
	for _, b := range s {
		n += b.n
	}
	for _, b := range s {
		rate += b.right / n
		ece += math.Abs(b.right-b.confidence) / n
	}
	return rate, ece
}
