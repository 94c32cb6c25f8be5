// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
)

// Estimate is what a run would need, in the columns of GDS. Bytes and seconds are
// meant within a factor of two on one core of a 2020s machine; reading and writing
// a database come on top.
type Estimate struct {
	NodeCount         int              `json:"nodeCount"`
	RelationshipCount int              `json:"relationshipCount"`
	RequiredMemory    string           `json:"requiredMemory"`
	TreeView          string           `json:"treeView"`
	MapView           map[string]int64 `json:"mapView"` // bytes of each part
	BytesMin          int64            `json:"bytesMin"`
	BytesMax          int64            `json:"bytesMax"`
	SecondsMin        float64          `json:"secondsMin"`
	SecondsMax        float64          `json:"secondsMax"`
	KernelMethod      string           `json:"kernelMethod"`
	EpsilonWouldSpend float64          `json:"epsilonWouldSpend"`
	Sigma             float64          `json:"sigma"` // at most: from a sensitivity that any graph has
}

// EstimateRun reads the graph and says what the job would need. Nothing is run,
// written or spent.
func EstimateRun(ctx context.Context, s Store, job Job) (*Estimate, error) {
	g, err := s.Graph(ctx, job.Selection)
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	if g.Order() == 0 {
		return nil, fmt.Errorf("%w: the selection has no nodes", ErrEmpty)
	}
	l := laplacian.New(g, job.Laplacian)
	cost, err := expm.Estimate(l, job.Tau, expm.Options{Method: job.Method})
	if err != nil {
		return nil, err
	}
	n, entries := int64(g.Order()), 2*int64(g.Size())
	e := &Estimate{
		NodeCount: g.Order(), RelationshipCount: g.Size(), KernelMethod: cost.Method.String(),
		EpsilonWouldSpend: job.Plan.Epsilon, MapView: map[string]int64{},
	}
	parts := []struct {
		name  string
		bytes int64
	}{
		{"graph", 8*(n+1) + 4*entries + weightBytes(!g.Unweighted(), entries) + weightBytes(!g.Hops(), entries) + 32*n},
		{"laplacian", 24 * n},
		{"diffusion", cost.Bytes},
		{"recovery", recoveryBytes(n)},
	}
	var tree strings.Builder
	for _, p := range parts {
		e.MapView[p.name] = p.bytes
		e.BytesMin += p.bytes
		fmt.Fprintf(&tree, "|-- %s: %s\n", p.name, Bytes(p.bytes))
	}
	e.BytesMax = 2 * e.BytesMin
	e.TreeView = fmt.Sprintf("run: %s\n%s", Bytes(e.BytesMin), tree.String())
	e.RequiredMemory = fmt.Sprintf("[%s ... %s]", Bytes(e.BytesMin), Bytes(e.BytesMax))
	// Planning and recovery diffuse about as often as there are nodes where M is
	// held as a matrix, and some hundred times where it is not.
	applications := float64(min(n, denseLimit))
	if n > denseLimit {
		applications = 300
	}
	seconds := cost.Prepare + applications*cost.Apply
	e.SecondsMin, e.SecondsMax = seconds/2, 2*seconds
	return e, e.bound(g, l, job)
}

func weightBytes(kept bool, entries int64) int64 {
	if kept {
		return 8 * entries
	}
	return 0
}

// recoveryBytes is what recovery holds: M and its whitened columns where M is a
// matrix, some tens of vectors elsewhere.
func recoveryBytes(n int64) int64 {
	if n <= denseLimit {
		return 16 * n * n
	}
	return 400 * n
}

// bound sets σ for the largest sensitivity that a diffusion can have: ‖M‖₂ is at
// most 1 for the symmetric kinds and √(max d/min d) for the random walk, and two
// unit vectors are √2 apart.
func (e *Estimate) bound(g *graph.Graph, l *laplacian.Laplacian, job Job) error {
	calibration := job.Plan.Calibration
	if calibration == nil {
		calibration = privacy.Analytic{}
	}
	shortest := math.Inf(1)
	for edge := range g.Edges() {
		shortest = min(shortest, edge.Length)
	}
	if math.IsInf(shortest, 1) {
		return nil // nothing to hide, no noise
	}
	spread := 1.0
	if s := l.Similarity(); s != nil {
		spread = slices.Max(s) / slices.Min(s)
	}
	sigma, err := calibration.Sigma(job.Plan.Budget, 1.4142135623731*spread*job.Plan.Alpha/shortest)
	e.Sigma = sigma
	return err
}
