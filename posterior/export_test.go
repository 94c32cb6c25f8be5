// SPDX-License-Identifier: Apache-2.0

package posterior

// Frugal makes a sampler keep columns of so many bytes.
func Frugal(o SampleOptions, memory int) SampleOptions {
	o.memory = memory
	return o
}

// Known makes the likeliest state the only one.
func Known(f Faults) Faults {
	f.only = 1
	return f
}

// States are the probabilities of a sensor to be sound, broken, silent and shifted in each state that is summed
// over, and the prior probability of each.
func (f Faults) States() (states [][4]float64, prior []float64) {
	list, prior := f.states()
	for _, k := range list {
		states = append(states, [4]float64{k.sound, k.broken, k.silent, k.shifted})
	}
	return states, prior
}

// The rates of the prior, and what it takes for them.
var (
	Rates    = rates
	Commoner = commoner
)

// Shapes of the priors of broken and of shifted sensors, and how much commoner silent and shifted ones are.
const (
	BrokenShape     = brokenShape
	ShiftedShape    = shiftedShape
	SilentOdds      = silentOdds
	ShiftedOdds     = shiftedOdds
	ShiftedVariance = shiftedVariance
)
