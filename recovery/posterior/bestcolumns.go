// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// bestError is the error of a column that is read, relative to ‖A‖₂; where it is a thousand times as much,
// the column comes from a product.
const bestError = 1e-12

// bestColumns are columns of A: read where that is cheaper, else from products.
type bestColumns struct {
	a    linop.Operator     // of products
	read linop.ColumnReader // nil: products
	far  float64            // error from which a column that is read is not taken
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

// subtract subtracts from each column of y, with one trial each, what its source is expected to add.
func (b *bestColumns) subtract(y []float64, sources []bestSource) {
	width := len(sources)
	products := make([]bool, width) // where the column comes from a product
	parallel.Each(width, func(j int) {
		if products[j] = b.read == nil; products[j] {
			return
		}
		b.read(sources[j].node, func(rows []int32, column []float64, off float64) {
			if products[j] = off > b.far; products[j] {
				return
			}
			for k, i := range rows {
				y[int(i)*width+j] -= sources[j].amplitude * column[k]
			}
		})
	})
	var trials, nodes []int
	for j, s := range sources {
		if products[j] {
			trials, nodes = append(trials, j), append(nodes, s.node)
		}
	}
	if len(trials) == 0 {
		return
	}
	m, _ := b.a.Dims()
	all := linop.GetBlock(m * len(nodes))
	defer all.Put()
	linop.ColumnsTo(b.a, all.V, nodes)
	parallel.Rows(m, 2*len(nodes), func(lo, hi int) {
		for k, j := range trials {
			for i := lo; i < hi; i++ {
				y[i*width+j] -= sources[j].amplitude * all.V[k*m+i]
			}
		}
	})
}
