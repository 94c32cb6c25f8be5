// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// record reads the properties of a run's record, whatever a store makes of their types.
type record map[string]any

func (r record) text(key string) string { s, _ := r[key].(string); return s }

func (r record) number(key string) float64 {
	switch v := r[key].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

func (r record) count(key string) int { return int(max(0, min(math.MaxInt32, r.number(key)))) }

func (r record) list(key string) []string {
	switch v := r[key].(type) {
	case []string:
		return v
	case []any:
		var out []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// recorded is the report of a run as far as its record tells.
func recorded(own connector.Run) *report.Report {
	r := record(own.Record)
	rep := &report.Report{
		RunID: own.ID, ReleaseID: r.text("releaseId"), Signal: r.text(report.SignalKey), Version: r.text("version"), Store: r.text("store"),
		Answer: r.text("answer"), Guarantee: r.text("guarantee"), NotProtected: r.list("notProtected"), Prior: r.text("priorProperty"),
		Ceiling: r.number("ceiling"), NodeCount: r.count("nodeCount"), RelationshipCount: r.count("relationshipCount"),
		SensorCount: r.count("sensorCount"), FaultySensorCount: r.count(report.FaultySensorsKey),
		Tau: r.number("tau"), Laplacian: r.text("laplacian"), Metric: r.text("metric"), Epsilon: r.number("epsilon"),
		Delta: r.number("delta"),
		Alpha: r.number("alpha"), Calibration: r.text("calibration"), Randomness: r.text("randomness"),
		EpsilonSpent: r.number("epsilonSpent"), DeltaSpent: r.number("deltaSpent"), BudgetScope: r.text("budgetScope"),
		LedgerHead:     r.text("ledgerHead"),
		CommunityCount: r.count("communityCount"), Modularity: r.number("modularity"), NodePropertiesWritten: own.Nodes,
		Posterior: report.Posterior{
			NodeID: graph.ID(r.text("posteriorNodeId")), CredibleSetSize: r.count("credibleSetSize"),
			KnownMassSetSize: r.count("credibleSetSizeKnownMass"),
		},
		BPDN: report.BPDN{
			Status: r.text("bpdnStatus"), Radius: r.number("bpdnRadius"), RadiusRule: r.text("bpdnRadiusRule"),
			Residual: r.number("bpdnResidual"),
		},
	}
	if of := r.text("guaranteeOf"); of != "" {
		rep.Promise = &privacy.Promise{Guarantee: of, Together: r.text("epsilonTogether"), Condition: r.text("condition")}
	}
	rep.StartedAt = startTime(own)
	if gap, ok := r["bpdnGap"].(float64); ok {
		rep.BPDN.Gap = &gap
	}
	if k := r.count("sourceCount"); k > 0 {
		rep.Sources = &report.Sources{Count: k}
	}
	if detected, ok := r["sourceDetected"].(bool); ok {
		rep.Presence = &report.Presence{Detected: detected, Probability: r.number("presenceProbability")}
	}
	if _, ok := r["fitPValue"]; ok {
		rep.Fit = &report.Fit{PValue: r.number("fitPValue")}
	}
	if name := r.text("community"); name != "" {
		rep.Communities = []report.Community{{Name: name, Probability: r.number("communityProbability")}}
	}
	return rep
}

// readBack adds to a report of a run the values that it wrote to the nodes.
func (a *app) readBack(ctx context.Context, s graphStore, own connector.Run, rep *report.Report) (*report.Report, error) {
	set, err := modelSettings(a.config)
	if err != nil {
		return nil, err
	}
	g, err := s.Graph(ctx, set.Selection)
	if err != nil {
		return nil, err
	}
	if digest := g.Digest(); hex.EncodeToString(digest[:]) != own.Graph {
		return nil, fail(exitConflict, "run %s was on another graph than these flags select, or the graph changed since", own.ID).
			hint("give the flags of the run that select nodes and relationships, weights and lengths").about("run", own.ID)
	}
	prefix := strings.TrimSuffix(own.RunIDColumn, "RunId")
	ids, err := s.Labels(ctx, g, own.RunIDColumn)
	if err != nil {
		return nil, err
	}
	replaced := slices.ContainsFunc(ids, func(id string) bool { return id != own.ID })
	if replaced && rep.NodeValues != nil {
		return rep, rep.Restore(g)
	}
	if replaced {
		return nil, fail(exitConflict, "run %s: %w", own.ID,
			errReplaced).hint("another run has written there since; `graphcloak report FILE.json` takes a file that the run left").about(
			"run", own.ID)
	}
	nodes, err := written(ctx, s, g, prefix)
	if err != nil {
		return nil, err
	}
	return rep, complete(ctx, s, rep, nodes)
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
	nodes := report.Nodes{Graph: g, Source: columns["Source"], Probability: columns["SourceProbability"]}
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

// complete gives a report the values of its nodes, and a ranking where it has none: a
// record holds its first community only.
func complete(ctx context.Context, s graphStore, rep *report.Report, nodes report.Nodes) error {
	rep.SetNodes(nodes)
	if len(rep.Communities) > 1 {
		return nil
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(nodes.Community)))
	labels := make([]int, len(nodes.Community))
	ranking := make([]report.Community, len(numbers))
	for i, c := range nodes.Community {
		labels[i], _ = slices.BinarySearch(numbers, c)
		x := &ranking[labels[i]]
		x.Size++
		x.Probability = min(1, x.Probability+nodes.Probability[i])
		x.SourceMass += nodes.Source[i]
		rep.BPDN.Objective += nodes.Source[i]
		rep.Posterior.Probability = max(rep.Posterior.Probability, nodes.Probability[i])
		if nodes.Source[i] > 0 {
			rep.BPDN.Support = append(rep.BPDN.Support, report.Source{NodeID: nodes.Graph.ID(i), Value: nodes.Source[i]})
		}
	}
	weights, err := priorWeights(ctx, s, nodes.Graph, rep.Prior)
	if err != nil {
		return err
	}
	sources := 1
	if rep.Sources != nil {
		sources = rep.Sources.Count
	}
	for k, chance := range report.Chance(weights, labels, len(numbers), sources) {
		ranking[k].CommunityID, ranking[k].Name, ranking[k].Prior = numbers[k], strconv.Itoa(numbers[k]), chance
	}
	slices.SortStableFunc(ranking, func(x, y report.Community) int { return cmp.Compare(y.Probability, x.Probability) })
	if len(rep.Communities) > 0 {
		ranking[0].Name = rep.Communities[0].Name
	}
	rep.Communities, rep.CommunityCount = ranking, len(ranking)
	return nil
}

// priorWeights reads the property that the prior was proportional to, nil for a flat one.
func priorWeights(ctx context.Context, s graphStore, g *graph.Graph, property string) ([]float64, error) {
	if property == "" {
		return nil, nil
	}
	weights, err := s.Signal(ctx, g, property)
	if err != nil {
		return nil, fmt.Errorf("read prior: %w", err)
	}
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			weights[i] = 0
		}
	}
	return weights, nil
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
	nodes := report.Nodes{Graph: g, Source: make([]float64, n), Probability: make([]float64, n), Community: make([]int, n)}
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
	return complete(ctx, s, rep, nodes)
}

// errReplaced says that the values of a run are no longer on the nodes.
var errReplaced = errors.New("its values are not on the nodes of this graph any more, or not on all of them")
