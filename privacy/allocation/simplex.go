// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// simplex is the linear programme
//
//	max cᵀx   subject to   Ax ≤ b, 0 ≤ x ≤ 1,   b ≥ 0,
//
// as a condensed tableau: basic variables are x_B = β − T x_N, the objective is
// z + dᵀx_N, and every non-basic variable stands at one of its bounds. Rows may be
// added at any time; the dual simplex method with the long-step ratio test restores
// feasibility.
type simplex struct {
	c    []float64
	rows [][]float64 // A, one row a constraint
	b    []float64

	t     [][]float64 // T, a row for each basic variable
	value []float64   // of the basic variables
	basic []int       // structural variable s, or ^k for the slack of row k
	d     []float64   // reduced costs of the non-basic variables
	non   []int
	upper []bool // whether a non-basic variable is at 1
	at    []int  // of each structural: its column, or ^row where basic
	slack []int  // of each slack, likewise

	tmp []breakpoint
}

// Tolerances for a programme whose coefficients and bounds are of order 1.
const (
	feasible  = 1e-9
	dualZero  = 1e-11
	pivotZero = 1e-8

	// Entries of a tableau decay with the distance of edge and sensor; most lie far
	// below the rounding of the others.
	negligibleEntry = 1e-15
)

func newSimplex(c []float64) *simplex {
	n := len(c)
	l := &simplex{
		c: slices.Clone(c), d: slices.Clone(c),
		non: make([]int, n), upper: make([]bool, n), at: make([]int, n),
	}
	for j := range c {
		l.non[j], l.at[j], l.upper[j] = j, j, c[j] > 0
	}
	return l
}

// bound returns the upper bound of a variable.
func bound(id int) float64 {
	if id >= 0 {
		return 1
	}
	return math.Inf(1)
}

// x writes the values of the structural variables to dst.
func (l *simplex) x(dst []float64) {
	for s, j := range l.at {
		switch {
		case j < 0:
			dst[s] = min(1, max(0, l.value[^j]))
		case l.upper[j]:
			dst[s] = 1
		default:
			dst[s] = 0
		}
	}
}

// dual writes the multipliers y ≥ 0 of the rows to dst.
func (l *simplex) dual(dst []float64) {
	for k, j := range l.slack {
		dst[k] = 0
		if j >= 0 {
			dst[k] = max(0, -l.d[j])
		}
	}
}

// addRow adds aᵀx ≤ b. The tableau row is b − aᵀx with the basic variables of a
// replaced.
func (l *simplex) addRow(a []float64, b float64) {
	k := len(l.rows)
	l.rows, l.b = append(l.rows, a), append(l.b, b)
	row := make([]float64, len(l.non), len(l.non)+8)
	value := b
	for s, j := range l.at {
		if a[s] == 0 {
			continue
		}
		if j >= 0 {
			row[j] += a[s]
			if l.upper[j] {
				value -= a[s]
			}
			continue
		}
		value -= a[s] * l.value[^j]
		axpy(-a[s], l.t[^j], row)
	}
	l.slack = append(l.slack, ^len(l.t))
	l.t, l.value, l.basic = append(l.t, row), append(l.value, value), append(l.basic, ^k)
}

// setCost changes the objective and keeps the point.
func (l *simplex) setCost(c []float64) {
	copy(l.c, c)
	for j, id := range l.non {
		l.d[j] = 0
		if id >= 0 {
			l.d[j] = c[id]
		}
	}
	for i, id := range l.basic {
		if id >= 0 {
			axpy(-c[id], l.t[i], l.d)
		}
	}
}

// setPosition records where a variable is.
func (l *simplex) setPosition(id, where int) {
	if id >= 0 {
		l.at[id] = where
	} else {
		l.slack[^id] = where
	}
}

// pivot exchanges the basic variable of row r, which moves to its upper bound or
// to 0, with the non-basic variable of column q.
func (l *simplex) pivot(r, q int, toUpper bool) {
	target := 0.0
	if toUpper {
		target = bound(l.basic[r])
	}
	step := (l.value[r] - target) / l.t[r][q]
	l.shift(q, step)
	old := 0.0
	if l.upper[q] {
		old = 1
	}
	l.value[r] = old + step
	l.exchange(r, q)
	l.upper[q] = toUpper
}

// exchange rewrites the tableau with the basic variable of row r and the non-basic
// one of column q in each other's place.
func (l *simplex) exchange(r, q int) {
	row := l.t[r]
	inv := 1 / row[q]
	for j := range row {
		row[j] *= inv
	}
	row[q] = inv
	for i, other := range l.t {
		f := other[q]
		if i == r || f == 0 {
			continue
		}
		other[q] = 0
		if math.Abs(f) > negligibleEntry {
			floats.AddScaled(other, -f, row)
		}
	}
	f := l.d[q]
	l.d[q] = 0
	axpy(-f, row, l.d)
	l.basic[r], l.non[q] = l.non[q], l.basic[r]
	l.setPosition(l.basic[r], ^r)
	l.setPosition(l.non[q], q)
}

