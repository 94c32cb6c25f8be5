// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/sensor"
	"github.com/graphcloak/graphcloak/recovery/whisper"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// noWhisperBound says what an evaluation of whispers is not.
const noWhisperBound = "No bound on the accuracy is claimed for whispers: these are simulated whispers, and a real one may spread " +
	"otherwise."

// evaluationSeed draws the whispers that are evaluated; those of a plan have another.
const evaluationSeed = 2

// heardBy is how well whispers are placed that a number of people have heard.
type heardBy struct {
	From int `json:"from"` // people
	To   int `json:"to"`
	whisper.Evaluation
}

func (h heardBy) people() string {
	if h.From == h.To {
		return fmt.Sprint(h.From)
	}
	return fmt.Sprintf("%d to %d", h.From, h.To)
}

// sizesOfWhispers are the ranges of people who have heard that are told apart, each about three times as large as the one before, up to
// half of the graph or what the model knows of; or the number that is known.
func sizesOfWhispers(n, reach int) (list []heardBy) {
	if reach > 0 {
		return []heardBy{{From: reach, To: reach}}
	}
	half := max(1, min(n/2, whisper.MostHeard))
	for from := min(3, half); from <= half; {
		next := 3*from + 1 // 3, 10, 31, 94, …
		if 2*next > half {
			next = half + 1
		}
		list = append(list, heardBy{From: from, To: next - 1})
		from = next
	}
	return list
}

// everybody marks all whom a model may ask.
func everybody(m *graphcloak.Model) []bool {
	asked := make([]bool, m.Graph.Order())
	for _, i := range m.Sensors {
		asked[i] = true
	}
	return asked
}

// bySize simulates whispers of each size. It reads no answer.
func (a *app) bySize(ctx context.Context, m *graphcloak.Model, p *graphcloak.Whisper, trials int) ([]heardBy, error) {
	list := sizesOfWhispers(m.Graph.Order(), p.Reach)
	likelihood, err := m.AnswerLikelihood(ctx, p, everybody(m))
	for k := 0; k < len(list) && err == nil; k++ {
		a.progress("evaluate", int64(k), int64(len(list)))
		o := whisper.EvaluateOptions{Trials: trials, From: list[k].From, To: list[k].To}
		list[k].Evaluation, err = likelihood.Evaluate(ctx, p.Tempering, a.simulated(o))
	}
	return list, err
}

// simulated are the options of all simulated whispers of a command.
func (a *app) simulated(o whisper.EvaluateOptions) whisper.EvaluateOptions {
	o.Seed = evaluationSeed
	if alarm := a.config.Recovery.FalseAlarm; alarm > 0 && alarm < 1 {
		o.Level = alarm
	}
	return o
}

// lookSeconds is about what one core takes to place whispers, given so many vectors of answers, on a graph of n people: each column
// of the likelihood meets every yes, at some ten sizes. It was measured on graphs of 200 to 10,000 people. On large graphs a sample of the
// columns does, and it is at most that where every column reaches everybody.
func lookSeconds(n int, flip float64, vectors int) float64 {
	if n > whisper.LargeGraph {
		return float64(min(n, 500_000)) * (5e-3 + 1e-5*flip*float64(vectors))
	}
	return 1e-8 * flip * float64(n) * float64(n) * float64(vectors)
}

// nullVectors are the answers without a whisper that a presence test compares with.
const nullVectors = 199

// affordable is the number of trials of each size that a plan simulates for its reader, at most those asked for; 0: none in time.
func affordable(n int, p *graphcloak.Whisper, sizes, trials int) int {
	within := func(trials int) bool {
		return float64(sizes)*lookSeconds(n, p.Flip(), 2*trials+nullVectors) <= largeTime.Seconds()
	}
	switch {
	case within(trials):
		return trials
	case within(report.LeastTrials):
		return min(trials, report.LeastTrials)
	}
	return 0
}

// planAnswers makes a plan that asks everybody who is selected, and shows it.
func (a *app) planAnswers(ctx context.Context, job graphcloak.Job, packages sensorPackages, choice epsilonFlags) (err error) {
	if packages.most > 0 {
		return fail(exitUsage, "--max-sensors is about heat: everybody who is selected is asked").
			hint("name who is asked by --sensor-property")
	}
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if choice.aimed() {
			if job.Asking.Epsilon, err = a.epsilonFor(ctx, m, job.Asking, choice); err != nil {
				return err
			}
		}
		p, err := m.PlanWhisper(ctx, job.Asking, m.Sensors, everybody(m))
		if err != nil {
			return asRefusal(err)
		}
		if err := a.writeAnswerPackages(packages, p); err != nil {
			return err
		}
		return a.tellAnswerPlan(ctx, m, p, choice.trials)
	})
}

// triedEpsilons are those among which the least is found that reaches a target.
var triedEpsilons = []float64{8, 6, 5, 4, 3, 2.5, 2, 1.5, 1.25, 1, .75, .5, .25}

