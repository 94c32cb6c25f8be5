// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"
	"math/rand/v2"
)

// minLength is the length of an edge between coinciding points, which must be positive.
const minLength = 0x1p-60

// KNN returns n random points of the unit square, each joined with its k nearest
// others (the union of both directions), and the points. A length ℓ is Euclidean;
// a weight is e^{-ℓ²/2s²}, with s the mean length.
func KNN(n, k int, seed uint64) (*Graph, []Point, error) {
	const family = "nearest-neighbour graph"
	if k < 1 || k >= n {
		return nil, nil, impossible(family, "%d neighbours among %d nodes, want 1 ≤ neighbours < nodes", k, n)
	}
	b, err := numberedBuilder(family, n, float64(n)*float64(k))
	if err != nil {
		return nil, nil, err
	}
	r := newRand(seed)
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{r.Float64(), r.Float64()}
	}
	near := nearest(points, k)
	row := func(i int) []int32 { return near[i*k : (i+1)*k] }
	mean := 0.0
	for i, p := range points {
		for _, j := range row(i) {
			mean += p.distance(points[j]) / float64(len(near))
		}
	}
	for i, p := range points {
		for _, j := range row(i) {
			if i < int(j) || !contains(row(int(j)), int32(i)) {
				l := max(minLength, p.distance(points[j]))
				b.add(i, int(j), math.Exp(-l*l/(2*mean*mean)), l)
			}
		}
	}
	g, err := b.Graph()
	return g, points, err
}

// nearest returns the k nearest others of each point, nearest first.
func nearest(points []Point, k int) []int32 {
	cells := newCells(points, max(1, int(math.Sqrt(float64(len(points))/float64(k)))))
	near := make([]int32, len(points)*k)
	distance := make([]float64, k)
	for _, i := range cells.member { // neighbours in space are neighbours in time
		p := points[i]
		row := near[int(i)*k : int(i)*k : (int(i)+1)*k]
		// After ring t, all points within t cell sides have been compared.
		for t := 0; len(row) < k || distance[k-1] > float64(t-1)/float64(cells.side); t++ {
			cells.ring(p, t, func(j int32) {
				if j == i {
					return
				}
				d := p.distance(points[j])
				slot := len(row)
				if slot < k {
					row = append(row, j)
				} else if slot--; d >= distance[slot] {
					return
				}
				for ; slot > 0 && distance[slot-1] > d; slot-- {
					distance[slot], row[slot] = distance[slot-1], row[slot-1]
				}
				distance[slot], row[slot] = d, j
			})
		}
	}
	return near
}

// cells holds points by the side × side squares in which they lie.
type cells struct {
	side   int
	start  []int32
	member []int32
}

func newCells(points []Point, side int) cells {
	c := cells{side: side, start: make([]int32, side*side+1), member: make([]int32, len(points))}
	for _, p := range points {
		c.start[c.coordinate(p.Y)*side+c.coordinate(p.X)+1]++
	}
	for k := range side * side {
		c.start[k+1] += c.start[k]
	}
	next := append([]int32(nil), c.start...)
	for i, p := range points {
		k := c.coordinate(p.Y)*side + c.coordinate(p.X)
		c.member[next[k]] = int32(i)
		next[k]++
	}
	return c
}

func (c cells) coordinate(x float64) int { return min(c.side-1, int(x*float64(c.side))) }

// ring calls yield for the points in the squares at Chebyshev distance t from
// that of p.
func (c cells) ring(p Point, t int, yield func(int32)) {
	x, y := c.coordinate(p.X), c.coordinate(p.Y)
	for cy := max(0, y-t); cy <= min(c.side-1, y+t); cy++ {
		step := 1
		if cy != y-t && cy != y+t {
			step = max(1, 2*t)
		}
		for cx := x - t; cx <= x+t; cx += step {
			if cx < 0 || cx >= c.side {
				continue
			}
			k := cy*c.side + cx
			for _, j := range c.member[c.start[k]:c.start[k+1]] {
				yield(j)
			}
		}
	}
}

// RoadLike returns a connected graph that resembles a road network, and the
// places of its nodes: a jittered square lattice of which a random spanning tree
// and a quarter of the other edges remain, 1.25 edges a node as in the road
// network of Minnesota. Lengths are Euclidean, weights 1.
func RoadLike(n int, seed uint64) (*Graph, []Point, error) {
	b, err := numberedBuilder("road-like graph", n, 1.25*float64(n))
	if err != nil {
		return nil, nil, err
	}
	r := newRand(seed)
	side := int(math.Ceil(math.Sqrt(float64(n))))
	points := make([]Point, n)
	for v := range points {
		points[v] = Point{
			X: (float64(v%side) + 0.5 + 0.7*(r.Float64()-0.5)) / float64(side),
			Y: (float64(v/side) + 0.5 + 0.7*(r.Float64()-0.5)) / float64(side),
		}
	}
	tree := newForest(n)
	for _, e := range lattice(n, side, r) {
		if u, v := int(e[0]), int(e[1]); tree.union(e[0], e[1]) || r.Float64() < 0.25 {
			b.add(u, v, 1, max(minLength, points[u].distance(points[v])))
		}
	}
	g, err := b.Graph()
	return g, points, err
}

// lattice returns the edges of the first n nodes of a square lattice, shuffled.
func lattice(n, side int, r *rand.Rand) [][2]int32 {
	edges := make([][2]int32, 0, 2*n)
	for v := range n {
		if v%side > 0 {
			edges = append(edges, [2]int32{int32(v - 1), int32(v)})
		}
		if v >= side {
			edges = append(edges, [2]int32{int32(v - side), int32(v)})
		}
	}
	r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return edges
}

// forest is a union–find structure with path halving.
type forest []int32

func newForest(n int) forest {
	f := make(forest, n)
	for i := range f {
		f[i] = int32(i)
	}
	return f
}

func (f forest) find(v int32) int32 {
	for f[v] != v {
		f[v] = f[f[v]]
		v = f[v]
	}
	return v
}

// union joins the trees of u and v, and says whether they were two.
func (f forest) union(u, v int32) bool {
	u, v = f.find(u), f.find(v)
	f[u] = v
	return u != v
}
