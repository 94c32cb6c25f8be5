// SPDX-License-Identifier: Apache-2.0

package sensitivity

// twins finds edges that an automorphism of the graph maps to each other: leaves of one
// hub with equal weights. Only the shortest of them can attain the maximum.
type twins struct {
	p    *problem
	ptr  []int64
	best map[leaf]float64
}

type leaf struct {
	hub    int32
	weight float64
}

func (p *problem) newTwins(ptr []int64) *twins {
	t := &twins{p: p, ptr: ptr, best: map[leaf]float64{}}
	if !p.uniform {
		return t
	}
	for _, e := range p.edges {
		if k, ok := t.leaf(e); ok {
			t.best[k] = max(t.best[k], e.scale)
		}
	}
	return t
}

func (t *twins) leaf(e edge) (leaf, bool) {
	switch {
	case t.ptr[e.v+1]-t.ptr[e.v] == 1:
		return leaf{e.u, e.b}, true
	case t.ptr[e.u+1]-t.ptr[e.u] == 1:
		return leaf{e.v, e.b}, true
	}
	return leaf{}, false
}

// dominated reports whether another edge has the same norm and at least the scale; of
// equal ones the first that it is called for is kept.
func (t *twins) dominated(e edge) bool {
	if !t.p.uniform {
		return false
	}
	k, ok := t.leaf(e)
	if !ok {
		return false
	}
	if e.scale < t.best[k] {
		return true
	}
	t.best[k] = 2 * e.scale // the representative is taken
	return false
}
