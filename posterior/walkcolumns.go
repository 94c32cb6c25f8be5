// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

const (
	// walkError bounds, in nats, what the parts of columns that are not read make of the log likelihood of the sources, where
	// a bound on ‖A‖ is known; else ‖y‖ stands for that, and it is an estimate.
	walkError = 1e-4
	// walkProducts is the number of products that reading a column may take as long as: it has fewer entries.
	walkProducts = 8
	// walkMemory bounds the columns that a walk keeps, in bytes: beyond it those kept are read again.
	walkMemory = 1 << 27
)

// SampleBytes returns about how much memory [NewSample] and [Second] take, where sensors may be broken and the entries of A are not
// held.
func SampleBytes(nodes, sensors int) int64 {
	const (
		perSensor = 1600 // as it is, as the sources leave it, and in the states that matter, with moments
		perNode   = 300  // laws and bounds
		perEntry  = 64   // of the pool: in its column and of its sensor
	)
	return perSensor*int64(sensors) + perNode*int64(nodes) + min(walkMemory, 12*int64(nodes)*int64(sensors)) + min(perEntry*poolEntries, perEntry*int64(nodes)*int64(sensors))
}

// sparseColumn is a column of A at the sensors that it moves.
type sparseColumn struct {
	rows   []int32
	x      []float64
	square float64 // Σx²
}

func newSparseColumn(rows []int32, x []float64) *sparseColumn {
	return &sparseColumn{rows: rows, x: x, square: floats.Dot(x, x)}
}

// bytes is the memory that the column takes.
func (c *sparseColumn) bytes() int { return 12*len(c.rows) + 128 }

// walkColumns are columns of A: read where heat stays near, else from products, and kept.
//
// The log likelihood of a sensor changes by at most |y| + |x| for each unit of its mean x. So what k columns miss, at most
// tol each, changes the sum of all by at most k·tol·(‖y‖ + k·‖A‖ + k·tol).
type walkColumns struct {
	a      linop.Operator
	read   linop.ColumnReader // nil: products
	far    float64            // error from which a column that is read is not taken
	kept   map[int]*sparseColumn
	size   int // bytes of what is kept
	memory int // limit of it
	all    []int32
}

// newWalkColumns reads columns for so many sources.
func newWalkColumns(d measurement.Data, sources, memory int) *walkColumns {
	m, n := d.A.Dims()
	c := &walkColumns{a: d.A, kept: map[int]*sparseColumn{}, memory: memory}
	sample := make([]int, min(n, checkBlock))
	for k := range sample {
		sample[k] = k * (n / len(sample))
	}
	k, norm := float64(sources), linop.Norm(d.A)
	if math.IsInf(norm, 1) {
		norm = floats.Norm(d.Y, 2)
	}
	tol := walkError / (k * (1 + floats.Norm(d.Y, 2) + k*norm))
	if read, ok := linop.ReadColumns(d.A, sample, tol/2, walkProducts*len(sample)); ok {
		c.read, c.far = read, tol
		return c
	}
	c.all = make([]int32, m)
	for s := range c.all {
		c.all[s] = int32(s)
	}
	return c
}

// at returns column j.
func (c *walkColumns) at(j int) *sparseColumn {
	if col, ok := c.kept[j]; ok {
		return col
	}
	col := c.find(j)
	c.keep(j, col)
	return col
}

// keep keeps column j, and where it does not fit no other.
func (c *walkColumns) keep(j int, col *sparseColumn) {
	if c.size += col.bytes(); c.size > c.memory {
		clear(c.kept)
		c.size = col.bytes()
	}
	c.kept[j] = col
}

// take keeps columns that are products together: for many at once a product costs less for each.
func (c *walkColumns) take(nodes []int) {
	if c.read != nil {
		return
	}
	missing := slices.DeleteFunc(slices.Clone(nodes), func(j int) bool { return c.kept[j] != nil })
	m, _ := c.a.Dims()
	x := make([]float64, m*len(missing))
	linop.ColumnsTo(c.a, x, missing)
	for k, j := range missing {
		c.keep(j, newSparseColumn(c.all, x[k*m:(k+1)*m:(k+1)*m]))
	}
}

func (c *walkColumns) find(j int) (col *sparseColumn) {
	if c.read != nil {
		c.read(j, func(rows []int32, x []float64, off float64) {
			if off <= c.far {
				col = newSparseColumn(slices.Clone(rows), slices.Clone(x))
			}
		})
	}
	if col != nil {
		return col
	}
	m, _ := c.a.Dims()
	x := make([]float64, m)
	linop.ColumnsTo(c.a, x, []int{j})
	if c.all != nil {
		return newSparseColumn(c.all, x)
	}
	rows := make([]int32, m)
	for s := range rows {
		rows[s] = int32(s)
	}
	return newSparseColumn(rows, x)
}