// shift moves the non-basic variable of column q by step.
func (l *simplex) shift(q int, step float64) {
	for i, row := range l.t {
		l.value[i] -= row[q] * step
	}
}

// flip moves the variable of column q to its other bound.
func (l *simplex) flip(q int) {
	step := 1.0
	if l.upper[q] {
		step = -1
	}
	l.shift(q, step)
	l.upper[q] = !l.upper[q]
}

// primal improves a feasible point until no reduced cost helps, or stop returns
// true. It reports whether it came to its end.
func (l *simplex) primal(stop func() bool) bool {
	for !stop() {
		q := -1
		best := dualZero
		for j, d := range l.d {
			if l.upper[j] {
				d = -d
			}
			if d > best {
				best, q = d, j
			}
		}
		if q < 0 {
			return true
		}
		r, toUpper, flip := l.ratio(q)
		switch {
		case flip:
			l.flip(q)
		case r < 0:
			return false
		default:
			l.pivot(r, q, toUpper)
		}
	}
	return false
}

// ratio returns the row that blocks column q first. Of rows that block within the
// tolerance the one with the largest pivot is taken (Harris).
func (l *simplex) ratio(q int) (r int, toUpper, flip bool) {
	sign := 1.0
	if l.upper[q] {
		sign = -1
	}
	limit := math.Inf(1)
	ratioAt := func(i int, slack float64) (float64, bool) {
		a := sign * l.t[i][q]
		switch {
		case a > pivotZero:
			return (max(0, l.value[i]) + slack) / a, true
		case a < -pivotZero && l.basic[i] >= 0:
			return (max(0, 1-l.value[i]) + slack) / -a, true
		}
		return 0, false
	}
	for i := range l.t {
		if t, ok := ratioAt(i, feasible); ok {
			limit = min(limit, t)
		}
	}
	if limit >= bound(l.non[q]) {
		return -1, false, !math.IsInf(limit, 1) || l.non[q] >= 0
	}
	r = -1
	for i := range l.t {
		if t, ok := ratioAt(i, 0); ok && t <= limit && (r < 0 || math.Abs(l.t[i][q]) > math.Abs(l.t[r][q])) {
			r = i
		}
	}
	return r, r >= 0 && sign*l.t[r][q] < 0, false
}

// breakpoint is a non-basic variable whose reduced cost reaches 0 at ratio.
type breakpoint struct {
	ratio, size float64
	j           int
}

// dualSimplex makes a dual feasible point feasible again, or stops early; it reports
// whether the point is optimal.
func (l *simplex) dualSimplex(stop func() bool) bool {
	for !stop() {
		r, worst := -1, feasible
		for i, v := range l.value {
			if bad := max(-v, v-bound(l.basic[i])); bad > worst {
				r, worst = i, bad
			}
		}
		if r < 0 {
			return true
		}
		toUpper := l.value[r] > 0
		q := l.dualRatio(r, toUpper, worst)
		if q < 0 {
			return false
		}
		l.pivot(r, q, toUpper)
	}
	return false
}

// dualRatio returns the column that enters for row r: it walks the breakpoints of
// the piecewise linear dual objective while it rises, and moves the variables it
// passes to their other bound.
func (l *simplex) dualRatio(r int, toUpper bool, infeasible float64) int {
	l.tmp = l.tmp[:0]
	for j, a := range l.t[r] {
		if !toUpper {
			a = -a
		}
		if l.upper[j] {
			a = -a
		}
		if a > pivotZero {
			l.tmp = append(l.tmp, breakpoint{math.Abs(l.d[j]) / a, a, j})
		}
	}
	slices.SortFunc(l.tmp, func(x, y breakpoint) int {
		switch {
		case x.ratio != y.ratio:
			if x.ratio < y.ratio {
				return -1
			}
			return 1
		default:
			return x.j - y.j
		}
	})
	k := 0
	for ; k < len(l.tmp)-1; k++ {
		infeasible -= l.tmp[k].size * bound(l.non[l.tmp[k].j])
		if infeasible <= 0 {
			break
		}
	}
	if len(l.tmp) == 0 {
		return -1
	}
	// Near ties: the largest pivot.
	q := k
	for i := k + 1; i < len(l.tmp) && l.tmp[i].ratio <= l.tmp[k].ratio+dualZero; i++ {
		if l.tmp[i].size > l.tmp[q].size {
			q = i
		}
	}
	enter := l.tmp[q].j
	for _, b := range l.tmp[:k] {
		l.flip(b.j)
	}
	return enter
}
