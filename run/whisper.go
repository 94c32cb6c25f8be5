// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/recovery/whisper"
	"github.com/graphcloak/graphcloak/report"
)

// runWhisper asks those who have no kept answer of the round, releases what they say, finds where the rumour began, and writes all
// kept answers back. Where nobody is left to ask it spends nothing and reads the kept answers alone. Where another run has asked
// since the kept answers were read, nobody is asked again: [ErrPaidMeanwhile].
func (m *Model) runWhisper(ctx context.Context, job Job) (*report.Report, error) {
	start := time.Now()
	defer m.BeginPartition(ctx)()
	kept, job, err := m.keptBefore(ctx, job)
	if err != nil {
		return nil, err
	}
	p, truths, err := m.askWhom(ctx, job, kept)
	if err != nil {
		return nil, err
	}
	if job.PlannedWhisper != nil {
		if err := job.PlannedWhisper(p); err != nil {
			return nil, err
		}
	}
	m.Millis.PreProcessingMillis = plan.Since(start)
	if len(p.People) > 0 {
		if err := checkKey(p.Randomness, job.Noise); err != nil {
			return nil, err
		}
	}
	outline := report.AnswerOutline(job.RunID, job.Write.Prefix, m.answering(p.Nodes(), kept))
	if err := m.checkWhisper(ctx, p, job, outline); err != nil {
		return nil, err
	}
	if job.DryRun {
		return nil, nil
	}
	if !job.Write.Enabled && len(p.People) > 0 {
		m.Notes = append(m.Notes, "the answers are not kept on the nodes in this mode: the next run asks again, and pays again")
	}
	if len(p.People) == 0 {
		return m.CompleteAnswers(ctx, &AnswerRelease{Plan: p, Signal: job.Signal}, job)
	}
	start = time.Now()
	a := answerAttempt(p, job)
	r, err := pay(ctx, m, a, outline, job, func() (*AnswerRelease, error) { return drawAnswers(a, truths, job.Noise) }, putAnswers, false)
	if err != nil {
		return nil, err
	}
	m.Millis.PrivacyMillis = wholeSeconds(plan.Since(start))
	return m.CompleteAnswers(ctx, r, job)
}

// askWhom makes the plan of a run: it asks whoever has a truth and no kept answer of the round. truths are beside the plan's people.
func (m *Model) askWhom(ctx context.Context, job Job, kept answer.Kept) (*plan.Whisper, []bool, error) {
	values, err := m.truths(ctx, job.Signal)
	if err != nil {
		return nil, nil, err
	}
	var may []privacy.Sensor
	for _, i := range m.Sensors {
		if !math.IsNaN(values[i]) {
			may = append(may, privacy.Sensor{Node: i, ID: m.Graph.ID(i)})
		}
	}
	if len(may) == 0 && len(kept) == 0 {
		return nil, nil, fmt.Errorf("%w: no selected node has %q", ErrMissingSignal, job.Signal.AnswerProperty)
	}
	asked := kept.Unasked(may, job.Asking.AtRound())
	people, truths := make([]int, len(asked)), make([]bool, len(asked))
	for k, s := range asked {
		people[k], truths[k] = s.Node, values[s.Node] == 1
	}
	answering := make([]bool, m.Graph.Order())
	for _, i := range m.answering(people, kept) {
		answering[i] = true
	}
	p, err := m.PlanWhisper(ctx, job.Asking, people, answering)
	return p, truths, err
}

