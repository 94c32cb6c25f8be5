// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/report"
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

// columnSeconds is what one core takes for a column, per node and end of a relationship, on a graph over all of which a whisper spreads.
// Where --reach is small, or communities are loosely tied, it takes less.
const columnSeconds = 1e-8

// estimateAnswers says what the commands would take. A plan learns from a thousand columns at most, and each look for where a whisper
// began takes a column for every node.
func (a *app) estimateAnswers(ctx context.Context, s graphStore, job graphcloak.Job) error {
	m, err := a.model(ctx, s, job.Settings)
	if err != nil {
		return err
	}
	n := m.Graph.Order()
	column := columnSeconds * float64(n+2*m.Graph.Size())
	learn, look := column*float64(min(n, 1024)), column*float64(n)
	sizes, others := float64(len(sizesOfWhispers(n, job.Asking.Reach))), float64(len(otherEpsilons)+1)
	var all []answersEstimate
	for _, c := range []struct {
		name    string
		epsilon float64
		most    float64
	}{
		{"plan", 0, learn + sizes*look},
		{"release", job.Asking.Epsilon, column},
		{"recover", 0, look},
		{"run", job.Asking.Epsilon, learn + look},
		{"evaluate", 0, learn*others + look*(sizes+others)},
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
