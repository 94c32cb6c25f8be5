// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// Result is what answers say.
type Result struct {
	Asked int // people who answered
	Yes   int // of them say yes
	// Heard is the unbiased number of people who answered and have really heard it, (Yes − f·Asked)/(1 − 2f), and HeardError its
	// standard deviation. Heard may be below 0 or above Asked.
	Heard, HeardError float64
	Probability       []float64 // of each node to have started it, given that somebody did
	Community         []float64 // of each community to hold who did
	// Credible is the number of people in the smallest set that holds 95 %, and Among the exponential of the entropy: both say among how
	// many people who started it is hidden.
	Credible int
	Among    float64
	Presence Presence
}

// Presence is the test of "nobody has heard it".
type Presence struct {
	// LogEvidence is the log likelihood ratio of a rumour that anybody may have started against no rumour. Its exponential has
	// mean 1 where there is none, so that it is x or more with a probability of at most 1/x (Markov).
	LogEvidence float64
	Trials      int     // simulated answers without a rumour; 0: Markov's bound alone
	Nobody      float64 // p-value of "nobody has heard it"
}

// LocateOptions of [Model.Locate].
type LocateOptions struct {
	Nulls int    // simulated answers without a rumour, for the presence test; 0: none
	Seed  uint64 // of them
}

// Locate returns what each vector of answers says of who started the rumour. A presence test at level α is
// Nobody ≤ α: false alarms come with a probability of at most α where there are no nulls, or (Nulls + 1)·α is whole.
func (m *Model) Locate(ctx context.Context, t Tempering, answers [][]Answer, o LocateOptions) ([]Result, error) {
	if err := t.Check(m.flip); err != nil {
		return nil, err
	}
	if o.Nulls < 0 || o.Nulls > 1<<16 {
		return nil, fmt.Errorf("%w: %d nulls", ErrInvalid, o.Nulls)
	}
	var yes [][]int32
	for _, a := range answers {
		said, err := m.saidYes(a)
		if err != nil {
			return nil, err
		}
		yes = append(yes, said)
	}
	return m.locate(ctx, t, yes, o)
}

func (m *Model) locate(ctx context.Context, t Tempering, yes [][]int32, o LocateOptions) ([]Result, error) {
	count := len(yes)
	out := make([]Result, count)
	z := make([][]float64, count)
	for k, said := range yes {
		r := &out[k]
		r.Asked, r.Yes = m.askedCount(), len(said)
		z[k], r.Heard = m.unbiased(said)
		r.HeardError = math.Sqrt(m.flip*(1-m.flip)*float64(r.Asked)) / (1 - 2*m.flip)
	}
	for _, x := range m.simulate(o.Nulls, func(_ int, random *rand.Rand, _ *Cascades) trial {
		return trial{yes: m.flipped(nil, random)}
	}, o.Seed) {
		yes = append(yes, x.yes)
	}
	var kappa []float64
	for _, c := range t.Classes {
		if !slices.Contains(kappa, c.Exponent) {
			kappa = append(kappa, c.Exponent)
		}
	}
	logs := make([][]float64, count*len(kappa)) // for each answer and exponent, of nodes
	for k := range logs {
		logs[k] = make([]float64, len(m.labels))
	}
	sizes, err := m.evidence(ctx, m.order, yes, kappa, func(first int, part []float64) {
		for c, i := range m.order[first:min(first+width, len(m.order))] {
			for k, v := range part[c*len(yes)*len(kappa):][:len(logs)] {
				logs[k][i] = v
			}
		}
	})
	if err != nil {
		return nil, err
	}
	evidence := make([]float64, len(yes))
	for k := range yes {
		evidence[k] = meanEvidence(sizes[k], len(m.labels))
	}
	null := slices.Sorted(slices.Values(evidence[count:]))
	for k := range out {
		class := t.Classes[t.class(m.likelySize(sizes[k]))]
		out[k].Probability = logs[k*len(kappa)+slices.Index(kappa, class.Exponent)]
		out[k].Presence = presence(evidence[k], null)
		m.settle(&out[k], z[k], class, class.at(evidence[k]))
	}
	return out, nil
}

// presence returns the test for evidence, against evidence without a rumour in ascending order.
func presence(evidence float64, null []float64) Presence {
	p := Presence{LogEvidence: evidence, Trials: len(null), Nobody: math.Exp(min(0, -evidence))}
	if len(null) > 0 {
		below, _ := slices.BinarySearch(null, evidence)
		if p.Nobody = float64(len(null)-below+1) / float64(len(null)+1); below == len(null) {
			p.Nobody = min(p.Nobody, math.Exp(-evidence))
		}
	}
	return p
}

// settle makes of the log likelihoods that Probability holds those of nodes and communities.
func (m *Model) settle(r *Result, z []float64, class Class, w [features]float64) {
	sums := make([]float64, len(m.orders))
	m.logSums(sums, m.order, func(k int) float64 { return r.Probability[m.order[k]] })
	r.Community = probabilities(m.features(sums, z), w)
	m.logSums(sums, m.order, func(k int) float64 { return class.People * r.Probability[m.order[k]] })
	entropy := 0.0
	for i, c := range m.labels {
		p := r.Community[c] * math.Exp(class.People*r.Probability[i]-sums[c])
		r.Probability[i] = p
		if p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	r.Among = math.Exp(entropy)
	r.Credible = len((&posterior.Posterior{Probability: r.Probability}).Credible())
}
