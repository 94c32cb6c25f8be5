// SPDX-License-Identifier: Apache-2.0

package study

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// Evaluation says how well sources are found under a plan, by simulation.
type Evaluation struct {
	NodeCount        int     `json:"nodeCount"`
	CommunityCount   int     `json:"communityCount"`
	Epsilon          float64 `json:"epsilon"`
	Delta            float64 `json:"delta"`
	Tau              float64 `json:"tau"` // of the plan, in the middle of its range where there is one
	Trials           int     `json:"trials"`
	RandomSeed       uint64  `json:"randomSeed"`
	SourceAmplitude  string  `json:"sourceAmplitude"` // that sources had: "uniform" or a number
	AssumedAmplitude string  `json:"amplitude"`       // prior of the posterior: "mixed", "uniform" or "one"
	// Chance is how often always naming the likeliest community of the prior is right.
	Chance float64 `json:"chance"`
	// Scenario is what differs from the model, by its name.
	Scenario string `json:"scenario"`
	// Allocation is "optimal" or "uniform": the plan's noise, which Performance is about.
	Allocation string `json:"allocation"`
	*Performance
	// Uniform is the performance of uniform noise with the same guarantee; nil: the
	// plan's noise is uniform.
	Uniform *Performance `json:"uniform,omitempty"`
	// Sets hold the true community of an event like the past ones that were evaluated, whatever the model is; nil: sources were
	// simulated.
	Sets  []ConformalSet `json:"conformalSets,omitempty"`
	Notes []string       `json:"notes"`
}

// Options steer [Evaluate]; the zero value is the default.
type Options struct {
	Trials int // 0: 1,000
	// Events are evaluated in place of simulated sources; nil: these.
	Events []simulate.Event
	simulate.Options
}

// Evaluate simulates releases of single sources under the plan, and under uniform
// noise with the same guarantee, and recovers from them. Noise is drawn by
// [privacy.Plan.Perturb] itself, keyed by the seed instead of a secret: it hides
// nothing. No signal is read and nothing is spent. It returns [recovery.ErrInvalid] for
// options without a meaning, and the errors of [simulate.New],
// [plan.Model.Matches] and [plan.Model.UniformPlan].
func Evaluate(ctx context.Context, m *plan.Model, p *plan.Plan, opts Options) (*Evaluation, error) {
	if err := m.Matches(p.Plan); err != nil {
		return nil, err
	}
	opts.Trials = cmp.Or(opts.Trials, 1000)
	if opts.Events != nil {
		opts.Trials, opts.Past = len(opts.Events), true
	}
	if opts.Trials < 0 || !(opts.Amplitude >= 0 && opts.Amplitude <= 1) {
		return nil, fmt.Errorf("%w: %d trials at amplitude %v, want > 0 and in [0, 1]", recovery.ErrInvalid, opts.Trials, opts.Amplitude)
	}
	if err := analyst.CheckFalseAlarm(opts.Recover.FalseAlarm); err != nil {
		return nil, err
	}
	if opts.Scenario.Name == "" {
		opts.Scenario = simulate.Scenarios()[0]
	}
	s, err := simulate.New(ctx, m, opts.Options)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{
		NodeCount: p.NodeCount, CommunityCount: s.Partition.Count, Epsilon: p.Epsilon, Delta: p.Delta, Tau: p.Public.Tau,
		Trials: opts.Trials, RandomSeed: opts.Seed, SourceAmplitude: "uniform", AssumedAmplitude: opts.Recover.Amplitude.String(),
		Chance: s.Chance(), Scenario: opts.Scenario.Name, Allocation: "uniform", Notes: notes(m, p.Plan, s, opts),
	}
	switch {
	case opts.Events != nil:
		e.SourceAmplitude = "as it was"
	case opts.Amplitude > 0:
		e.SourceAmplitude = strconv.FormatFloat(opts.Amplitude, 'g', -1, 64)
	}
	evaluate := func(p *privacy.Plan, stage string) (f *Performance, err error) {
		r, err := s.Under(ctx, p)
		switch {
		case err != nil:
		case opts.Events != nil:
			err = r.RunEvents(ctx, stage, opts.Events)
		default:
			err = r.Run(ctx, stage, opts.Trials)
		}
		if err == nil && opts.Events != nil && e.Sets == nil {
			e.Sets = conformal(r.Trials, s.Partition)
		}
		if err == nil {
			f, err = Summarize(r.Trials, opts.Seed)
		}
		if err == nil {
			f.Communities = byCommunity(r.Trials, s.Partition)
			f.SensorCount, f.Noise = m.Operator.SensorCount(plan.SensorRows(p)), (&plan.Plan{Plan: p}).Noise()
		}
		return f, err
	}
	if e.Performance, err = evaluate(p.Plan, "evaluate"); err != nil {
		return nil, err
	}
	uniform, err := m.UniformPlan(p)
	if err != nil {
		return nil, err
	}
	if uniform != nil {
		e.Allocation, e.UniformSigma = "optimal", uniform.Sigma()
		if e.Uniform, err = evaluate(uniform, "evaluate uniform noise"); err != nil {
			return nil, err
		}
	}
	if s.Estimated {
		e.Notes = append(e.Notes, fmt.Sprintf("column norms were estimated by %d random products", simulate.NormProbes))
	}
	return e, nil
}

