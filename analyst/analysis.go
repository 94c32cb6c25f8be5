// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// OneOrTwo stands for one source, or two where the evidence for a second is so large that a
// second would be claimed falsely with a probability of at most [Options].FalseAlarm and [DefaultFalseAlarm]. Above
// [DenseLimit] nodes it is one.
const OneOrTwo = -1

// DefaultFalseAlarm is the probability with which a source is found where there is none.
const DefaultFalseAlarm = 0.05

// Options steer [Operator.Analyse]; the zero value is the default.
type Options struct {
	Amplitude posterior.Amplitude
	Sources   int // that the posterior supposes: 1 or 2, or [OneOrTwo]; 0: one
	// FalseAlarm is the probability with which a source may be found where there is none, in
	// (0, 1]; 0: [DefaultFalseAlarm]. At 1 a source is supposed.
	FalseAlarm float64
	// Tau is what τ may be where sensors measure; zero: the operator's. Of a range the posterior of one source is
	// summed over τ, on up to [DenseLimit] nodes.
	Tau tau.Range
	// Graphs are what the process may have run on instead, where sensors measure. The posterior of one
	// source is then summed over the operator's graph and these, each as likely beforehand, on up to
	// [DenseLimit] nodes and as far as [Operator.Processes] says.
	Graphs []ListedGraph
	// StoredGraph supposes the operator's graph alone, whatever is listed.
	StoredGraph bool
	// FaultRate is the prior probability of each sensor to be broken, in [0, 1). nil is the
	// default: here 0; the front door sets [DefaultFaultRate] where sensors measure.
	FaultRate *float64
}

// analysis is one recovery.
type analysis struct {
	*Whitened
	communities func(context.Context) (community.Partition, error)
	partition   community.Partition // once they were asked for, by [analysis.rank]
	prior       []float64
	opts        Options
	report      *report.Report

	one         *posterior.Posterior // of one source
	probability []float64            // of each node to be a source
	faulty      []float64            // of each measurement to be that of a broken sensor; nil: none may be
	patch       float64              // log evidence of neighbouring sensors that are off together, against one source

	graphs    []ListedGraph // that the posterior is summed over
	processes []Process     // that the posterior is summed over; nil: the operator alone
	shares    []float64     // the posterior probability of each
}

// rank asks for the communities, unless it has, and reports their posterior under one source. What needs none is
// computed before, beside a search for them.
func (a *analysis) rank(ctx context.Context) (err error) {
	if a.partition.Labels != nil {
		return nil
	}
	if a.partition, err = a.communities(ctx); err != nil {
		return err
	}
	chance := report.Chance(a.prior, a.partition.Labels, a.partition.Count, 1)
	for _, s := range community.Rank(a.one.Probability, a.partition) {
		a.report.Communities = append(a.report.Communities, report.Community{
			CommunityID: s.Community, Name: s.Name, Size: s.Order, Prior: chance[s.Community],
			Probability: min(1, s.Probability),
		})
	}
	return nil
}

// addPosterior reports the posterior of the nodes under one source.
func (a *analysis) addPosterior(p *posterior.Posterior) {
	rep := a.report
	best := p.Best()
	rep.Posterior = report.Posterior{
		NodeID: a.op.Graph.ID(best), Probability: p.Probability[best], CredibleSetSize: len(p.Credible()),
		LogRunnerUp: report.Finite(math.Log(p.RunnerUp)), LogPresence: p.LogPresence, LogOddsError: p.LogOddsError,
		ProbabilityError: p.ProbabilityError,
	}
	if e := p.ProbabilityError; e > 0.01 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("the column norms of M are bounded, not exact: probabilities may be off by up to %.2g",
			e))
	}
	if p.Raised {
		rep.Notes = append(rep.Notes, "the noise is so small that rounding would decide what measurements tell where sensors may be "+
			"broken: it was taken for larger, and probabilities say rather too little than too much")
	}
	a.one, a.probability, a.faulty = p, p.Probability, p.Faulty
}

// addDenoised reports f̂: its certificate, its entries, and its mass by community.
func (a *analysis) addDenoised(res *recovery.Result) {
	rep, b := a.report, &a.report.BPDN
	b.Status, b.Objective, b.LowerBound, b.Gap = res.Status.String(), res.Objective, res.LowerBound, report.Finite(res.Gap)
	b.Support = []report.Source{}
	if b.Retried {
		rep.Notes = append(rep.Notes, fmt.Sprintf("no source vector in [0, 1] fits the measurements within the first radius, with a "+
			"proof: Basis Pursuit Denoising was solved again within a larger one, %.4g by the rule %s", b.Radius, b.RadiusRule))
	}
	if res.Status == recovery.Infeasible {
		b.Objective = 0
		rep.Notes = append(rep.Notes, "no source vector in [0, 1] fits the measurements within the radius: Basis Pursuit Denoising is "+
			"infeasible, with a proof, and f̂ is 0")
		return
	}
	mass := a.partition.Sums(res.F)
	for i, c := range rep.Communities {
		rep.Communities[i].SourceMass = mass[c.CommunityID]
	}
	if res.Status == recovery.Zero {
		rep.Notes = append(rep.Notes, "f̂ = 0 explains the measurements within the radius: Basis Pursuit Denoising names no source, and "+
			"only the posterior ranks")
	}
	if res.Status == recovery.Stalled {
		rep.Notes = append(rep.Notes, stalled(res.Gap))
	}
	for i, v := range res.F {
		if v > 0 {
			b.Support = append(b.Support, report.Source{NodeID: a.op.Graph.ID(i), Value: v})
		}
	}
}

// stalled says what is known of f̂ where the solver stopped at a relative gap.
func stalled(gap float64) string {
	text := "Basis Pursuit Denoising stopped without a certificate: f̂ may not be optimal, "
	if math.IsInf(gap, 0) || math.IsNaN(gap) {
		text += "and nothing bounds how far from it"
	} else {
		text += fmt.Sprintf("by a relative gap of up to %.2g", gap)
	}
	return text + "; the posterior does not depend on it"
}

// addNodes adds the values of the nodes, and the sentence that answers.
func (a *analysis) addNodes(res *recovery.Result) {
	f := make([]float64, a.op.Graph.Order())
	if res.Status != recovery.Infeasible {
		copy(f, res.F)
	}
	sensors := a.op.SensorNodes(a.in.Nodes)
	a.report.SetNodes(report.Nodes{
		Graph: a.op.Graph, PrivateHeat: report.LastOf(sensors, a.in.Values), NodeValues: report.NodeValues{
			Source: f, Probability: a.probability, Community: a.partition.Labels,
			Sensors: slices.Compact(slices.Clone(sensors)), Sigma: report.LastOf(sensors, a.in.Sigmas),
		},
	})
	a.report.SetAnswer()
}

// extra takes the error of what a report can do without: the measurements are paid for, so that it
// becomes a note on what is left out, unless ctx has ended.
func (a *analysis) extra(ctx context.Context, what string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("%s could not be computed, and is left out: %v", what, err))
	return nil
}
