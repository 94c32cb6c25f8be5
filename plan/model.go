// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// ErrGraphChanged says that the source's graph is not the one that a plan or a
// release was made for.
var ErrGraphChanged = errors.New("graphcloak: the graph changed")

// Model is a graph with its diffusion operator M = S e^{-τL}. It is used by one
// run at a time, whose times it keeps.
type Model struct {
	Settings
	Graph   *graph.Graph
	Sensors []int     // the rows of M that are read, ascending: the nodes that carry sensors, or the readings of a given operator
	Prior   []float64 // proportional to the probability of a source at each node; nil: flat

	Source   Source
	Started  time.Time         // in whole seconds
	Operator *analyst.Operator // M
	Millis   report.Millis     // how long the steps took
	Notes    []string          // what became of the selection, for a reader
	Open     bool              // τ is to be chosen by the next plan

	captions []string   // of nodes, that detected communities are named by
	found    *detection // for all models with this graph
	listed   *listed    // alternatives, for all models with this graph
	opts     LoadOptions
}

// detection is the communities of a graph, without labels until they are found, and the search
// for them that goes on beside other work, if any.
type detection struct {
	community.Partition
	search *community.Search
}

// Load reads the selected graph and what [Public] names, and prepares the diffusion.
// Queries in settings that were read from a file are refused with [ErrForeignQuery];
// see [Settings.Agree]. It returns [ErrEmpty] for a selection without nodes or without
// sensors, [community.ErrMissing] where a node has no community, [recovery.ErrInvalid]
// where the values are no prior, [ErrAlternative], [ErrOperator],
// [response.ErrInvalid] and the errors of [graph.Graph.Changed], [ErrMemory], and [expm.ErrAccuracy] where double
// precision does not carry τ. Where τ is 0, [Model.Plan] chooses it, or
// [Model.ChooseTau].
func Load(ctx context.Context, s Source, set Settings, opts LoadOptions) (*Model, error) {
	if err := set.CheckQueries(); err != nil {
		return nil, err
	}
	if err := set.Tau.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", privacy.ErrInput, err)
	}
	start := time.Now()
	g, err := s.Graph(ctx, set.Selection)
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	if g.Order() == 0 {
		return nil, fmt.Errorf("%w: the selection has no nodes", ErrEmpty)
	}
	alternatives, err := listAlternatives(g, set.Alternatives)
	if err != nil {
		return nil, err
	}
	sensors, err := s.Sensors(ctx, g, set.Sensors)
	if err != nil {
		return nil, fmt.Errorf("read sensors: %w", err)
	}
	if len(sensors) == 0 {
		return nil, fmt.Errorf("%w: no node of the selection carries a sensor", ErrEmpty)
	}
	m := &Model{
		Settings: set, Graph: g, Sensors: sensors, Source: s, Started: NextSecond(start), found: new(detection),
		listed: alternatives, opts: opts, Open: set.Tau.IsSearched() && len(set.Operators) == 0,
	}
	if err := m.readPublic(ctx); err != nil {
		return nil, err
	}
	if len(set.Operators) > 0 || opts.Operators != nil {
		if err := m.setOperators(ctx); err != nil {
			return nil, err
		}
	}
	m.Millis.ReadMillis = Since(start)
	start = time.Now()
	if !set.Answers && len(set.Operators) == 0 {
		if err := m.prepareDiffusion(ctx, m.Tau.Value()); err != nil {
			return nil, err
		}
	}
	m.Millis.ProjectMillis = Since(start)
	m.Notes = m.describeSelection()
	return m, nil
}

