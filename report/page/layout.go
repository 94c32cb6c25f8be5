// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/graph"
)

// place gives every node of a graph a place, the same each time. A graph that is long
// for its order, such as a road or a pipe network, is unrolled by its distances. One
// that is not, such as a social network, would come out as a tangle: its communities
// become discs.
func place(g *graph.Graph, labels []int, communities int) []r2.Vec {
	component, sizes := g.Components()
	members := make([][]int, len(sizes))
	for i, c := range component {
		members[c] = append(members[c], i)
	}
	slices.SortStableFunc(members, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	const small = 60 // nodes, of which even a tangle can be read
	out := make([]r2.Vec, g.Order())
	if n := len(members[0]); n > small && 2*float64(slices.Max(hops(g, members[0][0]))) < math.Sqrt(float64(n)) {
		discs(g, labels, communities, out)
		return out
	}
	for _, nodes := range members {
		unroll(g, nodes, out)
	}
	packRows(members, out)
	return out
}

// hops returns the distances from a node, −1 where there is no path.
func hops(g *graph.Graph, from int) []int32 {
	d := slices.Repeat([]int32{-1}, g.Order())
	d[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, j := range g.Neighbors(queue[0]) {
			if d[j] < 0 {
				d[j] = d[queue[0]] + 1
				queue = append(queue, int(j))
			}
		}
	}
	return d
}

// pivots bounds the columns of distances that [unroll] looks at.
const pivots = 100

// unroll places a connected part by pivot MDS: the two main axes of the doubly centred
// squared distances to some pivots, each far from the others. With every node a pivot
// it is classical scaling. Brandes & Pich, Graph Drawing (2006) 42–53. The mean length
// of a relationship becomes 1.
func unroll(g *graph.Graph, nodes []int, out []r2.Vec) {
	n, k := len(nodes), min(len(nodes), pivots)
	if n < 3 {
		for i, v := range nodes {
			out[v] = r2.Vec{X: float64(i)}
		}
		return
	}
	c := mat.NewDense(n, k, nil)
	nearest := slices.Repeat([]int32{math.MaxInt32}, n)
	for j, next := 0, 0; j < k; j++ {
		d := hops(g, nodes[next])
		for i, v := range nodes {
			nearest[i] = min(nearest[i], d[v])
			c.Set(i, j, float64(d[v])*float64(d[v]))
		}
		next = slices.Index(nearest, slices.Max(nearest))
	}
	centre(c)
	var square mat.SymDense
	square.SymOuterK(1, c.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&square, true) {
		return
	}
	var vectors, axes mat.Dense
	eigen.VectorsTo(&vectors)
	axes.Mul(c, vectors.Slice(0, k, k-2, k))
	values := eigen.Values(nil)
	for i, v := range nodes {
		out[v] = r2.Vec{X: axes.At(i, 1) * shrink(values[k-1]), Y: axes.At(i, 0) * shrink(values[k-2])}
	}
	scaleEdges(g, nodes, out)
	separate(nodes, out, func(int) float64 { return .25 }, 40)
}

// shrink turns C·v, whose length is √λ for the eigenvalue λ of CᵀC, into the
// coordinate of classical scaling.
func shrink(lambda float64) float64 {
	if lambda <= 0 {
		return 0
	}
	return math.Pow(lambda, -.25)
}

// centre subtracts the means of rows and columns and multiplies by −½.
func centre(c *mat.Dense) {
	n, k := c.Dims()
	rows, columns, all := make([]float64, n), make([]float64, k), 0.0
	for i := range n {
		for j := range k {
			v := c.At(i, j)
			rows[i] += v / float64(k)
			columns[j] += v / float64(n)
			all += v / float64(n*k)
		}
	}
	c.Apply(func(i, j int, v float64) float64 { return -(v - rows[i] - columns[j] + all) / 2 }, c)
}

func scaleEdges(g *graph.Graph, nodes []int, at []r2.Vec) {
	sum, count := 0.0, 0
	for _, v := range nodes {
		for _, w := range g.Neighbors(v) {
			sum += r2.Norm(r2.Sub(at[v], at[w]))
			count++
		}
	}
	if sum == 0 {
		return
	}
	for _, v := range nodes {
		at[v] = r2.Scale(float64(count)/sum, at[v])
	}
}

// golden is the angle of a sunflower's florets.
var golden = math.Pi * (3 - math.Sqrt(5))

// separate pushes points apart until no two are nearer than their radii, or so many
// rounds are over. It looks only at pairs in adjacent cells of a grid.
func separate(nodes []int, at []r2.Vec, radius func(int) float64, rounds int) {
	cell := 0.0
	for _, v := range nodes {
		cell = max(cell, 2*radius(v))
	}
	for range rounds {
		grid := make(map[[2]int][]int)
		key := func(v int) [2]int { return [2]int{int(math.Floor(at[v].X / cell)), int(math.Floor(at[v].Y / cell))} }
		moved := false
		for _, v := range nodes {
			k := key(v)
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					for _, w := range grid[[2]int{k[0] + dx, k[1] + dy}] {
						moved = push(v, w, at, radius(v)+radius(w)) || moved
					}
				}
			}
			grid[key(v)] = append(grid[key(v)], v)
		}
		if !moved {
			return
		}
	}
}

