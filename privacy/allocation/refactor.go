// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"
)

// refactor computes the tableau of the present basis again from A, b and c, which
// removes the rounding errors accumulated by the exchanges. Where stop returns true it leaves
// everything as it was, and returns false.
func (l *simplex) refactor(stop func() bool) bool {
	old := *l
	old.t, old.non, old.at = slices.Clone(l.t), slices.Clone(l.non), slices.Clone(l.at)
	old.basic, old.slack = slices.Clone(l.basic), slices.Clone(l.slack)
	x := make([]float64, len(l.c))
	l.x(x)
	var enter []int
	for s, j := range l.at {
		if j < 0 {
			enter = append(enter, s)
		}
	}
	leaves := make([]bool, len(l.rows))
	for k, j := range l.slack {
		leaves[k] = j >= 0
	}
	l.d, l.upper = slices.Clone(l.c), make([]bool, len(l.c))
	for s := range l.c {
		l.non[s], l.at[s] = s, s
	}
	for k, a := range l.rows {
		l.t[k] = slices.Clone(a)
		l.basic[k], l.slack[k] = ^k, ^k
	}
	for _, s := range enter {
		if stop() {
			*l = old
			return false
		}
		r := -1
		for k := range l.rows {
			if leaves[k] && (r < 0 || math.Abs(l.t[k][s]) > math.Abs(l.t[r][s])) {
				r = k
			}
		}
		if r < 0 || math.Abs(l.t[r][s]) < pivotZero {
			continue
		}
		l.exchange(r, l.at[s])
		leaves[r] = false
	}
	for j, s := range l.non {
		l.upper[j] = s >= 0 && x[s] > .5
	}
	l.evaluate()
	return true
}

// evaluate computes the basic variables from A and b by one solve with the basis,
// which the slacks' columns of the tableau hold.
func (l *simplex) evaluate() {
	rest := slices.Clone(l.b)
	for j, s := range l.non {
		if s >= 0 && l.upper[j] {
			for k, a := range l.rows {
				rest[k] -= a[s]
			}
		}
	}
	clear(l.value)
	for k, j := range l.slack {
		if j < 0 {
			l.value[^j] += rest[k]
			continue
		}
		for i, row := range l.t {
			l.value[i] += row[j] * rest[k]
		}
	}
}