// epsilonFor finds the least ε at which simulated whispers are placed right so often.
func (a *app) epsilonFor(ctx context.Context, m *graphcloak.Model, asking plan.Asking, c epsilonFlags) (float64, error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return 0, err
	}
	var flips []float64
	for _, epsilon := range triedEpsilons {
		flips = append(flips, answer.Question{Epsilon: epsilon}.Flip())
	}
	flip, found, ok, err := whisper.LargestFlip(ctx, m.Graph,
		whisper.Options{Labels: part.Labels, Reach: asking.Reach, Asked: everybody(m)}, flips, c.target,
		a.simulated(whisper.EvaluateOptions{Trials: c.trials}))
	if err != nil {
		return 0, asRefusal(err)
	}
	epsilon := triedEpsilons[slices.Index(flips, flip)]
	if !ok {
		return 0, fail(exitValidation, "simulated whispers are placed right in %s at ε = %v, and %s is wanted", report.Percent(found.Right),
			epsilon, report.Percent(c.target)).hint("ask for less; --reach NUMBER says how many have heard, where that is known")
	}
	return epsilon, nil
}

// writeAnswerPackages leaves a package for everybody who is asked. Their answers are one release.
func (a *app) writeAnswerPackages(s sensorPackages, p *graphcloak.Whisper) error {
	if s.dir == "" {
		return nil
	}
	id, err := run.NewRunID()
	if err != nil {
		return err
	}
	rounds := max(s.releases, int64(p.Round))
	packages, err := p.Packages(id, p.Epsilon*float64(rounds), s.options.Deployment, s.options.Epoch)
	if err != nil {
		return asRefusal(err)
	}
	if _, err := sensor.WriteAnswerDir(s.dir, packages); err != nil {
		return err
	}
	a.note("Wrote %d packages to %s; each answers in up to %s, for `graphcloak cloak --answers`", len(packages), s.dir,
		report.Count(rounds, "round"))
	return nil
}

// tellAnswerPlan shows a plan, and to people how well whispers would be placed by it.
func (a *app) tellAnswerPlan(ctx context.Context, m *graphcloak.Model, p *graphcloak.Whisper, trials int) error {
	if a.outputFormat() != "table" {
		return a.render(p, term.Section{
			Columns: []string{"nodeId"},
			Rows:    term.Rows(p.Nodes(), func(i int) []any { return []any{string(m.Graph.ID(i))} }),
		})
	}
	sections := []term.Section{{Title: "Plan", Columns: []string{"name", "value"}, Rows: slices.Values([][]any{
		{"people who are asked", len(p.People)},
		{"round", p.Round},
		{"ε of each of them", term.Cell(p.Epsilon, -1)},
		{"an answer is flipped with probability", term.Probability(p.Flip())},
	})}}
	head := fmt.Sprintf("%s would be asked, at ε = %v of each person's answer.", peopleOf(len(p.People)), p.Epsilon)
	if most := affordable(len(m.Sensors), p, len(sizesOfWhispers(m.Graph.Order(), p.Reach)), trials); most < trials {
		if trials = most; trials == 0 {
			a.note("Note: how often whispers would be placed right was not simulated: on this graph it takes a processor more than %v; "+
				"`graphcloak evaluate` takes the time", largeTime)
		}
	}
	if trials > 0 {
		list, err := a.bySize(ctx, m, p, trials)
		if err != nil {
			return asRefusal(err)
		}
		table := sizesTable(list, fmt.Sprintf("%d simulated whispers of each size", trials))
		sections = append(sections, table, term.Section{Text: noWhisperBound})
		head += " " + placed(list)
	}
	return a.render(p, append(sections, term.Section{Title: "Guarantee", Text: p.Sentence(), Detail: true}, term.Section{Answer: head},
		term.Section{Items: []term.Item{
			{Mark: "Spent", Text: "nothing: a plan reads no answer"},
			{Mark: "Next", Text: "-o plan.json keeps the plan, and release --plan takes it; run asks and answers in one step"},
		}})...)
}

// placed says how often whispers of the smallest and of the largest size are placed right.
func placed(list []heardBy) string {
	first, last := list[0], list[len(list)-1]
	text := fmt.Sprintf("Of simulated whispers that %s people have heard, %s are placed in the right community", first.people(),
		report.Percent(first.Right))
	if len(list) > 1 {
		text += fmt.Sprintf(", and of those that %s have heard, %s", last.people(), report.Percent(last.Right))
	}
	return text + fmt.Sprintf("; chance is %s.", report.Percent(first.Chance))
}

// sizesTable is a row for each number of people who have heard.
func sizesTable(list []heardBy, title string) term.Section {
	return whispersTable(title, "heard by", list, heardBy.people, func(h heardBy) whisper.Evaluation { return h.Evaluation })
}

func whispersTable[T any](title, by string, list []T, name func(T) string, of func(T) whisper.Evaluation) term.Section {
	return term.Section{
		Title: title, Columns: []string{by, "right", "found", "false alarms", "hidden among", "covered", "ECE", "sure and wrong"},
		Rows: term.Rows(list, func(x T) []any {
			e := of(x)
			return []any{
				name(x), decimals(e.Right), decimals(e.Found), decimals(e.FalseAlarms), term.Cell(e.Credible, term.FewDigits),
				decimals(e.Covered), decimals(e.CalibrationError), decimals(e.ConfidentAndWrong),
			}
		}),
	}
}

