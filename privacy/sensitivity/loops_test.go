// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// withWorkers calls f with each number of workers.
func withWorkers(t *testing.T, f func(workers int)) {
	t.Helper()
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, workers := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(workers)
		f(workers)
	}
}

// sizes are below, at and above the pieces of a loop.
var sizes = []int{0, 1, 4095, 4096, 4097, 100_000}

// Choices among many items are those of a plain loop, at any number of workers.
func TestChoices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		value := make([]float64, n)
		all := make([]int32, n)
		for i := range value {
			value[i], all[i] = float64(rnd.IntN(n/8+1)), int32(i) // many are equal
		}
		order := slices.Clone(all)
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(value[b], value[a]) })
		withWorkers(t, func(workers int) {
			for _, k := range []int{1, 4, 1024} {
				got := largest(all, k, func(i int32) float64 { return value[i] })
				if !slices.Equal(got, order[:min(k, n)]) {
					t.Errorf("%d workers: the %d largest of %d are others", workers, k, n)
				}
			}
			most, at := largestOf(n, 1, func(i int) float64 { return value[i] })
			if n > 1 && (most != value[order[0]] || at != int(order[0])) {
				t.Errorf("%d workers, largest of %d: %v at %d, want %v at %d", workers, n, most, at, value[order[0]], order[0])
			}
		})
	}
	if most, at := largestOf(3, 1, func(int) float64 { return 0 }); most != 0 || at != -1 {
		t.Errorf("largest of zeros: %v at %d, want 0 at -1", most, at)
	}
}

// Of the leaves of one hub with equal weights the shortest is kept, and of equal ones the first.
func TestDominated(t *testing.T) {
	var b graph.Builder
	for i := range 9 {
		must.Get(b.AddNode(graph.ID(strconv.Itoa(i))))(t)
	}
	for _, e := range []graph.Edge{
		{U: 0, V: 1, Weight: 1, Length: 2},
		{U: 0, V: 2, Weight: 1, Length: 1},
		{U: 0, V: 3, Weight: 1, Length: 1},
		{U: 0, V: 4, Weight: 2, Length: 3}, // alone with its weight
		{U: 0, V: 5, Weight: 1, Length: 1},
		{U: 5, V: 6, Weight: 1, Length: 1}, // 5 is no leaf, 6 is
		{U: 7, V: 8, Weight: 1, Length: 1}, // both ends are leaves
	} {
		must.Do(t, b.Connect(e.U, e.V, e.Weight, e.Length))
	}
	g := must.Get(b.Graph())(t)
	m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
	p := must.Get(newProblem(m, nil, &Options{}))(t)
	ptr, _, _, _ := p.lap.CSR()
	var got [][2]int32
	for _, i := range p.dominated(ptr) {
		got = append(got, p.edges.ends[i])
	}
	slices.SortFunc(got, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	if want := [][2]int32{{0, 1}, {0, 3}}; !slices.Equal(got, want) {
		t.Errorf("dominated: %v, want %v", got, want)
	}
}
