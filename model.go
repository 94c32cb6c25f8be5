// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// ErrGraphChanged says that the source's graph is not the one that a plan or a
// release was made for.
var ErrGraphChanged = errors.New("graphcloak: the graph changed")

// ErrNoSignal says that a run has nothing to release.
var ErrNoSignal = errors.New("graphcloak: no signal")

// Settings define the diffusion operator and the neighbour relation. They are
// public and stand in every plan file, which rebuilds the model from them.
type Settings struct {
	Selection graph.Selection       `json:"selection"`
	Sensors   graph.SensorSelection `json:"sensors"`
	Tau       float64               `json:"tau"`
	Laplacian laplacian.Kind        `json:"laplacian"`
	Method    expm.Method           `json:"kernelMethod"`

	foreign bool // read from a file, whose queries nobody has agreed to
}

// LoadOptions steer [Load]; the zero value is the default.
type LoadOptions struct {
	Progress Progress
	// MemoryLimit in bytes; 0: what this machine has left. A model that needs more
	// is refused with [ErrMemory] before it is made.
	MemoryLimit int64
	// IgnoreMemory goes past the limit.
	IgnoreMemory bool
}

// Model is a graph with its diffusion operator M = S e^{-τL}. It is used by one
// run at a time, whose times it keeps.
type Model struct {
	Settings
	Graph   *graph.Graph
	Sensors []int // the nodes that carry sensors, ascending

	source    Source
	laplacian *laplacian.Laplacian
	diffusion *expm.Diffusion
	opts      LoadOptions
	millis    report.Millis
	notes     []string
	last      *rows
}

// Load reads the selected graph and prepares its diffusion. Queries in settings that
// were read from a file are refused with [ErrForeignQuery]; see [Settings.Agree].
func Load(ctx context.Context, s Source, set Settings, opts LoadOptions) (*Model, error) {
	if err := set.agreed(); err != nil {
		return nil, err
	}
	start := time.Now()
	g, err := s.Graph(ctx, set.Selection)
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	if g.Order() == 0 {
		return nil, fmt.Errorf("%w: the selection has no nodes", ErrEmpty)
	}
	sensors, err := s.Sensors(ctx, g, set.Sensors)
	if err != nil {
		return nil, fmt.Errorf("read sensors: %w", err)
	}
	if len(sensors) == 0 {
		return nil, fmt.Errorf("%w: no node of the selection carries a sensor", ErrEmpty)
	}
	m := &Model{Settings: set, Graph: g, Sensors: sensors, source: s, opts: opts, last: new(rows)}
	m.millis.ReadMillis = since(start)
	start = time.Now()
	if err := m.diffuse(ctx); err != nil {
		return nil, err
	}
	m.millis.ProjectMillis = since(start)
	m.notes = m.describe()
	return m, nil
}

// ErrEmpty says that a selection holds nothing to work on.
var ErrEmpty = errors.New("graphcloak: empty selection")

// diffuse makes the Laplacian and e^{-τL}.
func (m *Model) diffuse(ctx context.Context) error {
	m.laplacian = laplacian.New(m.Graph, m.Laplacian)
	estimate, err := expm.Estimate(m.laplacian, m.Tau, m.expmOptions())
	if err != nil {
		return err
	}
	if err := m.opts.guard("e^{-τL} by "+estimate.Method.String(), estimate.Bytes); err != nil {
		return err
	}
	m.diffusion, err = expm.New(ctx, m.laplacian, m.Tau, m.expmOptions())
	return err
}

func (m *Model) expmOptions() expm.Options {
	return expm.Options{Method: m.Method, Progress: m.opts.Progress}
}

// describe says what became of the selection on its way into the operator.
func (m *Model) describe() []string {
	notes := []string{"relationships were read as undirected"}
	if d := m.Graph.Dropped(); d.SelfLoops > 0 || d.Parallel > 0 {
		notes = append(notes, fmt.Sprintf("%d self-loops were dropped and %d parallel relationships merged (%s)",
			d.SelfLoops, d.Parallel, m.Selection.Aggregation))
	}
	_, sizes := m.Graph.Components()
	isolated := 0
	for _, s := range sizes {
		if s == 1 {
			isolated++
		}
	}
	if isolated > 0 && m.Graph.Order() > 1 {
		notes = append(notes, fmt.Sprintf("nodes with no relationship: %d; a source there does not diffuse and is not hidden", isolated))
	}
	return notes
}

// metric names the distance of the neighbour relation.
func (s Settings) metric() string {
	if s.Selection.LengthProperty == "" {
		return "hops"
	}
	return s.Selection.LengthProperty
}

// sensitivityModel is what package sensitivity needs to know.
func (m *Model) sensitivityModel(alpha float64) sensitivity.Model {
	s := sensitivity.Model{
		Graph: m.Graph, Laplacian: m.laplacian, Diffusion: m.diffusion, Tau: m.Tau, Alpha: alpha,
	}
	if len(m.Sensors) < m.Graph.Order() {
		s.Sensors = m.Sensors
	}
	return s
}

func since(start time.Time) int64 { return time.Since(start).Milliseconds() }

// wholeSeconds rounds milliseconds up to whole seconds, at least one: of the time that
// was spent on private values a report tells no more.
func wholeSeconds(millis int64) int64 { return max(1, (millis+999)/1000) * 1000 }
