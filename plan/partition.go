// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	"github.com/graphcloak/graphcloak/community"
)

// Partition returns the communities that allocation tells apart and a report ranks.
// Where no property names them they are detected, which takes a while on a large graph: once, here or
// before, beside what a plan, a run or a recovery that asks for them computes without them. A plan of uniform noise asks for none,
// and does not begin it for who may ask afterwards.
func (m *Model) Partition(ctx context.Context) (community.Partition, error) {
	if m.found.Labels != nil {
		return m.found.Partition, nil
	}
	p, err := m.detect(ctx)
	if err == nil {
		p = p.NameByMembers(m.Graph, m.captions)
		m.found.Partition = p
	}
	return p, err
}

func (m *Model) detect(ctx context.Context) (community.Partition, error) {
	if s := m.found.search; s != nil {
		return s.Wait(ctx)
	}
	return m.detector().Detect(ctx, m.Graph)
}

// PlannedCommunities describes the communities of the model, for a plan that is made of them and for anyone who compares.
// It returns the errors of [Model.Partition].
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

// BeginPartition begins to detect communities that will be asked for, beside what comes before
// that, unless they are known or a search goes on. end is called by the function that began it: it breaks off a search
// that nobody came to ask for, and returns when that has ended.
func (m *Model) BeginPartition(ctx context.Context) (end func()) {
	d := m.found
	if d.Labels != nil || d.search != nil {
		return func() {}
	}
	d.search = community.Beside(ctx, m.detector(), m.Graph)
	return func() {
		d.search.Stop()
		d.search = nil
	}
}
