// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// readBack adds to a report of a run the values that it wrote to the nodes.
func (a *app) readBack(ctx context.Context, s graphStore, own connector.Run, rep *report.Report) error {
	set, err := modelSettings(a.config)
	if err != nil {
		return err
	}
	g, err := s.Graph(ctx, set.Selection)
	if err != nil {
		return err
	}
	if digest := g.Digest(); hex.EncodeToString(digest[:]) != own.Graph {
		return fail(exitConflict, "run %s was on another graph than these flags select, or the graph changed since", own.ID).
			hint("give the flags of the run that select nodes and relationships, weights and lengths").about("run", own.ID)
	}
	prefix := strings.TrimSuffix(own.RunIDColumn, "RunId")
	ids, err := s.Labels(ctx, g, own.RunIDColumn)
	if err != nil {
		return err
	}
	replaced := slices.ContainsFunc(ids, func(id string) bool { return id != own.ID })
	if replaced && rep.NodeValues != nil {
		return rep.Restore(g)
	}
	if replaced {
		return fail(exitConflict, "run %s: %w", own.ID,
			errReplaced).hint("another run has written there since; `graphcloak report FILE.json` takes a file that the run left").about(
			"run", own.ID)
	}
	nodes, err := written(ctx, s, g, prefix)
	if err != nil {
		return err
	}
	rep.SetNodes(nodes)
	return nil
}

// written reads the properties that a run wrote.
func written(ctx context.Context, s graphStore, g *graph.Graph, prefix string) (report.Nodes, error) {
	columns := make(map[string][]float64)
	for _, name := range []string{"Source", "SourceProbability", "Community", "PrivateHeat", "PrivateHeatSigma"} {
		values, err := s.Signal(ctx, g, prefix+name)
		if err != nil {
			return report.Nodes{}, fmt.Errorf("read back: %w", err)
		}
		columns[name] = values
	}
	nodes := report.Nodes{Graph: g}
	nodes.Source, nodes.Probability = columns["Source"], columns["SourceProbability"]
	for i, y := range columns["PrivateHeat"] {
		if sigma := columns["PrivateHeatSigma"][i]; !math.IsNaN(y) && sigma > 0 {
			nodes.Sensors, nodes.PrivateHeat, nodes.Sigma = append(nodes.Sensors, i), append(nodes.PrivateHeat, y),
				append(nodes.Sigma, sigma)
		}
	}
	nodes.Community = make([]int, g.Order())
	for i, c := range columns["Community"] {
		if p := nodes.Probability[i]; !(p >= 0 && p <= 1) || c != math.Trunc(c) || !(c >= 0 && c < float64(g.Order())) ||
			math.IsNaN(nodes.Source[i]) {
			return report.Nodes{}, fail(exitConflict, "node %s has no result of a run: %w", g.ID(i),
				errReplaced).hint("run again, or give a report file")
		}
		nodes.Community[i] = int(c)
	}
	return nodes, nil
}

// attach adds the rows of a report file to its report. They must be of the graph that the
// flags select.
func (a *app) attach(ctx context.Context, s graphStore, rep *report.Report, rows []report.Node) error {
	set, err := modelSettings(a.config)
	if err != nil {
		return err
	}
	g, err := s.Graph(ctx, set.Selection)
	if err != nil {
		return err
	}
	n := g.Order()
	nodes := report.Nodes{Graph: g}
	nodes.Source, nodes.Probability, nodes.Community = make([]float64, n), make([]float64, n), make([]int, n)
	if len(rows) != n {
		return fail(exitConflict, "the file has %d nodes, and these flags select %d", len(rows),
			n).hint("give the flags of the run that select nodes and relationships")
	}
	for k, row := range rows { // in the order of the graph
		if row.NodeID != g.ID(k) || row.CommunityID < 0 || row.CommunityID >= n ||
			!(row.SourceProbability >= 0 && row.SourceProbability <= 1) {
			return fail(exitConflict, "row %d of the file is of another graph than these flags select",
				k+1).hint("give the flags of the run that select nodes and relationships")
		}
		nodes.Source[k], nodes.Probability[k], nodes.Community[k] = row.Source, row.SourceProbability, row.CommunityID
		if row.PrivateHeat != nil && row.PrivateHeatSigma != nil && *row.PrivateHeatSigma > 0 {
			nodes.Sensors, nodes.PrivateHeat, nodes.Sigma = append(nodes.Sensors, k), append(nodes.PrivateHeat, *row.PrivateHeat),
				append(nodes.Sigma, *row.PrivateHeatSigma)
		}
	}
	rep.SetNodes(nodes)
	return nil
}

// errReplaced says that the values of a run are no longer on the nodes.
var errReplaced = errors.New("its values are not on the nodes of this graph any more, or not on all of them")