// setOperators reads the operators that the settings name. Their rows are the sensors.
func (m *Model) setOperators(ctx context.Context) error {
	if m.Answers {
		return fmt.Errorf("%w: people who answer yes or no have none", ErrOperator)
	}
	if len(m.Alternatives) > 0 || m.Tau != (tau.Range{}) { // they would count into the guarantee, and are not certified
		return fmt.Errorf("%w: it takes the place of heat, and tau or other graphs are declared beside it", ErrOperator)
	}
	sensors := m.Sensors
	if m.Settings.Public.Sensors == (graph.SensorSelection{}) {
		sensors = nil
	}
	names, list, err := loadOperators(ctx, m.Graph, sensors, m.Settings.Operators, m.opts)
	if err != nil {
		return err
	}
	m.Settings.Operators, m.listed.operators, m.listed.digest = names, list[1:], digestOf(list[1:])
	m.Sensors = make([]int, len(list[0].Readings))
	for k := range m.Sensors {
		m.Sensors[k] = k
	}
	m.Operator = &analyst.Operator{Graph: m.Graph, Given: list[0], Guard: m.opts.guard, Progress: m.opts.Progress}
	return nil
}

// ErrEachSensor says that the guarantee of each sensor is asked for over what only the joint one is
// certified over.
var ErrEachSensor = errors.New("graphcloak: the guarantee of each sensor is certified for one process alone")

// checkTimes refuses the guarantee of each sensor where readings have times: it is charged by readings, and a sensor's would not
// add up.
func (m *Model) checkTimes(g privacy.Guarantee) error {
	if given := m.Operator.Given; g == privacy.PerSensor && given != nil && given.Times()[0] != "" {
		return fmt.Errorf("%w: a sensor whose readings have times is charged for all of them together, by the joint guarantee",
			ErrEachSensor)
	}
	return nil
}

// Given lists the operators in place of e^{-τL}, the plan's first; nil: none is given.
func (m *Model) Given() (list []*linop.Sparse) {
	if m.Operator == nil || m.Operator.Given == nil {
		return nil
	}
	list = append(list, m.Operator.Given.Sparse)
	for _, o := range m.listed.operators {
		list = append(list, o.Sparse)
	}
	return list
}

// ErrEmpty says that a selection holds nothing to work on.
var ErrEmpty = errors.New("graphcloak: empty selection")

// prepareDiffusion makes the Laplacian and e^{-τL}, at 1/λ_max while τ is to be chosen.
func (m *Model) prepareDiffusion(ctx context.Context, tau float64) error {
	l := laplacian.New(m.Graph, m.Laplacian)
	if b := l.Bound(); m.Open && tau == 0 && b > 0 && !math.IsInf(b, 1) {
		tau = 1 / b
	}
	opts := expm.Options{Method: m.Method, Progress: m.opts.Progress}
	estimate, err := expm.Estimate(l, tau, opts)
	if err != nil {
		return err
	}
	if err := m.opts.guard("e^{-τL} by "+estimate.Method.String(), estimate.Bytes); err != nil {
		return err
	}
	d, err := expm.New(ctx, l, tau, opts)
	m.Operator = &analyst.Operator{Graph: m.Graph, Laplacian: l, Diffusion: d, Guard: m.opts.guard, Progress: m.opts.Progress}
	return err
}

// ListedGraphs returns the graphs of [Settings].Alternatives, or the further given operators, which the posterior is summed over.
func (m *Model) ListedGraphs() []analyst.ListedGraph {
	var list []analyst.ListedGraph
	for _, o := range m.listed.operators {
		list = append(list, analyst.ListedGraph{Name: o.Name, Given: o})
	}
	for k, g := range m.listed.graphs {
		list = append(list, analyst.ListedGraph{
			Name: m.Settings.Alternatives[k].Name, Graph: g,
			Laplacian: laplacian.New(g, m.Settings.Laplacian),
		})
	}
	return list
}

// CheckMemory refuses a step that needs more memory than there is, with [ErrMemory].
func (m *Model) CheckMemory(step string, bytes int64) error { return m.opts.guard(step, bytes) }

// Progress tells [LoadOptions].Progress how far a stage has come.
func (m *Model) Progress(stage string, done, total int64) {
	if m.opts.Progress != nil {
		m.opts.Progress(stage, done, total)
	}
}

