// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Known makes the likeliest state the only one.
func Known(f Faults) Faults {
	f.only = 1
	return f
}

// States are the probabilities of a sensor to be sound, broken and shifted in each state that is summed
// over, and the prior probability of each.
func (f Faults) States() (states [][3]float64, prior []float64) {
	list, prior := f.states()
	for _, k := range list {
		states = append(states, [3]float64{k.sound, k.broken, k.shifted})
	}
	return states, prior
}

// Expanded returns the log likelihood of amplitude 1 against none of one sensor, by expansion and without it, and the bound
// on what is between them.
func Expanded(f Faults, y, x float64) (got, want, bound float64) {
	e := newFaultyEvidence([]float64{y}, f, UnitAmplitude)
	var expanded, full column
	e.faint = math.Inf(1)
	e.column([]float64{x}, &expanded)
	e.faint = 0
	e.column([]float64{x}, &full)
	return expanded.value(1), full.value(1), expanded.expanded
}

// ShiftedMean is the mean rate of shifted sensors among those that are not broken.
func (f Faults) ShiftedMean() float64 { return f.shiftedMean() }

// Rates are those of the prior.
var Rates = rates

// Numbers of nodes of the priors of broken and of shifted sensors.
const (
	BrokenNodes     = brokenNodes
	ShiftedNodes    = shiftedNodes
	ShiftedVariance = shiftedVariance
)

// LocalWithin is [New] where columns are local and states below a margin are left out.
func LocalWithin(ctx context.Context, d measurement.Data, opts Options, margin float64) (*Posterior, bool, error) {
	f, err := prepareFaulty(d, opts)
	if err != nil {
		return nil, false, err
	}
	return f.localWithin(ctx, margin)
}

// ReadColumn returns the log likelihood of amplitude 1 against none of one sensor, where its entry x is read as less by off, the
// exact one, and the bound on what is between them.
func ReadColumn(f Faults, y, x, off float64) (got, want, bound float64) {
	d := measurement.Data{A: linop.Dense{M: mat.NewDense(1, 1, []float64{x})}, Y: []float64{y}}
	all, err := prepareFaulty(d, Options{Faults: f, Amplitude: UnitAmplitude})
	if err != nil {
		return math.NaN(), 0, 0
	}
	c := all.newLocal(math.Inf(1), 1).newNode()
	c.set(0, []int32{0}, []float64{x - off}, math.Abs(off))
	got, low, _ := c.log(math.Inf(-1))
	var full column
	all.faint = 0
	all.column([]float64{x}, &full)
	return got, full.value(1), got - low - ruleError
}

// The rule over the amplitude where columns are local.
const (
	RuleSteps = ruleSteps
	RuleError = ruleError
)

var RuleWeight = ruleWeight
