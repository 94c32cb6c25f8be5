// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// twoSources is a random problem of m sensors and n nodes with two sources.
func twoSources(rnd *rand.Rand, m, n int, scale float64) (linop.Dense, measurement.Data) {
	op := random(rnd, m, n)
	floats.Scale(scale, op.M.RawMatrix().Data)
	f, y := make([]float64, n), make([]float64, m)
	f[0], f[n-1] = 0.9, 0.5
	op.MulVecTo(y, false, f)
	for i := range y {
		y[i] += rnd.NormFloat64()
	}
	return op, measurement.Data{A: op, Y: y}
}

// pairIntegral is the evidence of two sources by Simpson's rule on the residuals, where
// each amplitude is 1 itself with probability unit.
func pairIntegral(op linop.Dense, y []float64, i, j, steps int, unit float64) float64 {
	m, _ := op.Dims()
	sum := 0.0
	for ka := range steps + 1 {
		for kb := range steps + 1 {
			w := 1.0
			for _, k := range [2]int{ka, kb} {
				v := 1.0
				if k > 0 && k < steps {
					v = 2 + 2*float64(k%2)
				}
				v *= 1 - unit
				if k == steps {
					v += unit * float64(3*steps)
				}
				w *= v
			}
			a, b, q := float64(ka)/float64(steps), float64(kb)/float64(steps), 0.0
			for s := range m {
				r := y[s] - a*op.M.At(s, i) - b*op.M.At(s, j)
				q += r*r - y[s]*y[s]
			}
			sum += w * math.Exp(-q/2)
		}
	}
	return sum / float64(9*steps*steps)
}

func TestPairsAgainstQuadrature(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 1))
	for k, scale := range []float64{0.3, 1, 4, 20, 0.3, 1, 4} {
		const n = 5
		amplitude, unit := posterior.UniformAmplitude, 0.0
		if k >= 4 {
			amplitude, unit = posterior.MixedAmplitude, 0.5
		}
		op, d := twoSources(rnd, 4, n, scale)
		prior := []float64{1, 2, 0.5, 1, 3}
		p := must.Get(posterior.NewPairs(t.Context(), d, posterior.Options{Prior: prior, Amplitude: amplitude}))(t)
		var want [n][n]float64
		total, mass := 0.0, 0.0
		for j := range n {
			for i := range j {
				want[i][j] = prior[i] * prior[j] * pairIntegral(op, d.Y, i, j, 600, unit)
				total += want[i][j]
				mass += prior[i] * prior[j]
			}
		}
		for j := range n {
			for i := range j {
				if got := p.At(j, i); math.Abs(got-want[i][j]/total) > 1e-7 {
					t.Errorf("scale %v: P(%d, %d) = %v, want %v", scale, i, j, got, want[i][j]/total)
				}
			}
		}
		if math.Abs(p.LogPresence-math.Log(total/mass)) > 1e-6 {
			t.Errorf("scale %v: log presence %v, want %v", scale, p.LogPresence, math.Log(total/mass))
		}
		if math.Abs(floats.Sum(p.Probability)-2) > 1e-12 {
			t.Errorf("scale %v: probabilities sum to %v, want 2", scale, floats.Sum(p.Probability))
		}
		g := must.Get(p.Groups([]int{0, 0, 1, 1, 1}))(t)
		for _, pair := range [][2]int{{2, 2}, {-1, 2}, {2, -1}, {0, len(want)}, {len(want), len(want) + 1}} {
			if got := p.At(pair[0], pair[1]); got != 0 {
				t.Errorf("%v is no pair of nodes and has the probability %v", pair, got)
			}
		}
		if want := 1 - p.At(2, 3) - p.At(2, 4) - p.At(3, 4); math.Abs(g[0]-want) > 1e-12 {
			t.Errorf("scale %v: P(a source in group 0) = %v, want %v", scale, g[0], want)
		}
	}
}

func TestSourcesRefuse(t *testing.T) {
	_, d := twoSources(rand.New(rand.NewPCG(25, 1)), 3, 4, 1)
	_, single := twoSources(rand.New(rand.NewPCG(25, 1)), 3, 1, 1)
	one := []float64{0, 0, 1, 0}
	if _, err := posterior.NewPairs(t.Context(), single, posterior.Options{}); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("pairs of one node: %v", err)
	}
	if _, err := posterior.NewPairs(t.Context(), d, posterior.Options{Prior: one}); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("pairs at one node: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := posterior.Second(ctx, d, posterior.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := posterior.NewPairs(ctx, d, posterior.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPairsInBlocks: more columns than are held at once give what the definition of the evidence gives, to 1e-13 of its size.
func TestPairsInBlocks(t *testing.T) {
	const n = 150
	op, d := twoSources(rand.New(rand.NewPCG(27, 1)), 6, n, .5)
	p := must.Get(posterior.NewPairs(t.Context(), d, posterior.Options{Amplitude: posterior.UnitAmplitude}))(t)
	total := 0.0
	like := func(i, j int) float64 {
		q := 0.0
		for s, y := range d.Y {
			r := y - op.M.At(s, i) - op.M.At(s, j)
			q += r*r - y*y
		}
		return math.Exp(-q / 2)
	}
	for j := range n {
		for i := range j {
			total += like(i, j)
		}
	}
	for j := range n {
		for i := range j {
			if want := like(i, j) / total; math.Abs(p.At(i, j)-want) > 1e-13 {
				t.Errorf("%d and %d: %v, want %v", i, j, p.At(i, j), want)
			}
		}
	}
}