// SensorRows returns the rows of M that the plan's sensors read, ascending.
func SensorRows(p *privacy.Plan) []int {
	rows := make([]int, len(p.Sensors))
	for k, s := range p.Sensors {
		rows[k] = s.Node
	}
	return rows
}

// SensorNodes returns the nodes of the plan's readings, ascending.
func (m *Model) SensorNodes(p *privacy.Plan) []int { return m.Operator.SensorNodes(SensorRows(p)) }

// describeSelection says what became of the selection on its way into the operator.
func (m *Model) describeSelection() []string {
	notes := []string{"relationships were read as undirected"}
	if d := m.Graph.Dropped(); d.SelfLoops > 0 || d.Parallel > 0 {
		notes = append(notes, fmt.Sprintf("%d self-loops were dropped and %d parallel relationships merged (%s)",
			d.SelfLoops, d.Parallel, m.Selection.Aggregation))
	}
	if d := m.Graph.Dropped(); d.Isolated > 0 {
		notes = append(notes, fmt.Sprintf("nodes with no relationship were left out of graph, sensors, sources and answer: %d", d.Isolated))
	}
	if isolated := m.isolated(); isolated > 0 {
		note := fmt.Sprintf("nodes with no relationship: %d", isolated)
		if !m.Answers {
			note += "; a source there is not protected, for it does not diffuse"
		}
		notes = append(notes, note)
	}
	return notes
}

// ErrIsolated says that the graph has nodes without a relationship and the selection does not say
// what is meant. A source there cannot be hidden. Which nodes these are is public; whether
// one has a source is not asked.
var ErrIsolated = errors.New("graphcloak: a source on a node without a relationship cannot be hidden")

// isolated counts the nodes without a relationship.
func (m *Model) isolated() (count int) {
	for i := range m.Graph.Order() {
		if m.Graph.Degree(i) == 0 {
			count++
		}
	}
	return count
}

// checkIsolated refuses a graph on which some sources cannot be hidden, unless that is agreed to.
func (m *Model) checkIsolated() error {
	if count := m.isolated(); count > 0 && m.Selection.Isolated != graph.AllowIsolated {
		return fmt.Errorf("%w: %d of %d nodes have none", ErrIsolated, count, m.Graph.Order())
	}
	return nil
}

// readPublic reads the properties with communities, or with the names of those that are
// detected, and with the prior.
func (m *Model) readPublic(ctx context.Context) error {
	switch c := m.Communities; {
	case c.Property != "":
		values, err := m.Source.Labels(ctx, m.Graph, c.Property)
		if err != nil {
			return fmt.Errorf("read communities: %w", err)
		}
		if m.found.Partition, err = community.FromStrings(m.Graph, values); err != nil {
			return err
		}
	case c.Caption != "":
		var err error
		if m.captions, err = m.Source.Labels(ctx, m.Graph, c.Caption); err != nil {
			return fmt.Errorf("read captions: %w", err)
		}
	}
	if m.PriorProperty == "" {
		return nil
	}
	values, err := m.Source.Signal(ctx, m.Graph, m.PriorProperty)
	if err != nil {
		return fmt.Errorf("read prior: %w", err)
	}
	m.Prior, err = analyst.Prior(values, m.PriorProperty)
	return err
}

// publicPart describes the model for the plan.
func (m *Model) publicPart(alpha float64) privacy.Public {
	_, sizes := m.Graph.Components()
	is := m.Settings.matrix()
	return privacy.Public{
		GraphDigest: m.Graph.Digest(), NodeCount: m.Graph.Order(), RelationshipCount: m.Graph.Size(),
		ComponentCount: len(sizes), Tau: is.tau, Laplacian: is.laplacian, OperatorDigest: is.operator, Metric: m.Metric(), Alpha: alpha,
	}
}

func Since(start time.Time) int64 { return time.Since(start).Milliseconds() }

// NextSecond rounds a time up to a whole second: beside private values no finer time is published.
func NextSecond(t time.Time) time.Time {
	return t.UTC().Add(time.Second - 1).Truncate(time.Second)
}
