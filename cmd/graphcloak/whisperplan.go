// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy/sensor"
	"github.com/graphcloak/graphcloak/recovery/whisper"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// noWhisperBound says what an evaluation of whispers is not.
const noWhisperBound = "No bound on the accuracy is claimed for whispers: these are simulated whispers, and a real one may spread " +
	"otherwise."

// heardBy says in words how many have heard.
func heardBy(h study.HeardBy) string {
	if h.From == h.To {
		return fmt.Sprint(h.From)
	}
	return fmt.Sprintf("%d to %d", h.From, h.To)
}

// whispers are the simulations of a command.
func (a *app) whispers(trials int) study.Whispers {
	return study.Whispers{Trials: trials, FalseAlarm: a.config.Recovery.FalseAlarm, Progress: a.progress}
}

// planAnswers makes a plan that asks everybody who is selected, and shows it.
func (a *app) planAnswers(ctx context.Context, job graphcloak.Job, packages sensorPackages, choice epsilonFlags) (err error) {
	if packages.most > 0 {
		return fail(exitUsage, "--max-sensors is about heat: everybody who is selected is asked").
			hint("name who is asked by --sensor-property")
	}
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if choice.aimed() {
			if job.Asking.Epsilon, err = a.whispers(choice.trials).EpsilonFor(ctx, m.Model, job.Asking, choice.target); err != nil {
				return asRefusal(err)
			}
		}
		p, err := m.PlanWhisper(ctx, job.Asking, m.Sensors, study.Everybody(m.Model))
		if err != nil {
			return asRefusal(err)
		}
		if err := a.writeAnswerPackages(packages, p); err != nil {
			return err
		}
		return a.tellAnswerPlan(ctx, m, p, choice.trials)
	})
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
		return a.render(p, term.Table([]string{"nodeId"}, p.Nodes(), func(i int) []any { return []any{string(m.Graph.ID(i))} }))
	}
	sections := []term.Section{{Title: "Plan", Columns: []string{"name", "value"}, Rows: slices.Values([][]any{
		{"people who are asked", len(p.People)},
		{"round", p.Round},
		{"ε of each of them", term.Cell(p.Epsilon, -1)},
		{"an answer is flipped with probability", term.Probability(p.Flip())},
	})}}
	head := fmt.Sprintf("%s would be asked, at ε = %v of each person's answer.", peopleOf(len(p.People)), p.Epsilon)
	if most := study.AffordableWhispers(m.Model, p, trials, largeTime); most < trials {
		if trials = most; trials == 0 {
			a.note("Note: how often whispers would be placed right was not simulated: on this graph it takes a processor more than %v; "+
				"`graphcloak evaluate` takes the time", largeTime)
		}
	}
	if trials > 0 {
		list, err := a.whispers(trials).BySize(ctx, m.Model, p)
		if err != nil {
			return asRefusal(err)
		}
		table := sizesTable(list, fmt.Sprintf("%d simulated whispers of each size", trials))
		sections = append(sections, table, term.Section{Text: noWhisperBound})
		head += " " + placed(list)
	}
	return a.render(p, append(sections, term.Section{Title: "Guarantee", Text: p.Sentence(), Detail: true}, term.Section{Answer: head},
		spentAndNext("nothing: a plan reads no answer",
			"-o plan.json keeps the plan, and release --plan takes it; run asks and answers in one step"))...)
}

// placed says how often whispers of the smallest and of the largest size are placed right.
func placed(list []study.HeardBy) string {
	first, last := list[0], list[len(list)-1]
	text := fmt.Sprintf("Of simulated whispers that %s people have heard, %s are placed in the right community", heardBy(first),
		report.Percent(first.Right))
	if len(list) > 1 {
		text += fmt.Sprintf(", and of those that %s have heard, %s", heardBy(last), report.Percent(last.Right))
	}
	return text + fmt.Sprintf("; chance is %s.", report.Percent(first.Chance))
}

// sizesTable is a row for each number of people who have heard.
func sizesTable(list []study.HeardBy, title string) term.Section {
	return whispersTable(title, "heard by", list, heardBy, func(h study.HeardBy) whisper.Evaluation { return h.Evaluation })
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

// evaluateAnswers says what an answer about a whisper would be worth on the user's graph.
func (a *app) evaluateAnswers(ctx context.Context, path string, trials int) error {
	job, p, err := a.answersToEvaluate(path)
	if err != nil {
		return err
	}
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if p == nil {
			if p, err = m.PlanWhisper(ctx, job.Asking, m.Sensors, study.Everybody(m.Model)); err != nil {
				return asRefusal(err)
			}
		} else if err := m.MatchesWhisper(p); err != nil {
			return err
		}
		result := struct {
			Epsilon   float64           `json:"epsilon"`
			Flip      float64           `json:"flip"`
			People    int               `json:"people"`
			Trials    int               `json:"trials"`
			Chance    float64           `json:"chance"`
			BySize    []study.HeardBy   `json:"bySize"`
			ByEpsilon []study.AtEpsilon `json:"byEpsilon"`
			Notes     []string          `json:"notes"`
		}{
			Epsilon: p.Epsilon, Flip: p.Flip(), People: len(p.People), Trials: trials, Notes: []string{noWhisperBound},
		}
		w := a.whispers(trials)
		if result.BySize, err = w.BySize(ctx, m.Model, p); err != nil {
			return asRefusal(err)
		}
		if result.ByEpsilon, err = w.ByEpsilon(ctx, m.Model, p); err != nil {
			return asRefusal(err)
		}
		result.Chance = result.BySize[0].Chance
		table := sizesTable(result.BySize, fmt.Sprintf("At ε = %v: %d simulated whispers of each size", p.Epsilon, trials))
		if a.outputFormat() != "table" {
			return a.render(result, table)
		}
		return a.render(result, table,
			whispersTable("Whispers of all sizes, at other ε of each person", "ε", result.ByEpsilon,
				func(x study.AtEpsilon) string { return term.Cell(x.Epsilon, -1) },
				func(x study.AtEpsilon) whisper.Evaluation { return x.Evaluation }),
			term.Section{Text: "found: the test sees that there is a whisper. hidden among: people in the 95 % credible set. " +
				"covered: that set holds who started it. ECE: how " +
				"far stated confidence is off. sure and wrong: another community has a probability above 0.9."},
			term.Section{Title: "Notes", Text: noWhisperBound},
			term.Section{Answer: placed(result.BySize)},
			spentAndNext("nothing: the whispers were simulated, and no answer was read",
				"`graphcloak plan --target-accuracy 0.7` finds the ε for an accuracy"))
	})
}

// answersToEvaluate is the job of an evaluation, and the plan where a file is named.
func (a *app) answersToEvaluate(path string) (graphcloak.Job, *graphcloak.Whisper, error) {
	job, err := a.job()
	if err != nil || path == "" {
		return job, nil, err
	}
	if err := a.settledBy("plan", path, config.GroupProjection, config.GroupSensors, config.GroupPrivacy); err != nil {
		return job, nil, err
	}
	p := new(graphcloak.Whisper)
	err = a.readAnswerPlan(path, p)
	job.Settings = chosen(p.Model, a.config.Recovery, a.config.Community)
	return job, p, err
}
