// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Numbers of draws of one source that another is added to: where all sensors are sound, and where they may be broken.
const (
	secondDraws = 64
	faultyDraws = 16
)

// Second estimates the log evidence of two sources against one: the mean, over independent draws
// from the posterior of one source, of the evidence of a further one beside it. It takes a
// product of AᵀA for each node that is drawn, where [NewPairs] weighs every pair; where
// sensors may be broken, the posterior of one source for each of fewer draws, from the entries of A. It is
// −Inf where the prior leaves no two nodes. The seed is fixed: the same data give the same bits.
func Second(ctx context.Context, d measurement.Data, opts Options) (float64, error) {
	b, logPrior, err := newBeside(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	logTwo := logDistinct(logPrior) // of the prior mass of two different nodes
	if math.IsInf(logTwo, -1) {
		return logTwo, nil
	}
	count, random := secondDraws, rand.New(rand.NewPCG(0, 0))
	if opts.Faults.Rate != 0 {
		count = faultyDraws
	}
	one, err := b.weights(ctx, 0, 0)
	if err != nil {
		return 0, err
	}
	logs, sums := make([]float64, count), cumulative(one)
	for k := range logs {
		z := drawn(sums, random)
		two, err := b.weights(ctx, z, b.draw(z, random))
		if err != nil {
			return 0, err
		}
		logs[k] = logSum(two)
	}
	return logMean(logs) - logTwo, nil // Σ π = 1
}

// beside weighs a source beside another.
type beside struct {
	// weights returns the log evidence and prior of every node beside a source at z of an amplitude; 0 for none.
	weights func(ctx context.Context, z int, amplitude float64) ([]float64, error)
	// draw draws the amplitude of a source at z alone.
	draw func(z int, random *rand.Rand) float64
}

func newBeside(ctx context.Context, d measurement.Data, opts Options) (beside, []float64, error) {
	if opts.Faults.Rate != 0 {
		return newFaultyBeside(ctx, d, opts)
	}
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return beside{}, nil, err
	}
	e, columns := newEvidence(opts.Amplitude), map[int][]float64{} // of AᵀA
	return beside{func(ctx context.Context, z int, amplitude float64) ([]float64, error) {
		if amplitude == 0 {
			return e.weights(c, norms.N, logPrior), ctx.Err()
		}
		if columns[z] == nil {
			columns[z] = make([]float64, len(c))
			d.A.MulVecTo(columns[z], true, columnOf(d, z))
		}
		w := e.weights(floats.AddScaledTo(make([]float64, len(c)), c, -amplitude, columns[z]), norms.N, logPrior)
		w[z] = math.Inf(-1)
		return w, ctx.Err()
	}, func(z int, random *rand.Rand) float64 { return e.draw(c[z], norms.N[z], random) }}, logPrior, nil
}

func newFaultyBeside(ctx context.Context, d measurement.Data, opts Options) (beside, []float64, error) {
	if !linop.HoldsEntries(d.A) {
		return beside{}, nil, fmt.Errorf("%w: where sensors may be broken, a second source is weighed by the entries of the operator",
			ErrInvalid)
	}
	f, err := prepareFaulty(ctx, d, opts)
	if err != nil {
		return beside{}, nil, err
	}
	return beside{func(ctx context.Context, z int, amplitude float64) ([]float64, error) {
		if amplitude == 0 {
			return f.weights(ctx)
		}
		x, rest := columnOf(f.d, z), *f
		rest.faultyEvidence, _ = f.beyond(func(row int) float64 { return amplitude * x[row] })
		rest.logPrior = slices.Clone(f.logPrior)
		rest.logPrior[z] = math.Inf(-1)
		rest.columns = rest.wholeColumns
		return rest.weights(ctx)
	}, func(z int, random *rand.Rand) float64 { return f.faultyEvidence.draw(columnOf(f.d, z), random) }}, f.logPrior, nil
}

// draw draws an amplitude in proportion to e^{ac − a²N/2} and the prior: where it is
// not 1 itself, by bisection of the distribution function, since ∫₀ˣ is x·∫₀¹ with c and N
// scaled by x and x².
func (e evidence) draw(c, n float64, random *rand.Rand) float64 {
	if e.unit == 1 || e.unit > 0 && math.Log(random.Float64()) < math.Log(e.unit)+c-n/2-e.log(c, n) {
		return 1
	}
	target := e.uniform(c, n) + math.Log(1-random.Float64())
	lo, hi := 0.0, 1.0
	for range 50 {
		x := (lo + hi) / 2
		if math.Log(x)+e.uniform(x*c, x*x*n) < target {
			lo = x
		} else {
			hi = x
		}
	}
	return (lo + hi) / 2
}

// draw draws an amplitude of a source with the column x, among those of the rule that integrates over it.
func (e *faultyEvidence) draw(x []float64, random *rand.Rand) float64 {
	var c column
	var amplitudes, logs []float64
	e.column(nil, x, &c)
	c.visit(c.raise(math.Inf(-1)), func(a, logWeight, value float64) {
		amplitudes, logs = append(amplitudes, a), append(logs, logWeight+value)
	})
	return amplitudes[drawn(cumulative(logs), random)]
}
