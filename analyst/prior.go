// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"gonum.org/v1/gonum/floats"
)

// CheckSources refuses, with [recovery.ErrInvalid], a number of sources below
// [OneOrTwo], and one above 1 that is not below the n nodes of the graph.
func CheckSources(sources, n int) error {
	if sources < OneOrTwo || sources > 1 && sources >= n {
		return fmt.Errorf("%w: %d sources, want at least 1 and fewer than the number of nodes, %d", recovery.ErrInvalid, sources, n)
	}
	return nil
}

// Prior makes a prior of the values of a property, NaN where a node has none: in a unit
// that is near the largest of them, so that no sum is infinite and none underflows. It
// changes and returns p, or [recovery.ErrInvalid] where a value is negative or
// infinite, or none is above 0.
func Prior(p []float64, property string) ([]float64, error) {
	wrong := 0
	for i, v := range p {
		switch {
		case math.IsNaN(v):
			p[i] = 0
		case v < 0 || math.IsInf(v, 1):
			wrong++
		}
	}
	if wrong > 0 { // named as public by mistake, perhaps: nothing is said of its values
		return nil, fmt.Errorf("%w: prior %w", recovery.ErrInvalid, &privacy.ReadingsError{Property: property, Wrong: "is negative or infinite", Count: wrong})
	}
	_, unit := math.Frexp(floats.Max(p))
	for i, v := range p {
		p[i] = math.Ldexp(v, -unit)
	}
	return p, CheckPrior(p, property, 1)
}

// CheckPrior refuses, with [recovery.ErrInvalid], a prior under which so many sources
// have no room; nil is flat, and 0, [ByEvidence] and [OneOrTwo] need room for one.
func CheckPrior(p []float64, property string, sources int) error {
	possible := floats.Count(func(v float64) bool { return v > 0 }, p)
	if p != nil && possible < max(1, sources) {
		return fmt.Errorf("%w: the prior %q allows fewer nodes than there are to be sources, %d", recovery.ErrInvalid, property, max(1, sources))
	}
	return nil
}
