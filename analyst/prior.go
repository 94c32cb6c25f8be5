// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"gonum.org/v1/gonum/floats"
)

// CheckSources refuses, with [recovery.ErrInvalid], what is no number of sources among the n nodes of a graph: one, two
// on at least three nodes and at most [DenseLimit], or [OneOrTwo].
func CheckSources(sources, n int) error {
	switch {
	case sources < OneOrTwo || sources > 2:
		return fmt.Errorf("%w: %d sources, want 1 or 2", recovery.ErrInvalid, sources)
	case sources == 2 && (n < 3 || n > DenseLimit):
		return fmt.Errorf("%w: two sources among %d nodes, want at least 3 nodes and at most %d", recovery.ErrInvalid, n, DenseLimit)
	}
	return nil
}

// Prior makes a prior of the values of a property, NaN where a node has none: in a unit
// that is near the largest of them, so that no sum is infinite and none underflows.
// It changes and returns p, or [recovery.ErrInvalid] where a value is negative or
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
		return nil, fmt.Errorf("%w: prior %w", recovery.ErrInvalid,
			&privacy.ReadingsError{Property: property, Wrong: "is negative or infinite", Count: wrong})
	}
	_, unit := math.Frexp(floats.Max(p))
	for i, v := range p {
		p[i] = math.Ldexp(v, -unit)
	}
	return p, CheckPrior(p, property, 1)
}

// CheckPrior refuses, with [recovery.ErrInvalid], a prior under which so many sources
// have no room; nil is flat, and 0 and [OneOrTwo] need room for one.
func CheckPrior(p []float64, property string, sources int) error {
	possible := floats.Count(func(v float64) bool { return v > 0 }, p)
	if p != nil && possible < max(1, sources) {
		return fmt.Errorf("%w: the prior %q allows fewer nodes than there are to be sources, %d", recovery.ErrInvalid, property,
			max(1, sources))
	}
	return nil
}
