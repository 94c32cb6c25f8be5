// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"

	"github.com/graphcloak/graphcloak/community"
)

// Partition returns the communities that allocation tells apart and a report ranks.
// Where no property names them they are detected, which takes a while on a large graph:
// once, when they are first asked for.
func (m *Model) Partition(ctx context.Context) (community.Partition, error) {
	if m.found.Labels != nil {
		return m.found.Partition, nil
	}
	wait := m.found.wait
	if wait == nil {
		wait = func() (community.Partition, error) { return m.detector().Detect(ctx, m.Graph) }
	}
	p, err := wait()
	if err == nil {
		p = p.NameByMembers(m.Graph, m.captions)
		m.found.Partition = p
	}
	return p, err
}

func (m *Model) detector() community.Detector {
	if d := m.Communities.Detector; d != nil {
		return d
	}
	return community.Leiden{}
}

// beginPartition begins to detect communities that will be asked for, beside what comes before
// that. A search that nobody has asked for when end is called is broken off.
func (m *Model) beginPartition(ctx context.Context) (end func()) {
	if m.found.Labels != nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	wait := community.Beside(ctx, m.detector(), m.Graph)
	m.found.wait = wait
	return func() {
		stop()
		m.found.wait = nil
		_, _ = wait() // the error is that of being broken off, or Partition has returned it
	}
}
