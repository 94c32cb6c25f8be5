// SPDX-License-Identifier: Apache-2.0

package posterior

// FaultyPrior returns the probability, before any measurement, that a sensor is broken, silent or shifted where broken ones
// have a mean rate, as [Faults].Rate: at .01 it is .067.
func FaultyPrior(rate float64) float64 { return 1 - Faults{Rate: rate}.mean().sound }
