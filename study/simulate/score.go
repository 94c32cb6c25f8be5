// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// Trial is one simulated source and what was made of its release.
type Trial struct {
	Source           int     // node; −1: there was none
	Named            int     // the community that ranks first
	Confidence       float64 // posterior probability of the community that ranks first
	Right            bool    // it holds the source, or one of several
	Detected         bool    // a source is found; false where it was not tested
	Answered         bool    // a source is found, and the community stands out: it would be named
	Covered          bool    // the credible set holds the source
	CredibleSetSize  int     // size of the 95 % credible set
	KnownMassSetSize int     // the same to a reader who knows that the amplitude is 1
	Distance         float64 // earth mover's distance from the source to the posterior within its component
	Elsewhere        float64 // share of the posterior in other components, which Distance leaves out
	// Shares are the posterior probabilities of the communities as a report of one source states them, of past events alone.
	Shares []float64
}

// posterior is that of a trial, summed over the processes that are possible, with faults where a recovery
// would suppose them. c holds the product of each process.
func (r *recoverer) posterior(ctx context.Context, c []transposed, values []float64, a posterior.Amplitude) (*posterior.Posterior, error) {
	list, faults := make([]*posterior.Posterior, len(r.processes)), r.SupposesFaults(r.plan)
	for k, p := range r.processes {
		o, d := posterior.Options{Amplitude: a, Prior: r.Prior, Norms: &p.norms}, measurement.Data{A: c[k]}
		if faults {
			w, recover := p.whitened.WithValues(values), r.opts.Recover
			if recover.FaultRate == nil {
				rate := analyst.DefaultFaultRate
				recover.FaultRate = &rate
			}
			o.Norms, o.Faults, d = nil, w.Faults(recover), w.Data
		}
		var err error
		if list[k], err = posterior.New(ctx, d, o); err != nil {
			return nil, err
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	mixed, _, err := posterior.Mix(list)
	return mixed, err
}

// trusting are the options of a posterior under which every sensor is sound.
func (r *recoverer) trusting(norms *posterior.Norms) posterior.Options {
	return posterior.Options{Amplitude: r.opts.Recover.Amplitude, Prior: r.Prior, Norms: norms}
}

// setThreshold simulates the plan without a source: it is what the log odds of one must exceed.
func (r *recoverer) setThreshold(ctx context.Context) error {
	alarm := cmp.Or(r.opts.Recover.FalseAlarm, analyst.DefaultFalseAlarm)
	if alarm >= 1 {
		return nil
	}
	opts := posterior.CheckOptions{Options: r.trusting(&r.processes[0].norms), FalseAlarm: alarm}
	opts.Progress = r.model.Progress
	var data []measurement.Data
	for _, x := range r.processes {
		data = append(data, x.whitened.Data)
	}
	p, err := posterior.NewPresence(ctx, data, opts)
	if err == nil {
		r.threshold = p.Threshold(alarm)
	}
	return err
}

// detected reports whether the recovery of a trial finds a source: by the odds of one, where the sensors that
// are more likely broken than sound are left out. The threshold stays that of all sensors.
func (r *recoverer) detected(ctx context.Context, post *posterior.Posterior, values []float64) (bool, error) {
	if post.Faulty == nil || math.IsInf(r.threshold, -1) {
		return post.LogPresence > r.threshold, nil
	}
	odds := make([]float64, len(r.processes))
	for k, p := range r.processes {
		w := p.whitened.WithValues(values)
		if rows := analyst.Sound(post.Faulty); len(rows) > 0 { // none is left out where all would be
			w = w.Subset(rows)
		}
		x, err := posterior.New(ctx, w.Data, r.trusting(nil))
		if err != nil {
			return false, err
		}
		odds[k] = x.LogPresence
	}
	return floats.LogSumExp(odds)-math.Log(float64(len(odds))) > r.threshold, nil
}

// score recovers one trial, c = Mᵀ diag(u) ỹ of each process, and compares with its sources: the first of
// them is the trial's, and any of them is right.
func (r *recoverer) score(ctx context.Context, truth []int, c []transposed, values []float64) (t Trial, err error) {
	post, err := r.posterior(ctx, c, values, r.opts.Recover.Amplitude)
	if err != nil {
		return t, err
	}
	rank := community.Rank(post.Probability, r.Partition)
	t.Named, t.Confidence, t.Source = rank[0].Community, min(1, rank[0].Probability), -1
	t.Right = r.holds(t.Named, truth)
	credible := post.Credible()
	t.Covered = slices.ContainsFunc(truth, func(i int) bool { return slices.Contains(credible, i) })
	known := post
	if r.opts.Recover.Amplitude != posterior.UnitAmplitude {
		if known, err = r.posterior(ctx, c, values, posterior.UnitAmplitude); err != nil {
			return t, err
		}
	}
	t.CredibleSetSize, t.KnownMassSetSize = len(credible), len(known.Credible())
	chance := r.Partition.Sums(r.Prior)
	var rep report.Report
	for _, s := range rank {
		rep.Communities = append(rep.Communities,
			report.Community{CommunityID: s.Community, Prior: chance[s.Community], Probability: min(1, s.Probability)})
	}
	if !r.opts.Common {
		if t.Detected, err = r.detected(ctx, post, values); err != nil {
			return t, err
		}
		rep.Presence = &report.Presence{Detected: t.Detected}
	}
	t.Answered = rep.StandsOut()
	if r.opts.Past {
		t.Shares = r.Partition.Sums(post.Probability)
		if cmp.Or(r.opts.Recover.FalseAlarm, analyst.DefaultFalseAlarm) < 1 {
			floats.Scale(1/(1+math.Exp(-post.LogPresence)), t.Shares)
		}
	}
	if len(truth) > 0 {
		t.Source = truth[0]
		t.Distance, t.Elsewhere = emd.ToNode(emd.Lengths(r.model.Graph, t.Source), post.Probability)
	}
	return t, nil
}

// holds reports whether a community has one of the nodes.
func (r *recoverer) holds(community int, nodes []int) bool {
	return slices.ContainsFunc(nodes, func(i int) bool { return r.Partition.Labels[i] == community })
}