// push moves two points apart to a distance; points at one place part along an angle of
// their own.
func push(v, w int, at []r2.Vec, want float64) bool {
	d := r2.Sub(at[v], at[w])
	length := r2.Norm(d)
	if length >= want*(1-1e-9) {
		return false
	}
	if length < want*1e-6 {
		sin, cos := math.Sincos(golden * float64(v))
		d, length = r2.Vec{X: cos, Y: sin}, 1
		at[w] = at[v]
	}
	current := min(r2.Norm(r2.Sub(at[v], at[w])), want)
	step := r2.Scale((want-current)/2/length, d)
	at[v], at[w] = r2.Add(at[v], step), r2.Sub(at[w], step)
	return true
}

// packRows packs the parts of a graph in rows, the largest first, so that the whole is
// about as wide as high.
func packRows(parts [][]int, at []r2.Vec) {
	area := 0.0
	boxes := make([]r2.Box, len(parts))
	for k, nodes := range parts {
		some := make([]r2.Vec, len(nodes))
		for i, v := range nodes {
			some[i] = at[v]
		}
		boxes[k] = boundsOf(some)
		size := boxes[k].Size()
		area += (size.X + 2) * (size.Y + 2)
	}
	width := max(1.3*math.Sqrt(area), boxes[0].Size().X+2)
	x, y, height := 0.0, 0.0, 0.0
	for k, nodes := range parts {
		size := boxes[k].Size()
		if x > 0 && x+size.X > width {
			x, y, height = 0, y+height+2, 0
		}
		for _, v := range nodes {
			at[v] = r2.Add(r2.Sub(at[v], boxes[k].Min), r2.Vec{X: x, Y: y})
		}
		x, height = x+size.X+2, max(height, size.Y)
	}
}

func boundsOf(at []r2.Vec) r2.Box {
	b := r2.Box{Min: at[0], Max: at[0]}
	for _, p := range at {
		b.Min = r2.Vec{X: min(b.Min.X, p.X), Y: min(b.Min.Y, p.Y)}
		b.Max = r2.Vec{X: max(b.Max.X, p.X), Y: max(b.Max.Y, p.Y)}
	}
	return b
}

// discs places each community as a disc, its best-connected nodes inmost.
func discs(g *graph.Graph, labels []int, communities int, out []r2.Vec) {
	members := make([][]int, communities)
	for i, c := range labels {
		members[c] = append(members[c], i)
	}
	radii := make([]float64, communities)
	for c, nodes := range members {
		slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(g.Degree(b), g.Degree(a)) })
		radii[c] = math.Sqrt(float64(len(nodes))) + 1
	}
	centres := arrange(radii)
	for c, nodes := range members {
		for k, v := range nodes {
			sin, cos := math.Sincos(golden * float64(k))
			out[v] = r2.Add(centres[c], r2.Scale(math.Sqrt(float64(k)+.5), r2.Vec{X: cos, Y: sin}))
		}
	}
}

// arrange places discs without overlap on a sunflower's spiral, the largest inmost.
func arrange(radii []float64) []r2.Vec {
	at, order := make([]r2.Vec, len(radii)), make([]int, len(radii))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(radii[b], radii[a]) })
	area := 0.0
	for k, c := range order {
		area += radii[c] * radii[c]
		sin, cos := math.Sincos(golden * float64(k))
		at[c] = r2.Scale(1.5*math.Sqrt(area), r2.Vec{X: cos, Y: sin})
	}
	separate(order, at, func(c int) float64 { return 1.08 * radii[c] }, 400)
	return at
}
