// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
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

// Where the eigenvalue iteration fails, Auto goes on with products that are certified; who
// asked for eigenpairs is told.
func TestWithoutEigenvalues(t *testing.T) {
	g, err := graph.Star(40)
	if err != nil {
		t.Fatal(err)
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	want, err := expm.New(t.Context(), l, 128, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	got, err := expm.New(t.Context(), unsolvable{l}, 128, expm.Options{})
	if err != nil || got.Method() != expm.Chebyshev || got.Err() != want.Err() {
		t.Fatalf("%v: method %v, error %g, want chebyshev and %g", err, got.Method(), got.Err(), want.Err())
	}
	if _, err := expm.New(t.Context(), unsolvable{l}, 128, expm.Options{Method: expm.Eigen}); err == nil || !strings.Contains(err.Error(), "chebyshev needs none") {
		t.Errorf("%v, want advice to take chebyshev", err)
	}
}
