// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// asked is a store that notes whether it was asked for a graph.
type asked struct {
	graphcloak.Store
	selections []graph.Selection
}

var errAsked = errors.New("the store was asked")

func (a *asked) Graph(_ context.Context, sel graph.Selection) (*graph.Graph, error) {
	a.selections = append(a.selections, sel)
	return nil, errAsked
}

func (a *asked) Ledger() privacy.Ledger { return nil }

// A query in settings from a file reaches no store, by whatever way, until the very
// same query is given; settings that a program fills in itself are its own.
func TestForeignQueries(t *testing.T) {
	const nodes, relationships = "MATCH (n) RETURN elementId(n) AS id", "MATCH (a)-->(b) RETURN a, b"
	own := graphcloak.Settings{Selection: graph.Selection{NodeQuery: nodes, RelationshipQuery: relationships}, Tau: tau.At(1)}
	text := must.Get(json.Marshal(own))(t)
	read := func() (s graphcloak.Settings) {
		must.Do(t, json.Unmarshal(text, &s))
		return s
	}
	ways := map[string]func(s graphcloak.Store, set graphcloak.Settings) error{
		"Load": func(s graphcloak.Store, set graphcloak.Settings) error {
			_, err := graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{})
			return err
		},
		"Run": func(s graphcloak.Store, set graphcloak.Settings) error {
			job := testkit.PaperJob()
			job.Settings = set
			_, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
			return err
		},
		"EstimateCommands": func(s graphcloak.Store, set graphcloak.Settings) error {
			job := testkit.PaperJob()
			job.Settings = set
			_, err := study.EstimateCommands(t.Context(), s, job)
			return err
		},
	}
	for name, way := range ways {
		for given, ok := range map[[2]string]bool{
			{"", ""}:                         false,
			{nodes, ""}:                      false,
			{"", relationships}:              false,
			{nodes + " ", relationships}:     false,
			{relationships, nodes}:           false,
			{nodes, relationships}:           true,
			{strings.ToLower(nodes), "\x00"}: false,
		} {
			set, s := read(), new(asked)
			set.Agree(given[0], given[1])
			copied := set // the mark goes with the value
			err := way(s, copied)
			switch {
			case ok && !errors.Is(err, errAsked):
				t.Errorf("%s with the same queries: %v, want the store to be asked", name, err)
			case !ok && (!errors.Is(err, plan.ErrForeignQuery) || len(s.selections) > 0):
				t.Errorf("%s with %q: %v and %d questions to the store, want ErrForeignQuery and none", name, given, err, len(s.selections))
			case !ok && (!strings.Contains(err.Error(), nodes) || !strings.Contains(err.Error(), relationships)):
				t.Errorf("%s: the message does not show the queries: %v", name, err)
			}
		}
		if err := way(new(asked), own); !errors.Is(err, errAsked) {
			t.Errorf("%s with the program's own settings: %v, want the store to be asked", name, err)
		}
	}
}

// The message shows the query without what steers a terminal or hides an end.
func TestForeignQueryIsShownPlainly(t *testing.T) {
	query := "MATCH (n)\x1b[2K\r\n\tDETACH \u202eDELETE\u009b n //" + strings.Repeat(" x", 5000)
	text := must.Get(json.Marshal(graphcloak.Settings{Selection: graph.Selection{NodeQuery: query}}))(t)
	var set graphcloak.Settings
	must.Do(t, json.Unmarshal(text, &set))
	_, err := graphcloak.Load(t.Context(), new(asked), set, graphcloak.LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), "MATCH (n)[2K DETACH DELETE n //") ||
		strings.ContainsAny(err.Error(), "\x1b\r\n\u202e\u009b") || len(err.Error()) > 3000 {
		t.Errorf("the message is %q", err)
	}
}
