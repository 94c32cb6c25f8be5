// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/operatorfile"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// This file turns settings, which are checked strings and numbers, into the
// values that the front door takes.

// inStore begins the name of a given operator that stands in the store: the type of its relationships comes after.
const inStore = "relationships:"

// readOperators reads the given operators in their order.
func (a *app) readOperators(ctx context.Context, s graphStore, b *response.Builder) error {
	for _, from := range a.config.Projection.Operator {
		kind, stored := strings.CutPrefix(from, inStore)
		if !stored {
			if err := operatorfile.Read(ctx, from, b, a.progress); err != nil {
				return err
			}
			continue
		}
		store, ok := unwatched(s).(interface {
			Responses(ctx context.Context, g *graph.Graph, kind string, take func(sensor, node int, x float64, time string) error) error
		})
		if !ok {
			return fail(exitUsage, "--operator %s is for a Neo4j server", from).hint("give a file: --operator FILE")
		}
		b.Begin(from)
		if err := store.Responses(ctx, b.Graph(), kind, b.AddAt); err != nil {
			return err
		}
	}
	return nil
}

// operatorNames names the given operators, by their files without the folder.
func operatorNames(c *config.Config) ([]plan.NamedOperator, error) {
	var names []plan.NamedOperator
	for _, from := range c.Projection.Operator {
		name := filepath.Base(from)
		if kind, stored := strings.CutPrefix(from, inStore); stored {
			name = from
			types, query := wildcard(c.Projection.RelationshipTypes), c.Projection.RelationshipQuery != ""
			if !query && (len(types) == 0 || slices.Contains(types, kind)) {
				return nil, fail(exitUsage, "%q holds the operator, and would be a relationship of the graph too", kind).
					hint("name those of the graph: --relationship-types TYPE,...")
			}
		}
		names = append(names, plan.NamedOperator{Name: name})
	}
	if names == nil {
		return nil, nil
	}
	for _, key := range []string{"tau", "laplacian", "scenario"} {
		if !c.Origin("operator").Layer.Over(c.Origin(key).Layer) {
			return nil, fail(exitUsage, "--%s is for heat on the graph, and --operator takes its place", key).hint("leave one of them out")
		}
	}
	return names, nil
}

func modelSettings(c *config.Config) (graphcloak.Settings, error) {
	p := c.Projection
	aggregation, err := graph.ParseAggregation(p.Aggregation)
	if err != nil {
		return graphcloak.Settings{}, err
	}
	kind, err := laplacian.ParseKind(c.Diffusion.Laplacian)
	if err != nil {
		return graphcloak.Settings{}, err
	}
	operators, err := operatorNames(c)
	if err != nil {
		return graphcloak.Settings{}, err
	}
	var t tau.Range
	if operators == nil {
		if t, err = tauOf(c, c.Signal.MeasurementProperty != ""); err != nil {
			return graphcloak.Settings{}, err
		}
	}
	sel := graph.Selection{
		NodeLabels: wildcard(p.NodeLabels), RelationshipTypes: wildcard(p.RelationshipTypes),
		NodeQuery: p.NodeQuery, RelationshipQuery: p.RelationshipQuery, NodeKey: p.NodeKey,
		RelationshipWeightProperty: p.RelationshipWeightProperty, Aggregation: aggregation,
	}
	if p.Isolated != "refuse" {
		sel.Isolated = graph.Isolated(p.Isolated)
	}
	if c.Privacy.Metric != "hops" {
		sel.LengthProperty = c.Privacy.Metric
	}
	set := graphcloak.Settings{Selection: sel, Tau: t, Laplacian: kind, Operators: operators, Answers: c.Signal.AnswerProperty != ""}
	set.Public.Sensors = graph.SensorSelection{Property: c.Sensors.Property}
	return chosen(set, c.Recovery, c.Community), nil
}

// measuredTau is the τ of measured readings unless it is given.
const measuredTau = 2

// tauOf is τ. A process that sensors measure has its own.
func tauOf(c *config.Config, measured bool) (tau.Range, error) {
	switch t := c.Diffusion.Tau; {
	case !t.IsSearched() || !measured:
		return t, nil
	case c.Origin("tau").Layer == config.LayerDefault:
		return tau.At(measuredTau), nil
	}
	return tau.Range{}, fail(exitUsage, "--tau auto is for sources that GraphCloak diffuses: where sensors measure, τ is how long the "+
		"process ran, a fact that the graph does not tell").
		hint("give it as --tau NUMBER, or as --tau FROM..TO where it is not known exactly")
}

// chosen returns settings, which may be those of a file, with the communities and the
// prior that are chosen for this command.
func chosen(set graphcloak.Settings, r config.Recovery, c config.Community) graphcloak.Settings {
	var leiden community.Leiden
	if c.Gamma != nil {
		leiden.Gamma = *c.Gamma
	}
	set.Communities = community.Options{Property: c.Property, Detector: leiden}
	set.PriorProperty = r.PriorProperty
	return set
}

// wildcard reads GDS's * as all.
func wildcard(names []string) []string {
	if len(names) == 1 && names[0] == "*" {
		return nil
	}
	return names
}

// allocationWork bounds the search for an allocation, counted as the time that one core takes
// by estimate.
const allocationWork = time.Minute

