// SPDX-License-Identifier: Apache-2.0

package posterior

// Frugal makes a sampler keep columns of so many bytes.
func Frugal(o SampleOptions, memory int) SampleOptions {
	o.memory = memory
	return o
}

// Known makes the rate of faults known.
func Known(f Faults) Faults {
	f.known = true
	return f
}

// Rates are the fault rates that are summed over, with the prior probability of each.
func (f Faults) Rates() (rates, prior []float64) { return f.rates() }
