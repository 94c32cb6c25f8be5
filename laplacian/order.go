// SPDX-License-Identifier: Apache-2.0

package laplacian

// Sizes in float64 values that fit a second-level cache of one or two megabytes.
const (
	cacheEntries = 1 << 17
	blockColumns = 16
	window       = cacheEntries / blockColumns
	// reorderOrder is the order from which a vector outgrows the cache.
	reorderOrder = 1 << 15
	// minBandShare is the share of entries within the window from which an order is kept.
	minBandShare = 0.8
)

// Permutation returns the row of each node in [Laplacian.Recur], or nil where rows are
// numbered as nodes are. The caller must not change it.
func (l *Laplacian) Permutation() []int32 { return l.rows.permutation }

// reorder chooses the order of the rows.
func (l *Laplacian) reorder() {
	n := len(l.diag)
	l.rows = storedRows{l.ptr, l.adj, l.val, l.diag, nil}
	if n < reorderOrder || l.rows.bandShare() >= minBandShare {
		return
	}
	if place := l.breadthFirst(); place != nil {
		if r := l.rows.permuted(place); r.bandShare() >= minBandShare {
			l.rows = r
		}
	}
}

// bandShare returns the share of entries within the window around the diagonal.
func (r *storedRows) bandShare() float64 {
	near := 0
	for i := range r.diag {
		for _, j := range r.adj[r.ptr[i]:r.ptr[i+1]] {
			if d := int(j) - i; -window < d && d < window {
				near++
			}
		}
	}
	return float64(near) / float64(max(1, len(r.adj)))
}

// breadthFirst numbers the nodes by distance from a pseudo-peripheral node of each
// component (E. Cuthill & J. McKee, 1969), or returns nil as soon as one level is wider
// than the window.
func (l *Laplacian) breadthFirst() []int32 {
	n := len(l.diag)
	place, order := make([]int32, n), make([]int32, 0, n)
	for i := range place {
		place[i] = -1
	}
	for root := range int32(n) {
		if place[root] >= 0 {
			continue
		}
		begin := len(order)
		far, ok := l.sweep(root, place, &order)
		if !ok {
			return nil
		}
		for _, i := range order[begin:] {
			place[i] = -1
		}
		order = order[:begin]
		if _, ok = l.sweep(far, place, &order); !ok {
			return nil
		}
	}
	return place
}

// sweep numbers the component of root and returns its last node. It gives up on a
// level wider than the window.
func (l *Laplacian) sweep(root int32, place []int32, order *[]int32) (last int32, ok bool) {
	q := append(*order, root)
	begin := len(*order)
	place[root] = int32(begin)
	for level := len(q); begin < len(q); level = len(q) {
		if level-begin > 2*window {
			return 0, false
		}
		for ; begin < level; begin++ {
			i := q[begin]
			for _, j := range l.adj[l.ptr[i]:l.ptr[i+1]] {
				if place[j] < 0 {
					place[j] = int32(len(q))
					q = append(q, j)
				}
			}
		}
	}
	*order = q
	return q[len(q)-1], true
}

// permuted returns the rows in the order of place.
func (r *storedRows) permuted(place []int32) storedRows {
	n := len(r.diag)
	node := make([]int32, n)
	for i, p := range place {
		node[p] = int32(i)
	}
	o := storedRows{ptr: make([]int64, n+1), adj: make([]int32, len(r.adj)), diag: make([]float64, n), permutation: place}
	if r.val != nil {
		o.val = make([]float64, len(r.val))
	}
	next := int64(0)
	for p, i := range node {
		o.diag[p] = r.diag[i]
		for k := r.ptr[i]; k < r.ptr[i+1]; k++ {
			o.adj[next] = place[r.adj[k]]
			if r.val != nil {
				o.val[next] = r.val[k]
			}
			next++
		}
		o.ptr[p+1] = next
	}
	return o
}
