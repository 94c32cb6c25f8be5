// SPDX-License-Identifier: Apache-2.0

package sensitivity

// leaf is what edges to leaves have in common that an automorphism of the graph maps to each
// other.
type leaf struct {
	hub    int32
	weight float64
}

// leafOf returns what identifies the twins of an edge to a leaf.
func (p *problem) leafOf(ptr []int64, e edge) (leaf, bool) {
	switch {
	case ptr[e.v+1]-ptr[e.v] == 1:
		return leaf{e.u, e.b}, true
	case ptr[e.u+1]-ptr[e.u] == 1:
		return leaf{e.v, e.b}, true
	}
	return leaf{}, false
}

// dominated lists the edges that have the same norm as another and at most its scale: leaves of
// one hub with equal weights. Of equal ones all but the first are listed.
func (p *problem) dominated(ptr []int64) (list []int32) {
	ends := func(t int) bool { return ptr[t+1]-ptr[t] == 1 }
	if !p.uniform || len(which(len(ptr)-1, ends)) == 0 {
		return nil
	}
	leaves := which(p.edges.len(), func(i int) bool {
		_, ok := p.leafOf(ptr, p.edges.at(int32(i)))
		return ok
	})
	best := make(map[leaf]int32, len(leaves))
	for _, i := range leaves {
		k, _ := p.leafOf(ptr, p.edges.at(i))
		switch j, ok := best[k]; {
		case !ok:
			best[k] = i
		case p.edges.at(i).scale > p.edges.at(j).scale:
			best[k], list = i, append(list, j)
		default:
			list = append(list, i)
		}
	}
	return list
}
