// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Options hold the prior; the zero value is a flat node prior, and amplitude 1 or uniform at even odds.
type Options struct {
	Amplitude Amplitude
	Prior     []float64 // n values ≥ 0, in any scale; nil is flat
	Norms     *Norms    // nil: those of [ColumnNorms]
	Faults    Faults    // of the sensors
	// Progress receives the number of products with A, or of chains, done so far.
	Progress func(stage string, done, total int64)
}

// Norms are the squared column norms N_i = ‖A e_i‖² of whitened data, between Low_i
// and High_i.
type Norms struct {
	N         []float64
	Low, High []float64 // nil: N is exact
}

// check refuses norms that are not those of n nodes, or not between their bounds.
func (a Norms) check(n int) error {
	if len(a.N) != n || a.Low != nil && (len(a.Low) != n || len(a.High) != n) {
		return fmt.Errorf("%w: %d column norms for %d nodes", ErrInvalid, len(a.N), n)
	}
	for i, v := range a.N {
		if !(v >= 0) || math.IsInf(v, 1) || a.Low != nil && !(a.Low[i] <= v && v <= a.High[i]) {
			return fmt.Errorf("%w: squared column norm of node %d is %v, or not between its bounds", ErrInvalid, i, v)
		}
	}
	return nil
}

// intersect narrows the bounds to what b allows, and takes the N of the narrower bounds.
// Where the bounds contradict each other, so that one is false, their convex hull is
// kept.
func (a *Norms) intersect(b Norms) {
	for i, v := range b.N {
		if a.High[i]-a.Low[i] <= b.High[i]-b.Low[i] {
			v = a.N[i]
		}
		low, high := max(a.Low[i], b.Low[i]), min(a.High[i], b.High[i])
		a.Low[i], a.High[i] = min(low, high), max(low, high)
		a.N[i] = min(max(v, a.Low[i]), a.High[i])
	}
}

// Beyond exactOrder nodes and exactSensors sensors a product for each takes too long.
// Then probes bound every norm, except with probability normFailure, and norms are computed
// exactly until ProbabilityError and the error of the log odds of the first two nodes are
// at most posteriorTol.
const (
	exactOrder   = 10_000
	exactSensors = 256
	normFailure  = 1e-9
	posteriorTol = 0.01
)

// productError bounds the error of an entry of Aᵀy, from the error of A.
func productError(d measurement.Data) float64 { return linop.Err(d.A) * floats.Norm(d.Y, 2) }

// columnOf returns what a source at a node adds to the means.
func columnOf(d measurement.Data, z int) []float64 {
	x := make([]float64, len(d.Y))
	linop.ColumnsTo(d.A, x, []int{z})
	return x
}

// logWork is the work of an evidence, in values that are read or written.
const logWork = 256

// logs returns the log evidence of each node.
func (e evidence) logs(c, norms []float64) []float64 {
	out := make([]float64, len(c))
	eachRow(len(c), logWork, func(i int) {
		out[i] = e.log(c[i], norms[i])
	})
	return out
}

// weights returns the log weight of each node, evidence plus prior.
func (e evidence) weights(c, norms, logPrior []float64) []float64 {
	w := e.logs(c, norms)
	floats.Add(w, logPrior)
	return w
}

// weightBounds returns bounds on the log weight of each node, evidence plus prior, where c
// has an error of at most cError. The weight rises with c and falls with N.
func (e evidence) weightBounds(c []float64, norms Norms, cError float64, logPrior []float64) (low, high []float64) {
	low, high = make([]float64, len(c)), make([]float64, len(c))
	eachRow(len(c), 2*logWork, func(i int) {
		low[i] = e.log(c[i]-cError, norms.High[i]) + logPrior[i]
		high[i] = e.log(c[i]+cError, norms.Low[i]) + logPrior[i]
	})
	return low, high
}

// logShareErrors returns the logarithm of the uncertainty of each posterior probability,
// (e^high − e^low)/Z.
func logShareErrors(low, high []float64, logZ float64) []float64 {
	width := make([]float64, len(low))
	eachRow(len(low), logWork, func(i int) {
		width[i] = math.Inf(-1)
		if !(high[i] <= low[i]) {
			width[i] = high[i] - logZ + math.Log1p(-math.Exp(low[i]-high[i]))
		}
	})
	return width
}

// logOddsError bounds the error of the log odds of the first two: the largest and the second
// largest weight lie between those of the lower and of the upper bounds.
func logOddsError(weight, low, high []float64) float64 {
	w, l, h := firstTwo(weight), firstTwo(low), firstTwo(high)
	if math.IsInf(h[1], -1) { // no second
		return 0
	}
	odds := w[0] - w[1]
	return max(h[0]-l[1]-odds, odds-max(0, l[0]-h[1]))
}

// logWeights returns the logarithms of a prior that sums to 1.
func logWeights(prior []float64, n int) ([]float64, error) {
	w := make([]float64, n)
	if prior == nil {
		floats.AddConst(-math.Log(float64(n)), w)
		return w, nil
	}
	if len(prior) != n {
		return nil, fmt.Errorf("%w: %d prior weights for %d nodes", ErrInvalid, len(prior), n)
	}
	for i, v := range prior {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("%w: prior of node %d is %v, want ≥ 0 and finite", ErrInvalid, i, v)
		}
		w[i] = math.Log(v)
	}
	total := logSum(w)
	if math.IsInf(total, -1) {
		return nil, fmt.Errorf("%w: the prior is zero at every node", ErrInvalid)
	}
	floats.AddConst(-total, w)
	return w, nil
}
