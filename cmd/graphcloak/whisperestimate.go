// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/recovery/whisper"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// answersEstimate is what a command on answers would take and spend.
type answersEstimate struct {
	Command           string  `json:"command"`
	NodeCount         int     `json:"nodeCount"`
	RelationshipCount int     `json:"relationshipCount"`
	People            int     `json:"people"` // who may be asked
	SecondsMin        float64 `json:"secondsMin"`
	SecondsMax        float64 `json:"secondsMax"`
	EpsilonWouldSpend float64 `json:"epsilonWouldSpend"` // of each person
}

// learnSeconds is about what one core takes to learn from simulated whispers how far the likelihood is trusted, at most.
const learnSeconds = 12

// estimateAnswers says what the commands would take, by their default numbers of trials.
func (a *app) estimateAnswers(ctx context.Context, s graphStore, job graphcloak.Job) error {
	m, err := a.model(ctx, s, job.Settings)
	if err != nil {
		return err
	}
	n := m.Graph.Order()
	flip := answer.Question{Epsilon: job.Asking.Epsilon}.Flip()
	look := func(trials int) float64 { return lookSeconds(n, flip, 2*trials+nullVectors) }
	learn := learnSeconds * min(1, float64(n)/5000)
	if n > whisper.LargeGraph {
		learn = lookSeconds(n, flip, 300)
	}
	sizes, others := float64(len(sizesOfWhispers(n, job.Asking.Reach))), float64(len(otherEpsilons)+1)
	var all []answersEstimate
	for _, c := range []struct {
		name    string
		epsilon float64
		most    float64
	}{
		{"plan", 0, learn + min(sizes*look(study.DefaultTrials), largeTime.Seconds())},
		{"release", job.Asking.Epsilon, 0},
		{"recover", 0, look(0)},
		{"run", job.Asking.Epsilon, learn + look(0)},
		{"evaluate", 0, learn*others + look(1000)*(sizes+others)},
	} {
		all = append(all, answersEstimate{c.name, n, m.Graph.Size(), len(m.Sensors), .05 + c.most/10, 1 + 3*c.most, c.epsilon})
	}
	table := term.Table([]string{"command", "people", "seconds", "ε of each"}, all, func(e answersEstimate) []any {
		return []any{e.Command, e.People, fmt.Sprintf("%.2g to %.2g", e.SecondsMin, e.SecondsMax), e.EpsilonWouldSpend}
	})
	table.Title = "Estimate: nothing was run"
	table.Text = fmt.Sprintf("%s and %s. Seconds are those of one core. A run asks, and charges, those alone who have no kept answer of "+
		"the round.", report.Count(n, "node"), report.Count(m.Graph.Size(), "relationship"))
	return a.render(map[string]any{"commands": all}, table)
}
