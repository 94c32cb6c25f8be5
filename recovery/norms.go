// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/linop"
)

// Norms are the squared column norms N_i = ‖A e_i‖² of whitened data, between Low_i
// and High_i.
type Norms struct {
	N         []float64
	Low, High []float64 // nil: N is exact
}

// Beyond exactOrder nodes a product for each takes too long. Then normProbes random
// products bound every norm, but with probability normFailure. After them come exact
// norms, of normPeaks nodes at a time and mostPeaks at the most, until the rest
// leaves no more than leftOpen of the posterior and of the odds of the first two open.
const (
	exactOrder  = 10_000
	normProbes  = 256
	normFailure = 1e-9
	normPeaks   = 64
	mostPeaks   = 512
	leftOpen    = 0.01
)

// Norms returns the column norms: exact, from the entries where A holds a matrix, or
// by n products up to n = 10,000; beyond that bounded, as by [Data.ProbedNorms] with
// 256 probes, and exact at the nodes, 512 at most, that decide the posterior under a
// flat prior and amplitudes in [0, 1].
func (d Data) Norms(ctx context.Context) (Norms, error) {
	_, n := d.A.Dims()
	out := Norms{N: make([]float64, n)}
	if d.rowNorms(out.N) {
		return out, ctx.Err()
	}
	if n <= exactOrder {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return out, d.columnNorms(ctx, out.N, all)
	}
	return d.boundedNorms(ctx, normProbes, normPeaks, mostPeaks)
}

// boundedNorms probes, and then computes the norms that leave most of the posterior
// open, peaks at a time.
func (d Data) boundedNorms(ctx context.Context, probes, peaks, most int) (Norms, error) {
	out, err := d.ProbedNorms(ctx, probes, normFailure, 1)
	if err != nil || floats.Norm(d.Y, math.Inf(1)) == 0 {
		return out, err
	}
	n := len(out.N)
	c, at, weight := make([]float64, n), make([]int, n), make([]float64, n)
	d.A.MulVecTo(c, true, d.Y)
	e, declared := newEvidence(UniformAmplitude), linop.Err(d.A)
	exact := make([]bool, n)
	for done := 0; done < min(most, n); {
		for i := range c {
			at[i], weight[i] = i, e.log(c[i], out.N[i])
		}
		low, high := e.ends(c, out, d.blur())
		width := open(low, high, logSum(weight))
		if math.Exp(logSum(width)) <= leftOpen && contest(weight, low, high) <= leftOpen {
			break
		}
		for i, known := range exact {
			if known {
				width[i] = math.Inf(-1)
			}
		}
		slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(width[j], width[i]) })
		picks := at[:min(peaks, most-done, n)]
		if err := d.columnNorms(ctx, out.N, picks); err != nil {
			return Norms{}, err
		}
		for _, i := range picks {
			exact[i] = true
			out.Low[i], out.High[i] = widen(out.N[i], out.N[i], declared)
		}
		done += len(picks)
	}
	return out, nil
}

// widen makes of bounds on ‖A e_i‖² those for all A' with ‖A' − A‖₂ ≤ d.
func widen(low, high, d float64) (l, h float64) {
	if d == 0 {
		return low, high
	}
	l, h = max(0, math.Sqrt(low)-d), math.Sqrt(high)+d
	return l * l, h * h
}

// columnNorms sets the norms of the columns js.
func (d Data) columnNorms(ctx context.Context, norms []float64, js []int) error {
	m, _ := d.A.Dims()
	width := min(len(js), blockColumns(m))
	cols := make([]float64, m*width)
	for at := 0; at < len(js); at += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := js[at:min(at+width, len(js))]
		columnsTo(d.A, cols[:m*len(part)], part)
		for k, j := range part {
			norms[j] = floats.Dot(cols[k*m:(k+1)*m], cols[k*m:(k+1)*m])
		}
	}
	return ctx.Err()
}

// rowNorms adds up the squares row by row where A holds its entries.
func (d Data) rowNorms(sum []float64) bool {
	w, ok := d.A.(whitened)
	if !ok {
		w = whitened{a: d.A}
	}
	e := entries(w.a)
	if e == nil {
		return false
	}
	if !ok {
		m, _ := e.Dims()
		for s := range m {
			w.pick, w.root = append(w.pick, s), append(w.root, 1)
		}
	}
	for k, s := range w.pick {
		u := w.root[k] * w.root[k]
		for j, v := range e.RawRowView(s) {
			sum[j] += u * v * v
		}
	}
	return true
}

// ProbedNorms bounds the column norms by products of Aᵀ with r random vectors, for
// graphs where n products cost too much. Σ (Aᵀω)_i²/N_i is exactly χ²_r, so that with
// probability at least 1 − beta all N_i lie between Low_i and High_i, about
// (1 ∓ z√(2/r))·N_i with z the normal quantile of beta/2n. The error that A declares is
// added. The same seed gives the same bits.
//
// Proof: docs/proofs/recovery.md.
func (d Data) ProbedNorms(ctx context.Context, probes int, beta float64, seed uint64) (Norms, error) {
	m, n := d.A.Dims()
	if probes < 1 || !(beta > 0 && beta < 1) {
		return Norms{}, fmt.Errorf("%w: %d probes at beta %v, want at least 1 and between 0 and 1", ErrInvalid, probes, beta)
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	sum := make([]float64, n)
	const width = 16
	for at := 0; at < probes; at += width {
		if err := ctx.Err(); err != nil {
			return Norms{}, err
		}
		w := min(width, probes-at)
		in, out := make([]float64, m*w), make([]float64, n*w)
		for i := range in {
			in[i] = rnd.NormFloat64()
		}
		linop.MulBlockTo(d.A, out, true, in, w)
		for i := range sum {
			for _, v := range out[i*w : (i+1)*w] {
				sum[i] += v * v
			}
		}
	}
	chi := distuv.ChiSquared{K: float64(probes)}
	tail := beta / (2 * float64(n))
	// The upper tail by its own quantile: 1 − tail would lose the digits of tail.
	low, high := chi.Quantile(tail), 2*mathext.GammaIncRegCompInv(float64(probes)/2, tail)
	norms := Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	e := linop.Err(d.A)
	for i, s := range sum {
		norms.N[i] = s / float64(probes)
		norms.Low[i], norms.High[i] = widen(s/high, s/low, e)
	}
	return norms, nil
}