// atEpsilon is how well whispers of all sizes are placed at one ε.
type atEpsilon struct {
	Epsilon float64 `json:"epsilon"`
	Flip    float64 `json:"flip"`
	whisper.Evaluation
}

// otherEpsilons are evaluated beside that of the settings.
var otherEpsilons = []float64{.5, 1, 2, 4}

// evaluateAnswers says what an answer about a whisper would be worth on the user's graph.
func (a *app) evaluateAnswers(ctx context.Context, path string, trials int) error {
	job, p, err := a.answersToEvaluate(path)
	if err != nil {
		return err
	}
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if p == nil {
			if p, err = m.PlanWhisper(ctx, job.Asking, m.Sensors, everybody(m)); err != nil {
				return asRefusal(err)
			}
		} else if err := m.MatchesWhisper(p); err != nil {
			return err
		}
		result := struct {
			Epsilon   float64     `json:"epsilon"`
			Flip      float64     `json:"flip"`
			People    int         `json:"people"`
			Trials    int         `json:"trials"`
			Chance    float64     `json:"chance"`
			BySize    []heardBy   `json:"bySize"`
			ByEpsilon []atEpsilon `json:"byEpsilon"`
			Notes     []string    `json:"notes"`
		}{
			Epsilon: p.Epsilon, Flip: p.Flip(), People: len(p.People), Trials: trials, Notes: []string{noWhisperBound},
		}
		if result.BySize, err = a.bySize(ctx, m, p, trials); err != nil {
			return asRefusal(err)
		}
		if result.ByEpsilon, err = a.byEpsilon(ctx, m, p, trials); err != nil {
			return asRefusal(err)
		}
		result.Chance = result.BySize[0].Chance
		table := sizesTable(result.BySize, fmt.Sprintf("At ε = %v: %d simulated whispers of each size", p.Epsilon, trials))
		if a.outputFormat() != "table" {
			return a.render(result, table)
		}
		return a.render(result, table,
			whispersTable("Whispers of all sizes, at other ε of each person", "ε", result.ByEpsilon,
				func(x atEpsilon) string { return term.Cell(x.Epsilon, -1) }, func(x atEpsilon) whisper.Evaluation { return x.Evaluation }),
			term.Section{Text: "found: the test sees that there is a whisper. hidden among: people in the 95 % credible set. " +
				"covered: that set holds who started it. ECE: how " +
				"far stated confidence is off. sure and wrong: another community has a probability above 0.9."},
			term.Section{Title: "Notes", Text: noWhisperBound},
			term.Section{Answer: placed(result.BySize)},
			term.Section{Items: []term.Item{
				{Mark: "Spent", Text: "nothing: the whispers were simulated, and no answer was read"},
				{Mark: "Next", Text: "`graphcloak plan --target-accuracy 0.7` finds the ε for an accuracy"},
			}})
	})
}

// answersToEvaluate is the job of an evaluation, and the plan where a file is named.
func (a *app) answersToEvaluate(path string) (graphcloak.Job, *graphcloak.Whisper, error) {
	job, err := a.job()
	if err != nil || path == "" {
		return job, nil, err
	}
	if name := a.settled(config.GroupProjection, config.GroupSensors, config.GroupPrivacy); name != "" {
		return job, nil, fail(exitUsage, "--%s and --plan contradict each other: the plan file settles it", name).
			hint("leave out --%s", name)
	}
	p := new(graphcloak.Whisper)
	err = a.readAnswerPlan(path, p)
	job.Settings = chosen(p.Model, a.config.Recovery, a.config.Community)
	return job, p, err
}

// byEpsilon is how well whispers of all sizes are placed at the plan's ε and at others.
func (a *app) byEpsilon(ctx context.Context, m *graphcloak.Model, p *graphcloak.Whisper, trials int) (list []atEpsilon, err error) {
	all := slices.Compact(slices.Sorted(slices.Values(append([]float64{p.Epsilon}, otherEpsilons...))))
	for k, epsilon := range all {
		a.progress("evaluate", int64(k), int64(len(all)))
		at := p
		if epsilon != p.Epsilon {
			asking := plan.Asking{Rumour: p.Rumour, Round: p.Round, Epsilon: epsilon, Randomness: p.Randomness, Reach: p.Reach}
			if at, err = m.PlanWhisper(ctx, asking, nil, everybody(m)); err != nil {
				return nil, err
			}
		}
		likelihood, err := m.AnswerLikelihood(ctx, at, everybody(m))
		if err != nil {
			return nil, err
		}
		e, err := likelihood.Evaluate(ctx, at.Tempering, a.simulated(whisper.EvaluateOptions{Trials: trials}))
		if err != nil {
			return nil, err
		}
		list = append(list, atEpsilon{epsilon, at.Flip(), e})
	}
	return list, nil
}