// answering lists the nodes that are asked or have a kept answer, ascending.
func (m *Model) answering(people []int, kept answer.Kept) []int {
	nodes := slices.Clone(people)
	for id := range kept {
		if i, ok := m.Graph.Index(id); ok {
			nodes = append(nodes, i)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// checkWhisper finds what would stop a release of answers or their recovery, or the ledger from paying for it.
func (m *Model) checkWhisper(ctx context.Context, p *plan.Whisper, job Job, outline report.Table) error {
	if err := analyst.CheckFalseAlarm(job.Recover.FalseAlarm); err != nil {
		return err
	}
	if err := checkPublished(ctx, job.Ledger, job.Signal); err != nil {
		return err
	}
	if len(p.People) > 0 {
		if _, err := checkCap(ctx, job.Ledger, Scope(job.Signal), job.RequireCap); err != nil {
			return err
		}
		if job.DryRun || job.AskFirst {
			if err := grants(ctx, job.Ledger, answerAttempt(p, job)); err != nil {
				return err
			}
		}
	}
	if !job.Write.Enabled {
		return nil
	}
	return job.Write.To.Check(ctx, m.Graph, outline, job.Write.Force)
}

// CompleteAnswers says where the rumour began and writes back: the second half of a run, the whole of a resumed one, or, under another
// run id than the release's, a new look at old answers, which costs nothing. Answers that are kept on the nodes are read beside those of
// the release. The errors are those of [Model.Locate], [Payment] and the sink.
func (m *Model) CompleteAnswers(ctx context.Context, r *AnswerRelease, job Job) (*report.Report, error) {
	rep, err := m.locateAndWrite(ctx, r, job)
	if err == nil || !r.isOf(job) || errors.Is(err, ErrUnpaid) {
		return rep, err
	}
	return nil, &UnfinishedError{job.RunID, IsSpent, err}
}

// isOf reports whether the job is that which paid for the release.
func (r *AnswerRelease) isOf(job Job) bool { return r.Release != nil && r.ID() == job.RunID }

// keptBeside returns the kept answers about the rumour with those of the release among them.
func (m *Model) keptBeside(ctx context.Context, r *AnswerRelease, job Job) (answer.Kept, error) {
	job.Asking = plan.Asking{Rumour: r.Plan.Rumour, Round: r.Plan.Round, Epsilon: r.Plan.Epsilon}
	kept, err := m.keptAnswers(ctx, job)
	if err == nil {
		err = sameEpsilon(kept, job.Asking)
	}
	if err != nil || r.Release == nil {
		return kept, err
	}
	for _, a := range r.Answers() {
		if kept[a.ID].Round <= r.Plan.Round {
			kept[a.ID] = answer.KeptAnswer{Yes: a.Yes, Round: r.Plan.Round, Epsilon: r.Plan.Epsilon}
		}
	}
	return kept, nil
}

func (m *Model) locateAndWrite(ctx context.Context, r *AnswerRelease, job Job) (*report.Report, error) {
	job, err := job.resolved(m.Source)
	if err != nil {
		return nil, err
	}
	kept, err := m.keptBeside(ctx, r, job)
	if err != nil {
		return nil, err
	}
	rep, err := m.Locate(ctx, r.Plan, kept, job.Recover)
	if err != nil {
		return nil, err
	}
	rep.RunID, rep.Version, rep.Configuration, rep.Signal = job.RunID, job.Version, job.Configuration, r.Signal.AnswerProperty
	if !r.isOf(job) {
		rep.Whisper.New = 0
	} else {
		rep.ReleaseID, rep.EpsilonSpent = r.ID(), r.Plan.Epsilon
	}
	return m.writeBack(ctx, r, r.isOf(job), rep, job, func() (report.Table, error) {
		return report.NewAnswerTable(m.Graph, kept, rep, job.Write.Prefix), nil
	})
}

// Locate says where the rumour began, from kept answers. It returns [plan.ErrGraphChanged] or [plan.ErrPlan] for a plan of another
// graph, [whisper.ErrInvalid], and the errors of [plan.Model.Partition].
func (m *Model) Locate(ctx context.Context, p *plan.Whisper, kept answer.Kept, opts analyst.Options) (*report.Report, error) {
	start := time.Now()
	if err := m.MatchesWhisper(p); err != nil {
		return nil, err
	}
	if err := analyst.CheckFalseAlarm(opts.FalseAlarm); err != nil {
		return nil, err
	}
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	answers, answering := make([]whisper.Answer, m.Graph.Order()), make([]bool, m.Graph.Order())
	nodes := report.Nodes{Graph: m.Graph, NodeValues: report.NodeValues{Source: make([]float64, m.Graph.Order()), Community: part.Labels}}
	for i := range answers {
		if a, ok := kept[m.Graph.ID(i)]; ok {
			answers[i], answering[i] = whisper.No, true
			nodes.Answering, nodes.Yes = append(nodes.Answering, i), append(nodes.Yes, a.Yes)
			if a.Yes {
				answers[i] = whisper.Yes
			}
		}
	}
	likelihood, err := m.AnswerLikelihood(ctx, p, answering)
	if err != nil {
		return nil, err
	}
	found, err := likelihood.Locate(ctx, p.Tempering, [][]whisper.Answer{answers}, whisper.LocateOptions{Nulls: presenceTrials, Seed: 1})
	if err != nil {
		return nil, err
	}
	r := found[0]
	rep := m.newReport()
	describeCommunities(rep, part)
	m.describeAnswers(rep, p)
	rep.SensorCount = r.Asked
	falseAlarm := cmp.Or(opts.FalseAlarm, analyst.DefaultFalseAlarm)
	rep.Presence = &report.Presence{
		Detected: r.Presence.Nobody <= falseAlarm, Probability: 1, PValue: r.Presence.Nobody, FalseAlarm: falseAlarm,
		Trials: r.Presence.Trials,
	}
	if falseAlarm < 1 {
		rep.Presence.Probability = 1 / (1 + math.Exp(-r.Presence.LogEvidence))
	}
	exists := rep.Presence.Probability
	for i := range r.Probability {
		r.Probability[i] *= exists
	}
	best := floats.MaxIdx(r.Probability)
	rep.Posterior = report.Posterior{
		NodeID: m.Graph.ID(best), Probability: r.Probability[best], CredibleSetSize: r.Credible, LogPresence: r.Presence.LogEvidence,
	}
	rep.Whisper = &report.Whisper{
		Rumour: p.Rumour, Round: p.Round, Asked: r.Asked, New: len(p.People), Yes: r.Yes, Heard: r.Heard, HeardError: r.HeardError,
		Flip: p.Flip(), Among: r.Among,
	}
	chance := report.Chance(nil, part.Labels, part.Count, 1)
	for _, s := range community.Rank(r.Probability, part) {
		rep.Communities = append(rep.Communities, report.Community{
			CommunityID: s.Community, Name: s.Name, Size: s.Order, Prior: chance[s.Community], Probability: min(1, s.Probability),
		})
	}
	nodes.Probability = r.Probability
	rep.SetNodes(nodes)
	rep.SetAnswer()
	rep.RecoveryMillis = plan.Since(start)
	rep.ComputeMillis += rep.RecoveryMillis
	return rep, nil
}

// presenceTrials is the number of simulated answers without a rumour: with the answers themselves 200, of which false alarms of 5 % are a
// whole number.
const presenceTrials = 199

// describeAnswers adds the guarantee.
func (m *Model) describeAnswers(rep *report.Report, p *plan.Whisper) {
	rep.Guarantee, rep.NotProtected = p.Sentence(), report.ExposedByAnswers()
	rep.Promise = &privacy.Promise{Guarantee: privacy.PerPerson.String()}
	rep.Epsilon, rep.Randomness = p.Epsilon, p.Randomness.String()
}