// Answer says how far an answer on this graph may be trusted.
func (e *Evaluation) Answer() string {
	p := e.Performance
	text := fmt.Sprintf("The right community ranks first in %s of %d runs (95 %% interval %.0f to %.0f %%), where chance is right in %s.",
		report.Percent(p.Right.Rate), e.Trials, 100*p.Right.Lower, 100*p.Right.Upper, report.Percent(e.Chance))
	if c := p.Calibration; c.Error <= c.Limit {
		return text + " The confidence that it states is as good as it says, as far as so many runs can tell."
	}
	return text + fmt.Sprintf(" The confidence that it states is off by %s on average.", report.Percent(p.Calibration.Error))
}

// notes says what a reader of the numbers should know.
func notes(m *plan.Model, p *privacy.Plan, s *simulate.Simulator, opts Options) []string {
	notes := []string{"sources and noise were simulated: no signal was read, and nothing was spent"}
	if opts.Events != nil {
		notes[0] = "the readings are those of past events, of which only shares are shown; their noise was simulated, and nothing was spent"
	}
	strength := map[posterior.Amplitude]float64{posterior.UniformAmplitude: 0, posterior.UnitAmplitude: 1}
	if assumed, ok := strength[opts.Recover.Amplitude]; opts.Events == nil && (!ok || opts.Amplitude != assumed) {
		notes = append(notes, "the posterior assumes another amplitude than the sources had: its confidence need not be calibrated")
	}
	switch {
	case s.SupposesFaults(p):
		notes = append(notes, "the posterior supposes that sensors may be broken")
	case p.Measured() && opts.Recover.FaultRate == nil:
		notes = append(notes, "the posterior supposes sound sensors, which that of a release of measured readings does not: "+
			"--sensor-fault-rate 0.01 does as it does, and takes longer")
	}
	if r := p.Uncertainty.Tau(); r.IsWide() {
		who := "sums over it, as that of a release does"
		if m.Graph.Order() > analyst.DenseLimit {
			who = "supposes the plan's τ, as that of a release of so large a graph does"
		}
		notes = append(notes, fmt.Sprintf("τ was drawn from %v to %v, evenly on a logarithmic scale, and the posterior %s",
			r.From, r.To, who))
	}
	if graphs := m.ListedGraphs(); len(graphs) > 0 {
		own := "stored graph"
		if m.Operator.Given != nil {
			own = "first operator"
		}
		who := "sums over the " + own + " and the"
		if _, all := m.Operator.Processes(graphs, p.Uncertainty.Tau(), len(p.Sensors)); !all ||
			opts.Recover.StoredGraph {
			who = "supposes the " + own + ", and none of the"
		}
		notes = append(notes, fmt.Sprintf("the posterior %s %d listed, each as likely", who, len(graphs)))
	}
	if opts.Scenario.Name != simulate.Scenarios()[0].Name {
		notes = append(notes, "what happened was not the model: "+opts.Scenario.About)
	}
	if opts.Scenario.Sourceless() {
		notes = append(notes, "without a source nothing that is named is right, and no set covers one")
	}
	if opts.Recover.Sources > 1 {
		notes = append(notes, "every trial has one source, and the posterior supposes one")
	}
	if s.Partition.Count == 1 {
		notes = append(notes, "there is a single community, so there is nothing to tell apart")
	}
	return notes
}
