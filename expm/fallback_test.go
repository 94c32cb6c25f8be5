// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// unsolvable is a Laplacian whose dense form no eigenvalue iteration solves.
type unsolvable struct{ *laplacian.Laplacian }

func (u unsolvable) Recur(dst, acc, x []float64, k int, a, b, c, d float64) {
	u.Laplacian.Recur(dst, acc, x, k, a, b, c, d)
	if k == u.Order() {
		dst[0] = math.NaN()
	}
}

// Where the eigenvalue iteration fails, Auto goes on with products that are certified; Eigen
// returns an error.
func TestWithoutEigenvalues(t *testing.T) {
	g := must.Get(graph.Star(40))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	want := must.Get(expm.New(t.Context(), l, 128, expm.Options{Method: expm.Chebyshev}))(t)
	got, err := expm.New(t.Context(), unsolvable{l}, 128, expm.Options{})
	if err != nil || got.Method() != expm.Chebyshev || got.Err() != want.Err() {
		t.Fatalf("%v: method %v, error %g, want chebyshev and %g", err, got.Method(), got.Err(), want.Err())
	}
	if _, err := expm.New(t.Context(), unsolvable{l}, 128, expm.Options{Method: expm.Eigen}); err == nil ||
		!strings.Contains(err.Error(), "chebyshev needs no eigenvalues") {
		t.Errorf("%v, want advice to take chebyshev", err)
	}
}

// A τ that neither method carries is refused by name.
func TestRefusedTau(t *testing.T) {
	l := laplacian.New(must.Get(graph.Star(40))(t), laplacian.Combinatorial)
	for tau, l := range map[float64]expm.Generator{1e7: unsolvable{l}, 1e18: heavyTail(t)} {
		_, err := expm.New(t.Context(), l, tau, expm.Options{})
		if !errors.Is(err, expm.ErrAccuracy) || !strings.Contains(err.Error(), fmt.Sprintf("tau = %v", tau)) {
			t.Errorf("%v, want a refusal of τ = %v", err, tau)
		}
	}
}

// heavyTail has relationships of twelve magnitudes, so that its eigenpairs are not near enough
// where τ is large.
func heavyTail(t *testing.T) *laplacian.Laplacian {
	t.Helper()
	var edges [][3]float64
	for i := 1; i < 13; i++ {
		edges = append(edges, [3]float64{float64(i - 1), float64(i), math.Pow(10, float64(i))})
	}
	return laplacian.New(build(t, 13, edges), laplacian.Combinatorial)
}
