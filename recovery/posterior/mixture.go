// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Mix averages the posteriors of a single source under several operators, one of which made
// the measurements, each as likely. Without a source the measurements have the same likelihood
// under all, so that LogPresence compares the operators.
// It returns the posterior and the probability of each operator given one source, and
// [ErrInvalid] for posteriors of different size, or bounded and not exact. Either all
// suppose faults of the same sensors, or none does.
func Mix(list []*Posterior) (*Posterior, []float64, error) {
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%w: there is no posterior to mix", ErrInvalid)
	}
	share := slices.Repeat([]float64{-math.Log(float64(len(list)))}, len(list))
	n, sensors := len(list[0].Probability), len(list[0].Faulty)
	evidence := make([][]float64, n)
	for k, p := range list {
		if len(p.Probability) != n || len(p.Faulty) != sensors || p.ProbabilityError > 0 {
			return nil, nil, fmt.Errorf("%w: posterior %d of %d has %d nodes, %d faulty sensors and an error of %v, want %d, %d and none",
				ErrInvalid, k, len(list), len(p.Probability), len(p.Faulty), p.ProbabilityError, n, sensors)
		}
		for i, e := range p.LogEvidence {
			evidence[i] = append(evidence[i], e+share[k])
		}
	}
	out := &Posterior{LogEvidence: make([]float64, n), Probability: make([]float64, n)}
	for i, e := range evidence {
		out.LogEvidence[i] = logSum(e)
	}
	for k, p := range list {
		share[k] += p.LogPresence
	}
	out.LogPresence = logSum(share)
	for k, p := range list {
		out.Raised = out.Raised || p.Raised
		share[k] = math.Exp(share[k] - out.LogPresence)
		floats.AddScaled(out.Probability, share[k], p.Probability)
		if p.Faulty != nil {
			if out.Faulty == nil {
				out.Faulty = make([]float64, len(p.Faulty))
			}
			floats.AddScaled(out.Faulty, share[k], p.Faulty)
		}
	}
	floats.Scale(1/floats.Sum(share), share)
	floats.Scale(1/floats.Sum(out.Probability), out.Probability)
	first := firstTwo(out.Probability)
	out.RunnerUp = max(0, first[0]) / max(0, first[1])
	return out, share, nil
}
