// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"runtime"

	"github.com/graphcloak/graphcloak/community"
)

// Partition returns the communities that allocation tells apart and a report ranks.
// Where no property names them they are detected, which takes a while on a large graph:
// once, from the first [Model.Plan] or [Model.Recover] on, beside what these compute without them, or
// here, where nothing has begun it.
func (m *Model) Partition(ctx context.Context) (community.Partition, error) {
	if m.found.Labels != nil {
		return m.found.Partition, nil
	}
	p, err := m.detect(ctx)
	if err == nil {
		p = p.NameByMembers(m.Graph, m.captions)
		m.found.Partition, m.found.search = p, nil
	}
	return p, err
}

// detect waits for the search that goes on. Where that was broken off by the end of the context under which
// it was begun, or there is none, it searches itself.
func (m *Model) detect(ctx context.Context) (community.Partition, error) {
	if s := m.found.search; s != nil {
		p, err := s.Wait(ctx)
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return p, err
		}
	}
	return m.detector().Detect(ctx, m.Graph)
}

// PlannedCommunities describes the communities of the model, for a plan that is made of them and for whoever compares. It
// returns the errors of [Model.Partition].
func (m *Model) PlannedCommunities(ctx context.Context) (*PlannedCommunities, error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	c := &PlannedCommunities{Count: part.Count, Property: m.Communities.Property}
	if c.Property == "" {
		c.Detection = detectionOf(m.detector())
	}
	c.Digest = communitiesDigest(m.Graph.Digest(), part.Labels)
	return c, nil
}

func (m *Model) detector() community.Detector {
	if d := m.Communities.Detector; d != nil {
		return d
	}
	return community.Leiden{}
}

// beginPartition begins to detect communities that will be asked for, beside what comes before
// that, unless they are known or a search goes on. undo breaks off what it began and waits for its
// end. Else the search ends by itself, with ctx, or when no model is left that could ask for it.
func (m *Model) beginPartition(ctx context.Context) (undo func()) {
	d := m.found
	if d.Labels != nil || d.search != nil {
		return func() {}
	}
	s := community.Beside(ctx, m.detector(), m.Graph)
	d.search = s
	runtime.AddCleanup(d, (*community.Search).Stop, s)
	return func() {
		if d.search == s {
			d.search = nil
		}
		s.Stop()
		_, _ = s.Wait(context.WithoutCancel(ctx)) // the error is that of being broken off, or Partition has returned it
	}
}
