// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// piece is the number of items that filter and which look through at a time.
const piece = 1 << 12

// filter keeps the items that keep accepts, in their order, in the memory of items.
func filter(items []int32, keep func(int32) bool) []int32 {
	kept := make([]int, (len(items)+piece-1)/piece)
	part := func(p int) []int32 { return items[p*piece : min((p+1)*piece, len(items))] }
	parallel.Rows(len(kept), 2*piece, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			for _, i := range part(p) {
				if keep(i) {
					items[p*piece+kept[p]] = i
					kept[p]++
				}
			}
		}
	})
	n := 0
	for p, k := range kept {
		if n < p*piece {
			copy(items[n:], part(p)[:k])
		}
		n += k
	}
	return items[:n]
}

// which returns the numbers below n that are accepted, in ascending order. It asks
// once or twice for each, for several at the same time.
func which(n int, accept func(int) bool) []int32 {
	first := make([]int, (n+piece-1)/piece+1) // of a piece, in the result
	pieces := func(f func(p, lo, hi int)) {
		parallel.Each(len(first)-1, func(p int) { f(p, p*piece, min((p+1)*piece, n)) })
	}
	pieces(func(p, lo, hi int) {
		for i := lo; i < hi; i++ {
			if accept(i) {
				first[p+1]++
			}
		}
	})
	for p := range len(first) - 1 {
		first[p+1] += first[p]
	}
	out := make([]int32, first[len(first)-1])
	pieces(func(p, lo, hi int) {
		part := out[first[p]:first[p+1]]
		for i := lo; i < hi && len(part) > 0; i++ {
			if accept(i) {
				part[0], part = int32(i), part[1:]
			}
		}
	})
	return out
}

// largestOf returns the largest of n values that is above 0 and the first number that has it, or
// 0 and −1. It calls value once for each number, several at the same time; work is that of one
// call, as in [parallel.Rows].
func largestOf(n, work int, value func(int) float64) (most float64, at int) {
	at = -1
	var lock sync.Mutex
	parallel.Rows(n, work, func(lo, hi int) {
		m, first := 0.0, -1
		for i := lo; i < hi; i++ {
			if v := value(i); v > m {
				m, first = v, i
			}
		}
		lock.Lock()
		defer lock.Unlock()
		if m > most || m == most && first >= 0 && first < at {
			most, at = m, first
		}
	})
	return most, at
}

// maximum returns the largest of values that are at least 0, or 0; NaN where one is.
func maximum(values []float64) (most float64) {
	var lock sync.Mutex
	parallel.Rows(len(values), 1, func(lo, hi int) {
		var m float64
		for _, v := range values[lo:hi] {
			m = max(m, v)
		}
		lock.Lock()
		defer lock.Unlock()
		most = max(most, m)
	})
	return most
}

type scored struct {
	i int32
	v float64
}

func descending(a, b scored) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.i, b.i)) }

// largest returns the k items with the largest value, in descending order; ties go
// to the lower item. It may ask for several values at the same time.
func largest(items []int32, k int, value func(int32) float64) []int32 {
	var all []*leaders
	parallel.RowsWith(len(items), boundWork, func() *leaders {
		l := &leaders{k: k}
		all = append(all, l)
		return l
	}, func(l *leaders, lo, hi int) {
		for _, i := range items[lo:hi] {
			l.add(scored{i, value(i)})
		}
	})
	parallel.Each(len(all), func(j int) { all[j].cut() })
	top := leaders{k: k}
	for _, l := range all {
		for _, x := range l.list {
			top.add(x)
		}
	}
	top.cut()
	out := make([]int32, len(top.list))
	for j, x := range top.list {
		out[j] = x.i
	}
	return out
}

// leaders holds the k first of the items seen, by [descending], and fewer than k others.
type leaders struct {
	k    int
	list []scored
	last scored // of k items seen: none behind it is among the first
	full bool
}

func (l *leaders) add(x scored) {
	if l.full && descending(x, l.last) > 0 {
		return
	}
	if l.list = append(l.list, x); len(l.list) == 2*l.k {
		l.cut()
	}
}

// cut sorts the list and drops what is not among the first k.
func (l *leaders) cut() {
	slices.SortFunc(l.list, descending)
	if len(l.list) >= l.k {
		l.list = l.list[:l.k]
		l.last, l.full = l.list[l.k-1], true
	}
}

// setZero sets all values to 0.
func setZero(x []float64) {
	parallel.Rows(len(x), 1, func(lo, hi int) { clear(x[lo:hi]) })
}

// boundWork is the work of the O(1) bounds of an edge, in values that a loop reads.
const boundWork = 64
