// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// thinEntry is the memory of an entry of a thin column.
const thinEntry = 12

// thin is a column by its entries that are not 0. Where heat stays near, as on roads, that is a ball around its node.
type thin struct {
	rows []int32
	vals []float64
}

func newThin(column []float64) (c thin) {
	count := 0
	for _, v := range column {
		if v != 0 {
			count++
		}
	}
	c.rows, c.vals = make([]int32, 0, count), make([]float64, 0, count)
	for i, v := range column {
		if v != 0 {
			c.rows, c.vals = append(c.rows, int32(i)), append(c.vals, v)
		}
	}
	return c
}

func (c thin) dot(x []float64) (sum float64) {
	for k, i := range c.rows {
		sum += c.vals[k] * x[i]
	}
	return sum
}

func (c thin) addTo(x []float64, scale float64) {
	for k, i := range c.rows {
		x[i] += scale * c.vals[k]
	}
}

// thinColumns holds columns as thin ones.
type thinColumns struct {
	columns []thin
	entries int
	image   []float64 // memory for a column, zeros between uses
}

// fits reports whether the columns take no more than so many bytes.
func (t *thinColumns) fits(memory int) bool { return thinEntry*t.entries <= memory }

// cross returns the products of all columns with those from first on: entry (i, c) is that of
// columns i and first+c.
func (t *thinColumns) cross(first, m int) []float64 {
	k, p := len(t.columns), len(t.columns)-first
	if t.image == nil {
		t.image = make([]float64, m)
	}
	cross := make([]float64, k*p)
	for c, column := range t.columns[first:] {
		column.addTo(t.image, 1)
		parallel.Rows(k, 1+t.entries/k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				cross[i*p+c] = t.columns[i].dot(t.image)
			}
		})
		for _, i := range column.rows {
			t.image[i] = 0
		}
	}
	return cross
}

// subtract sets r to r − Σ x_k columns[k].
func (t *thinColumns) subtract(r, x []float64) {
	for k, c := range t.columns {
		if x[k] != 0 {
			c.addTo(r, -x[k])
		}
	}
}

// dots sets dst to the product of each column with r.
func (t *thinColumns) dots(dst, r []float64) {
	parallel.Rows(len(t.columns), 1+t.entries/max(1, len(t.columns)), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dst[k] = t.columns[k].dot(r)
		}
	})
}
