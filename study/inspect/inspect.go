// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// Inspect computes the spectrum, conditioning and sensitivity of a model. It returns [ErrEmpty] for a graph without relationships.
func Inspect(ctx context.Context, m sensitivity.Model, o Options) (*Inspection, error) {
	g := m.Graph
	if g.Size() == 0 {
		return nil, ErrEmpty
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	in := &Inspection{
		NodeCount: g.Order(), RelationshipCount: g.Size(), SensorCount: len(m.Sensors),
		Tau: m.Tau, Alpha: alpha(m), Notes: []string{},
	}
	if m.Sensors == nil {
		in.SensorCount = g.Order()
	}
	in.components(g)
	in.Exact = g.Order() <= cmp.Or(o.exactNodes, ExactNodes)
	var s *expm.Spectrum
	switch {
	case m.Given != nil:
		in.SensorCount, _ = m.Given[0].Dims()
		in.EntryCount = len(m.Given[0].Value)
		in.note("of a given operator there is no spectrum of L, and the paper's bounds on heat say nothing")
		in.fromSingularValues(m, nil)
	case in.Exact:
		in.Laplacian = m.Laplacian.Kind().String()
		var err error
		if s, err = expm.Decompose(ctx, m.Laplacian, o.Progress); err != nil {
			return nil, err
		}
		in.fromEigenpairs(m, s)
	default:
		in.Laplacian = m.Laplacian.Kind().String()
		in.LambdaMax = m.Laplacian.Bound()
		in.note("beyond %d nodes λ_max is an upper bound, and what takes all eigenpairs is left out: λ₂, κ₂, effective rank, coherence "+
			"and leverage scores", ExactNodes)
	}
	o.Sensitivity.Progress = o.Progress
	b, err := sensitivity.Bound(ctx, m, nil, o.Sensitivity)
	if err != nil {
		return nil, err
	}
	in.Sensitivity = Sensitivity{Lower: b.Lower, Upper: b.Upper, Edge: [2]graph.ID{g.ID(b.Edge[0]), g.ID(b.Edge[1])}}
	if m.Given == nil {
		in.lemmas(m, s)
	}
	return in, ctx.Err()
}
