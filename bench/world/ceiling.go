// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/graphcloak/graphcloak/expm"
)

// ceiling returns the power, at a level, of the test that is best against one misfit alone
// (J. Neyman and E. S. Pearson, 1933): that of the likelihood ratio. It is given the logarithms of the ratios of
// trials of the misfit. Where the model holds, the ratio exceeds t with the probability E(1/r; r > t)
// over the misfit, so that no trial of the model is needed, however small the level.
func ceiling(logRatios []float64, level float64) float64 {
	logs := slices.SortedFunc(slices.Values(logRatios), func(x, y float64) int { return cmp.Compare(y, x) })
	n := float64(len(logs))
	size := 0.0
	for k, l := range logs {
		more := math.Exp(-l) / n
		if size+more > level {
			return (float64(k) + (level-size)/more) / n // at the threshold itself it rejects at random
		}
		size += more
	}
	return 1
}

// likelihood is that of whitened readings under a world, relative to noise of the stated size.
type likelihood struct {
	means   *mat.Dense // a row a place: the whitened mean readings of a source there
	squares []float64  // of the rows
}

// likelihoodOf is that of sources of a world with a diffusion, without what the world does to readings.
func (w *world) likelihoodOf(ctx context.Context, d *expm.Diffusion) (*likelihood, error) {
	x, n := w.x, w.x.m.Graph.Order()
	rows, err := d.Rows(ctx, x.in.Nodes)
	if err != nil {
		return nil, err
	}
	l := &likelihood{means: mat.NewDense(n, len(x.in.Nodes), nil), squares: make([]float64, n)}
	for i := range n {
		spread := w.spread(i)
		row := l.means.RawRowView(i)
		for k, sigma := range x.in.Sigmas {
			for _, s := range spread {
				row[k] += s.mass * rows.At(k, s.node) / sigma
			}
		}
		l.squares[i] = floats.Dot(row, row)
	}
	return l, nil
}

// gains returns log φ(y − μ_i)/φ(y) of every place.
func (l *likelihood) gains(y []float64) []float64 {
	g := make([]float64, len(l.squares))
	mat.NewVecDense(len(g), g).MulVec(l.means, mat.NewVecDense(len(y), y))
	floats.AddScaled(g, -.5, l.squares)
	return g
}

// one is the logarithm of the likelihood of one source, at any place.
func (l *likelihood) one(y []float64) float64 { return logMean(l.gains(y)) }

// two is that of two sources, which may be at the same place.
func (l *likelihood) two(y []float64) float64 {
	g, n := l.gains(y), len(l.squares)
	var gram mat.SymDense
	gram.SymOuterK(1, l.means)
	sums, row := make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range n {
			row[j] = g[i] + g[j] - gram.At(i, j)
		}
		sums[i] = logMean(row)
	}
	return logMean(sums)
}

// stuck is that of one source where some of the sensors, any as likely, read so much and noise: the mean,
// over the sets of sensors, of a product of ratios is an elementary symmetric mean.
func (l *likelihood) stuck(y, at []float64, some int) float64 {
	gains := l.gains(y)
	ratio := make([]float64, len(y))
	for i := range gains {
		for k, m := range l.means.RawRowView(i) {
			ratio[k] = (y[k]-m)*(y[k]-m)/2 - (y[k]-at[k])*(y[k]-at[k])/2
		}
		gains[i] += logSymmetric(ratio, some) - logBinomial(len(y), some)
	}
	return logMean(gains)
}

// logSymmetric is the logarithm of the sum, over all sets of k, of the product of e^x.
func logSymmetric(x []float64, k int) float64 {
	sums := slices.Repeat([]float64{math.Inf(-1)}, k+1)
	sums[0] = 0
	for _, v := range x {
		for j := k; j >= 1; j-- {
			sums[j] = floats.LogSumExp([]float64{sums[j], sums[j-1] + v})
		}
	}
	return sums[k]
}

func logBinomial(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }

func logMean(logs []float64) float64 { return floats.LogSumExp(logs) - math.Log(float64(len(logs))) }

// ratio returns what gives the logarithm of the ratio of likelihoods of readings, under the world to under the
// model, one source of amplitude 1, where the diffusion that made them is known too.
func (w *world) ratio(ctx context.Context) (func(values []float64, made *expm.Diffusion) (float64, error), error) {
	model := &world{inModel(), w.x, w.x.m.Operator.Diffusion}
	supposed, err := model.likelihoodOf(ctx, model.diffusion)
	if err != nil {
		return nil, err
	}
	happens, err := w.likelihoodOf(ctx, w.diffusion)
	return func(values []float64, made *expm.Diffusion) (float64, error) {
		under := happens
		if made != w.diffusion {
			var err error
			if under, err = w.likelihoodOf(ctx, made); err != nil {
				return 0, err
			}
		}
		y := w.x.scaled(func(k int) float64 { return values[k] })
		return w.log(under, y) - supposed.one(y), nil
	}, err
}

// log is the logarithm of the likelihood of whitened readings under what happens.
func (w *world) log(l *likelihood, y []float64) float64 {
	reading := func(r float64) []float64 { return w.x.scaled(func(int) float64 { return r }) }
	shifted := func(shift []float64) (rest []float64, gain float64) {
		rest = floats.SubTo(make([]float64, len(y)), y, shift)
		return rest, (floats.Dot(y, y) - floats.Dot(rest, rest)) / 2
	}
	switch {
	case w.instead > 0:
		_, gain := shifted(reading(w.instead))
		return gain
	case w.sources == 0:
		return 0
	case w.sources == 2:
		return l.two(y)
	case w.stuck > 0:
		return l.stuck(y, reading(1), w.stuckOf(len(y)))
	case w.loudness != 1:
		by := 1 / (w.loudness * w.loudness)
		gains := mat.NewVecDense(len(l.squares), nil)
		gains.MulVec(l.means, mat.NewVecDense(len(y), y))
		logs := gains.RawVector().Data
		floats.AddScaled(logs, -.5, l.squares)
		floats.Scale(by, logs)
		return logMean(logs) + floats.Dot(y, y)*(1-by)/2 - float64(len(y))*math.Log(w.loudness)
	default:
		rest, gain := shifted(reading(w.added))
		return gain + l.one(rest)
	}
}

// scaled returns readings in units of the noise.
func (x *sensed) scaled(reading func(k int) float64) []float64 {
	y := make([]float64, len(x.in.Sigmas))
	for k, sigma := range x.in.Sigmas {
		y[k] = reading(k) / sigma
	}
	return y
}
