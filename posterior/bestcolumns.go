// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// bestError is the error of a column that is read, relative to ‖A‖₂; where it is a thousand times as much,
// the column comes from a product.
const bestError = 1e-12

// bestColumns are columns of A, of a block of trials: read where that is cheaper, else from one product.
type bestColumns struct {
	a     linop.Operator     // of products
	read  linop.ColumnReader // nil: products
	far   float64            // error from which a column that is read is not taken
	nodes []int
	all   []float64 // of nodes, one after the other, from products
}

// newBestColumns returns columns of a, from products with one near it where none are read.
func newBestColumns(a, near linop.Operator) bestColumns {
	_, n := a.Dims()
	sample := make([]int, min(n, checkBlock))
	for k := range sample {
		sample[k] = k * (n / len(sample))
	}
	norm := linop.Norm(a)
	if math.IsInf(norm, 1) {
		norm = 1
	}
	b := bestColumns{a: near, far: 1e3 * bestError * norm}
	if read, ok := linop.ReadColumns(a, sample, bestError*norm, len(sample)); ok {
		b.read = read
	}
	return b
}

// load makes the columns of these nodes ready.
func (b *bestColumns) load(nodes []int) {
	b.nodes = nodes
	if b.read != nil {
		return
	}
	m, _ := b.a.Dims()
	if len(b.all) < m*len(nodes) {
		b.all = make([]float64, m*len(nodes))
	}
	linop.ColumnsTo(b.a, b.all[:m*len(nodes)], nodes)
}

// subtract subtracts a multiple of the column of the j-th node from x. It may be called concurrently.
func (b *bestColumns) subtract(x []float64, j int, scale float64) {
	m := len(x)
	if b.read == nil {
		floats.AddScaled(x, -scale, b.all[j*m:(j+1)*m])
		return
	}
	far := false
	b.read(b.nodes[j], func(rows []int32, column []float64, off float64) {
		if far = off > b.far; far {
			return
		}
		for k, i := range rows {
			x[i] -= scale * column[k]
		}
	})
	if far {
		column := make([]float64, m)
		linop.ColumnsTo(b.a, column, b.nodes[j:j+1])
		floats.AddScaled(x, -scale, column)
	}
}