func planOptions(c *config.Config) (graphcloak.PlanOptions, error) {
	p := c.Privacy
	guarantee, err := privacy.ParseGuarantee(p.Guarantee)
	if err != nil {
		return graphcloak.PlanOptions{}, err
	}
	options := graphcloak.PlanOptions{
		Budget: privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, Alpha: p.Alpha,
		Guarantee: guarantee,
		Allocation: graphcloak.Allocation{
			Uniform: p.Allocation == "uniform",
			Optimal: p.Allocation == "optimal" && c.Origin("allocation").Layer != config.LayerDefault,
			Time:    allocationWork,
		},
		Measured: c.Signal.MeasurementProperty != "",
	}
	if c.Escrow.Deployment.Name != "" {
		options.Randomness = privacy.EscrowRandomness
	}
	if p.Clip != (config.Clip{}) {
		options.Clip = &privacy.Interval{Lo: p.Clip.Low, Hi: p.Clip.High}
	}
	return options, nil
}

func signalOf(c *config.Config) graphcloak.Signal {
	s := c.Signal
	return graphcloak.Signal{
		SourceProperty: s.SourceProperty, MeasurementProperty: s.MeasurementProperty, AnswerProperty: s.AnswerProperty,
	}
}

func recoverOptions(r config.Recovery) analyst.Options {
	sources := map[string]int{"auto": analyst.OneOrTwo, "1": 1, "2": 2}[r.Sources]
	return analyst.Options{Sources: sources, FalseAlarm: r.FalseAlarm, FaultRate: r.FaultRate}
}

// job puts a whole run together.
func (a *app) job() (graphcloak.Job, error) {
	c := a.config
	settings, err := modelSettings(c)
	if err != nil {
		return graphcloak.Job{}, err
	}
	plan, err := planOptions(c)
	if err != nil {
		return graphcloak.Job{}, err
	}
	options := recoverOptions(c.Recovery)
	options.Tau = settings.Tau
	if path := c.Privacy.Scenario; path != "" {
		if settings.Alternatives, err = readAlternatives(path); err != nil {
			return graphcloak.Job{}, err
		}
	}
	settings.Communities.Caption = c.Report.Caption
	job := graphcloak.Job{
		Settings: settings, Plan: plan, Signal: signalOf(c), RequireCap: c.Execution.Strict, Recover: options,
		Write: a.writes(), Version: readBuild().Version, Configuration: configuration(c),
	}
	if s := c.Signal; s.AnswerProperty != "" {
		job.Asking = graphcloak.Asking{
			Rumour: s.AnswerProperty, Round: int(s.Round), Epsilon: c.Privacy.Epsilon, Randomness: plan.Randomness,
			Reach: int(s.Reach),
		}
	}
	return job, job.CheckSignal()
}

// writes is what the settings have written into the store.
func (a *app) writes() graphcloak.WriteOptions {
	c := a.config
	return graphcloak.WriteOptions{Enabled: c.Write.Mode == "write", Prefix: c.Write.PropertyPrefix, Force: c.Output.Force}
}

// configuration is the GDS result column: every setting that is not the default,
// but not how the server was reached, who started the run and where that one listens.
func configuration(c *config.Config) map[string]any {
	left := []config.Group{config.GroupConnection, config.GroupSchedule, config.GroupServer}
	chosen := make(map[string]any)
	for _, e := range c.Entries() {
		if e.Layer != config.LayerDefault && !slices.Contains(left, e.Group) {
			chosen[e.Key] = e.Value
			if e.Key == "operator" { // no folder of this machine
				var names []string
				for _, from := range c.Projection.Operator {
					names = append(names, filepath.Base(from))
				}
				chosen[e.Key] = names
			}
		}
	}
	return chosen
}

// needKey refuses files about a Neo4j graph whose nodes have no lasting name.
func (a *app) needKey(what string) error {
	from, err := a.source()
	if err != nil {
		return err
	}
	if from.Kind == config.FromNeo4j && a.config.Projection.NodeKey == "" {
		return fail(exitUsage, "%s needs names of the nodes that last", what).
			hint("give --node-key PROPERTY, a property that identifies a node, with a uniqueness constraint or an index")
	}
	return nil
}

// maxAlternativesFile bounds a file of alternative graphs in bytes.
const maxAlternativesFile = 16 << 20

// alternativesHint says what such a file is.
const alternativesHint = "the file has the columns scenario,source,target,weight: a row for each relationship that is other in that " +
	"scenario; weight 0 takes it away"

// readAlternatives reads a file of alternative graphs.
func readAlternatives(path string) ([]plan.Alternative, error) {
	data, err := disk.Read(path, maxAlternativesFile)
	if err != nil {
		return nil, fail(exitCode(err), "--scenario: %w", err).hint(alternativesHint)
	}
	list, err := plan.ParseAlternatives(data)
	if err != nil {
		return nil, fail(exitValidation, "--scenario %s: %w", path, err).hint(alternativesHint)
	}
	if k := slices.IndexFunc(list, func(x plan.Alternative) bool { return slices.Contains(simulate.Names(), x.Name) }); k >= 0 {
		return nil, fail(exitValidation, "--scenario %s: a graph is called %q, as a scenario is that evaluate knows", path,
			list[k].Name).hint("give the graph another name")
	}
	return list, nil
}

// scopeOf returns the budget scope of the signal that the settings name.
func scopeOf(c *config.Config) string { return run.Scope(signalOf(c)) }

// jobDefaults are those of every command that runs jobs.
var jobDefaults = map[string]string{"mode": "write"}

// settledBy refuses a flag of the groups beside a file that settles them, which --plan or --release names.
func (a *app) settledBy(what, path string, groups ...config.Group) error {
	if name := a.settled(groups...); path != "" && name != "" {
		return fail(exitUsage, "--%s and --%s contradict each other: the %[2]s file settles it", name, what).hint("leave out --%s", name)
	}
	return nil
}

// settled returns a flag of the groups that was given, or "".
func (a *app) settled(groups ...config.Group) string {
	for _, s := range config.Settings() {
		if slices.Contains(groups, s.Group) && a.config.Origin(s.Key).Layer == config.LayerFlag {
			return s.Flag
		}
	}
	return ""
}
