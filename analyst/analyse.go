// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// ByEvidence is the number of sources that the measurements favour, among 0 to
// mostSources.
const (
	ByEvidence  = -1
	mostSources = 5
)

// Options steer [Operator.Analyse]; the zero value is the default.
type Options struct {
	Rule      recovery.Rule
	Amplitude recovery.Amplitude
	Sources   int // that the posterior supposes; 0: one; or [ByEvidence]
	Progress  func(stage string, done, total int64)
}

// CheckSources refuses, with [recovery.ErrInvalid], a number of sources that is not
// below the n nodes of the graph, 1 apart.
func CheckSources(sources, n int) error {
	if sources < ByEvidence || sources > 1 && sources >= n {
		return fmt.Errorf("%w: %d sources, want at least 1 and fewer than the number of nodes, %d", recovery.ErrInvalid, sources, n)
	}
	return nil
}

// Prior makes a prior of the values of a property, NaN where a node has none: in a unit
// that is near the largest of them, so that no sum is infinite and none underflows. It
// changes and returns p, or [recovery.ErrInvalid] where a value is negative or
// infinite, or fewer are above 0 than there are to be sources.
func Prior(p []float64, property string, sources int) ([]float64, error) {
	wrong, possible := 0, 0
	for i, v := range p {
		switch {
		case math.IsNaN(v):
			p[i] = 0
		case v < 0 || math.IsInf(v, 1):
			wrong++
		}
	}
	if wrong > 0 { // named as public by mistake, perhaps: nothing is said of its values
		return nil, fmt.Errorf("%w: prior %w", recovery.ErrInvalid, &privacy.ReadingsError{Property: property, Wrong: "is negative or infinite", Count: wrong})
	}
	_, unit := math.Frexp(floats.Max(p))
	for i, v := range p {
		if p[i] = math.Ldexp(v, -unit); p[i] > 0 {
			possible++
		}
	}
	if possible < max(1, sources) {
		return nil, fmt.Errorf("%w: the prior %q allows fewer nodes than there are to be sources, %d", recovery.ErrInvalid, property, max(1, sources))
	}
	return p, nil
}

// Analyse computes the posterior, the ranking of the communities and f̂, and puts them
// into the report. A nil prior is flat. Where Basis Pursuit Denoising ends without a
// certificate, its status is stalled and its gap honest: the posterior does not depend
// on it. It returns [recovery.ErrInvalid] for measurements that do not fit together.
func (o *Operator) Analyse(ctx context.Context, in Measurements, part community.Partition, prior []float64, opts Options, rep *report.Report) error {
	w, err := o.Whiten(ctx, in)
	if err != nil {
		return err
	}
	a := analysis{Whitened: w, partition: part, prior: prior, opts: opts, report: rep}
	return a.run(ctx)
}

// analysis is one recovery.
type analysis struct {
	*Whitened
	partition community.Partition
	prior     []float64
	opts      Options
	report    *report.Report

	probability []float64 // of each node to be a source
	rHat        float64   // the worst so far
}

func (a *analysis) run(ctx context.Context) error {
	opts := recovery.PosteriorOptions{Amplitude: a.opts.Amplitude, Prior: a.prior, Progress: a.opts.Progress}
	norms, err := a.Data.Norms(ctx, opts)
	if err != nil {
		return err
	}
	opts.Norms = &norms
	posterior, err := a.Data.Posterior(ctx, opts)
	if err != nil {
		return err
	}
	result, bpdn, err := a.Denoise(ctx, a.opts.Rule, a.opts.Progress)
	if err != nil {
		return err
	}
	a.report.BPDN = bpdn
	a.rank(posterior)
	a.describe(result)
	known := opts
	known.Amplitude = recovery.UnitAmplitude
	if posterior, err = a.Data.Posterior(ctx, known); err != nil {
		return err
	}
	a.report.Posterior.KnownMassSetSize = len(posterior.Credible)
	if err := a.several(ctx, opts); err != nil {
		return err
	}
	a.attach(result)
	return nil
}

// rank reports the posterior of nodes and communities.
func (a *analysis) rank(p *recovery.Posterior) {
	rep := a.report
	chance := report.Chance(a.prior, a.partition.Labels, a.partition.Count, 1)
	for _, s := range community.Rank(p.Probability, a.partition) {
		rep.Communities = append(rep.Communities, report.Community{
			CommunityID: s.Community, Name: s.Name, Size: s.Order, Prior: chance[s.Community],
			Probability: min(1, s.Probability),
		})
	}
	best := p.Best()
	rep.Posterior = report.Posterior{
		NodeID: a.op.Graph.ID(best), Probability: p.Probability[best], CredibleSetSize: len(p.Credible),
		LogRunnerUp: report.Finite(math.Log(p.RunnerUp)), LogPresence: p.LogPresence, Slack: p.Slack, ProbabilityError: p.ProbabilityError,
	}
	if e := p.ProbabilityError; e > 0.01 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("the column norms of M are bounded, not exact: probabilities may be off by up to %.2g", e))
	}
	a.probability = p.Probability
}

// describe reports f̂: its certificate, its entries, and its mass by community.
func (a *analysis) describe(res *recovery.Result) {
	rep, b := a.report, &a.report.BPDN
	b.Status, b.Objective, b.LowerBound, b.Gap = res.Status.String(), res.Objective, res.LowerBound, report.Finite(res.Gap)
	b.Support = []report.Source{}
	if b.Retried {
		rep.Notes = append(rep.Notes, fmt.Sprintf("no source vector in [0, 1] fits the measurements within the first radius, with a proof: Basis Pursuit Denoising was solved again within a larger one, %.4g by the rule %s", b.Radius, b.RadiusRule))
	}
	if res.Status == recovery.Infeasible {
		b.Objective = 0
		rep.Notes = append(rep.Notes, "no source vector in [0, 1] fits the measurements within the radius: Basis Pursuit Denoising is infeasible, with a proof, and f̂ is 0")
		return
	}
	mass := a.partition.Sums(res.F)
	for i, c := range rep.Communities {
		rep.Communities[i].SourceMass = mass[c.CommunityID]
	}
	if res.Status == recovery.Zero {
		rep.Notes = append(rep.Notes, "f̂ = 0 explains the measurements within the radius: Basis Pursuit Denoising names no source, and only the posterior ranks")
	}
	if res.Status == recovery.Stalled {
		rep.Notes = append(rep.Notes, fmt.Sprintf("Basis Pursuit Denoising stopped without a certificate, at a relative gap of %.2g", res.Gap))
	}
	for i, v := range res.F {
		if v > 0 {
			b.Support = append(b.Support, report.Source{NodeID: a.op.Graph.ID(i), Value: v})
		}
	}
}

// attach adds the values of the nodes, and the sentence.
func (a *analysis) attach(res *recovery.Result) {
	f := make([]float64, a.op.Graph.Order())
	if res.Status != recovery.Infeasible {
		copy(f, res.F)
	}
	a.report.SetNodes(report.Nodes{
		Graph: a.op.Graph, Source: f, Probability: a.probability, Community: a.partition.Labels,
		Sensors: a.in.Nodes, PrivateHeat: a.in.Values, Sigma: a.in.Sigmas,
	})
	a.report.SetAnswer()
}
