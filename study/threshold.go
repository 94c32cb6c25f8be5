// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"sync"
)

// detection is the test of no source that the recovery of a release makes. What the log odds of a
// source must exceed depends on the plan and on the sensors that are taken for sound, not on what they
// measure: it is simulated once for each set of them.
type detection struct {
	alarm float64   // of false ones, in (0, 1]
	all   threshold // where all sensors are sound

	mutex sync.Mutex
	some  map[string]threshold // by the sound rows
}

// threshold is what the log odds of a source must exceed. So many of the measurements that were
// simulated without one exceed it at most.
type threshold struct {
	odds  float64
	count float64
}

// surely reports whether odds exceed the threshold of whatever rows but with a probability below e⁻²⁰. Of T
// simulated odds, whose mean is 1, each is e^odds with a probability of at most e^−odds (Markov).
// The threshold is the k-th largest, k ≤ alarm·(T + 1), so it is as large with a probability of at most
// (e·T/k·e^−odds)^k (Chernoff).
func (d *detection) surely(odds float64) bool {
	const nats = 20
	return max(1, d.all.count)*(odds+math.Log(d.alarm)-1) > nats
}
