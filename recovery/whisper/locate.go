// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"cmp"
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
	// Exact is the number of people whose own likelihood was computed. It is that of all up to [LargeGraph] nodes.
	Exact    int
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
//
// Above [LargeGraph] nodes the communities are weighed by about 1,024 sources, or 2²⁹ over the nodes, a sample of all communities that
// the tempering was fitted to as well. Everybody has the likelihood of the next source of the sample in their community and
// neighbourhood, but for people of the likeliest communities, who have their own: 4,096 of them, or 2²⁹ over the nodes, divided by the
// vectors of answers. [Model.Evaluate] has too many vectors for that: it says in how wide a set the source is hidden by the sample alone.
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
	out := make([]Result, len(answers))
	return out, m.locate(ctx, t, yes, o, func(k int, r Result) { out[k] = r })
}

// locate calls visit with each result in turn: those of large graphs are too large to be kept together.
func (m *Model) locate(ctx context.Context, t Tempering, yes [][]int32, o LocateOptions, visit func(k int, r Result)) error {
	count := len(yes)
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
	s := sources{nodes: m.order}
	if m.sampled {
		s.nodes, s.each = m.sample(m.within(temperSources))
	}
	logs, sizes, err := m.logsOf(ctx, s.nodes, yes, kappa, count)
	if err != nil {
		return err
	}
	evidence := make([]float64, len(yes))
	for k := range yes {
		evidence[k] = meanEvidence(sizes[k], len(s.nodes))
	}
	null := slices.Sorted(slices.Values(evidence[count:]))
	for k, said := range yes[:count] {
		class := t.Classes[t.class(m.likelySize(sizes[k]))]
		r := Result{Asked: m.askedCount(), Yes: len(said), Exact: len(s.nodes), Presence: presence(evidence[k], null)}
		r.HeardError = math.Sqrt(m.flip*(1-m.flip)*float64(r.Asked)) / (1 - 2*m.flip)
		var z []float64
		z, r.Heard = m.unbiased(said)
		own := logs[k*len(kappa)+slices.Index(kappa, class.Exponent)]
		sums := make([]float64, len(m.orders))
		m.logSums(sums, s.nodes, func(k int) float64 { return own[k] + s.logEach(k) })
		r.Community = probabilities(m.features(sums, z), class.at(evidence[k]))
		if class.Capped {
			capConfidence(r.Community)
		}
		r.Probability = m.spreadOut(s.nodes, own)
		if m.sampled {
			if err := m.tellApart(ctx, &r, s.nodes, said, class.Exponent, m.within(exactPeople)/count); err != nil {
				return err
			}
		}
		m.settle(&r, class)
		visit(k, r)
	}
	return nil
}

// exactPeople bounds the people who are told apart on large graphs.
const exactPeople = 4096

// logsOf returns the log likelihoods of sources, for each of the first count answers and each exponent, and those of sizes.
func (m *Model) logsOf(ctx context.Context, nodes []int32, yes [][]int32, kappa []float64, count int) (logs, sizes [][]float64, err error) {
	logs = make([][]float64, count*len(kappa))
	for k := range logs {
		logs[k] = make([]float64, len(nodes))
	}
	sizes, err = m.evidence(ctx, nodes, yes, kappa, func(first int, part []float64) {
		each := len(yes) * len(kappa)
		for c := 0; c*each < len(part); c++ {
			for k, v := range part[c*each:][:len(logs)] {
				logs[k][first+c] = v
			}
		}
	})
	return logs, sizes, err
}

// tellApart gives people of the likeliest communities their own log likelihood: at most a number of people, of whole communities.
func (m *Model) tellApart(ctx context.Context, r *Result, sampled, said []int32, exponent float64, most int) error {
	ranked := make([]int, len(m.orders))
	for c := range ranked {
		ranked[c] = c
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(r.Community[b], r.Community[a]) })
	apart, held := make([]bool, len(ranked)), 0.0
	for _, c := range ranked {
		if most -= m.orders[c]; most < 0 || held >= .95 {
			break
		}
		apart[c] = true
		held += r.Community[c]
	}
	var rest []int32
	for _, i := range m.order {
		if apart[m.labels[i]] && !slices.Contains(sampled, i) {
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	logs, _, err := m.logsOf(ctx, rest, [][]int32{said}, []float64{exponent}, 1)
	if err != nil {
		return err
	}
	for k, i := range rest {
		r.Probability[i] = logs[0][k]
	}
	r.Exact += len(rest)
	return nil
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

// settle makes of the log likelihoods that Probability holds the probabilities of nodes.
func (m *Model) settle(r *Result, class Class) {
	sums := make([]float64, len(m.orders))
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
