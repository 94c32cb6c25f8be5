// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/graphcloak/graphcloak/graph"
)

// family is a generated graph; its seed is 1.
type family struct {
	name string
	make func(n int) (*graph.Graph, error)
}

// The families have about ten edges a node, the road-like one 1.25, the grid two.
var (
	sbm = family{"block model", func(n int) (*graph.Graph, error) {
		g, _, err := graph.SBM(n, 10, 180/float64(n), 20./9/float64(n), 1)
		return g, err
	}}
	// many has communities of 1,000 nodes, eight edges a node inside and two across.
	many = family{"block model", func(n int) (*graph.Graph, error) {
		g, _, err := graph.SBM(n, max(1, n/1000), .016, 4/float64(n), 1)
		return g, err
	}}
	// two has two communities, joined with probability 5 % inside and 0.1 % across.
	two = family{"block model", func(n int) (*graph.Graph, error) {
		g, _, err := graph.SBM(n, 2, .05, .001, 1)
		return g, err
	}}
	ba   = family{"Barabási–Albert", func(n int) (*graph.Graph, error) { return graph.BarabasiAlbert(n, 10, 1) }}
	thin = family{"Barabási–Albert", func(n int) (*graph.Graph, error) { return graph.BarabasiAlbert(n, 5, 1) }}
	rmat = family{"R-MAT", func(n int) (*graph.Graph, error) { return graph.RMAT(n, 10*n, graph.Quadrants{}, 1) }}
	road = family{"road-like", func(n int) (*graph.Graph, error) { g, _, err := graph.RoadLike(n, 1); return g, err }}
	knn  = family{"nearest neighbours", func(n int) (*graph.Graph, error) { g, _, err := graph.KNN(n, 10, 1); return g, err }}
	grid = family{"grid", func(n int) (*graph.Graph, error) {
		side := int(math.Sqrt(float64(n)))
		return graph.Grid(side, side)
	}}
)

// write stores an array in little-endian order under a name that ends in its type.
func write(dir, name string, data any) error {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(pieces(w, data), w.Flush(), f.Close())
}

// pieces writes a slice in parts, since binary.Write copies what it is given.
func pieces(w io.Writer, data any) error {
	switch x := data.(type) {
	case []float64:
		return inPieces(w, x)
	case []int64:
		return inPieces(w, x)
	case []int32:
		return inPieces(w, x)
	}
	return fmt.Errorf("cannot write %T", data)
}

func inPieces[T any](w io.Writer, x []T) error {
	for len(x) > 0 {
		k := min(len(x), 1<<16)
		if err := binary.Write(w, binary.LittleEndian, x[:k]); err != nil {
			return err
		}
		x = x[k:]
	}
	return nil
}

// writeGraph stores the rows of a graph: ptr.i64 and adj.i32, and weight.f64 and
// length.f64 beside adj where they are not all 1.
func writeGraph(dir string, g *graph.Graph) error {
	ptr, adj, weight := g.CSR()
	err := errors.Join(write(dir, "ptr.i64", ptr), write(dir, "adj.i32", adj))
	if weight != nil {
		err = errors.Join(err, write(dir, "weight.f64", weight))
	}
	if length := g.Lengths(); length != nil {
		err = errors.Join(err, write(dir, "length.f64", length))
	}
	return err
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// sources returns a vector of k unit sources at random nodes.
func sources(n, k int, seed uint64) []float64 {
	r, f := random(seed), make([]float64, n)
	for range k {
		f[r.IntN(n)] = 1
	}
	return f
}

func wide(x []int) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = int64(v)
	}
	return out
}
