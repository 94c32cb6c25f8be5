// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/measurement"
)

// Eigenvalues, counts and vectors of a band against gonum's dense decomposition,
// with repeated eigenvalues and with the whole spectrum on one point.
func TestBand(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 1))
	for _, c := range []struct {
		n, width, repeat int
		scale            float64
	}{{1, 3, 1, 1}, {2, 3, 1, 1}, {40, 1, 1, 1}, {40, 3, 1, 1e6}, {60, 8, 1, 1}, {30, 4, 3, 1}, {12, 3, 0, 1}} {
		size := c.n * max(1, c.repeat)
		b, dense := band{width: c.width, v: make([]float64, size*(c.width+1))}, mat.NewSymDense(size, nil)
		for i := range c.n {
			for d := range min(c.width, i) + 1 {
				v := c.scale * rnd.NormFloat64()
				if c.repeat == 0 {
					v = 0
				}
				for r := range max(1, c.repeat) { // the same block again, and almost the same
					at := r*c.n + i
					v := v * (1 + float64(max(0, r-1))*1e-10)
					b.v[at*(c.width+1)+d] = v
					dense.SetSym(at, at-d, v)
				}
			}
		}
		var eig mat.EigenSym
		if !eig.Factorize(dense, false) {
			t.Fatal("gonum does not converge")
		}
		want := eig.Values(nil)
		got := b.values()
		for i, v := range want {
			if math.Abs(got[i]-v) > 1e-12*c.scale {
				t.Errorf("%+v: eigenvalue %d is %v, want %v", c, i, got[i], v)
			}
			// Elimination without pivoting loses digits where a leading minor is small.
			if v := b.value(size - i); math.Abs(v-want[i]) > 1e-9*c.scale {
				t.Errorf("%+v: by bisection, eigenvalue %d is %v, want %v", c, i, v, want[i])
			}
			if i > 0 && want[i]-want[i-1] > 1e-9*c.scale && b.count((want[i]+want[i-1])/2) != size-i {
				t.Errorf("%+v: %d eigenvalues above number %d, want %d", c, b.count((want[i]+want[i-1])/2), i, size-i)
			}
		}
		x := b.vectors(got[size/3:], rnd)
		v := mat.NewDense(x.Rows, size, x.Data)
		var gram, image mat.Dense
		gram.Mul(v, v.T())
		image.Mul(v, dense)
		for i := range x.Rows {
			for j := range x.Rows {
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(gram.At(i, j)-want) > 1e-12 {
					t.Errorf("%+v: vectors %d and %d have product %v", c, i, j, gram.At(i, j))
				}
			}
			for j := range size {
				if r := image.At(i, j) - got[size/3+i]*v.At(i, j); math.Abs(r) > 1e-9*c.scale {
					t.Errorf("%+v: residual %v in vector %d", c, r, i)
				}
			}
		}
	}
}

// diagonal is a diagonal matrix.
type diagonal []float64

func (d diagonal) Dims() (r, c int) { return len(d), len(d) }

func (d diagonal) MulVecTo(dst []float64, _ bool, x []float64) {
	for i, v := range d {
		dst[i] = v * x[i]
	}
}

// Where the budget ends the search, what it returns is orthonormal, so the noise stays
// white, and visible.
func TestVisibleDirectionsWithinBudget(t *testing.T) {
	const n = 2000
	d := make(diagonal, n)
	for i := range d {
		d[i] = 10 * math.Exp(-float64(i)/300) // 482 values above 2
	}
	for _, most := range []int{1, 8, 100, 600} {
		s := newKrylov(d, 2, n)
		s.most = most
		left, image, err := s.search(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, _ := left.Dims()
		if most == 600 && r != 483 || r > max(most, krylovBlock) || r < most/2 {
			t.Errorf("%d directions within %d rows", r, most)
		}
		var gram mat.Dense
		gram.Mul(left, left.T())
		for i := range r {
			gram.Set(i, i, gram.At(i, i)-1)
			norm := 0.0
			for j := range n {
				norm += math.Pow(left.At(i, j)*d[j], 2)
				if math.Abs(image.At(i, j)-left.At(i, j)*d[j]) > 1e-13 {
					t.Fatalf("image %d, %d is not AᵀU", i, j)
				}
			}
			if norm <= 4 {
				t.Errorf("direction %d has ‖Aᵀu‖² = %v, want > 4", i, norm)
			}
		}
		if e := mat.Norm(&gram, math.Inf(1)); e > 1e-7 {
			t.Errorf("within %d rows the directions are %v from orthonormal", most, e)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *mat.Dense
	for _, workers := range []int{1, 3} {
		runtime.GOMAXPROCS(workers)
		s := newKrylov(d, 2, n)
		s.most = 100
		left, _, err := s.search(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = left
		}
		if !mat.Equal(left, first) {
			t.Errorf("%d workers find other bits", workers)
		}
	}
	if left, _, err := newKrylov(d, 2, 400).search(t.Context()); left != nil || err != nil {
		t.Errorf("more directions than the limit: %v, %v", left != nil, err)
	}
}

// tally counts the products with its operator.
type tally struct {
	diagonal
	products int
}

func (c *tally) MulVecTo(dst []float64, trans bool, x []float64) {
	c.products++
	c.diagonal.MulVecTo(dst, trans, x)
}

// What is visible is found once for many data: the problem is the same, without
// another product, also where nothing is visible.
func TestVisibleOnce(t *testing.T) {
	for _, top := range []float64{30, 1} {
		a := &tally{diagonal: make(diagonal, 200)}
		for i := range a.diagonal {
			a.diagonal[i] = top / float64(1+i)
		}
		y := make([]float64, 200)
		y[0], y[1] = top, 1
		d := measurement.Data{A: a, Y: y}
		s, err := Visible(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		before := a.products
		p, b, err := NewProblem(t.Context(), d, Rule{Kind: Projected}, s)
		if err != nil || a.products != before {
			t.Fatalf("%d products for a problem whose directions are known (%v)", a.products-before, err)
		}
		q, c, err := NewProblem(t.Context(), d, Rule{Kind: Projected}, nil)
		if err != nil || b != c || p.Radius != q.Radius || !slices.Equal(p.Y, q.Y) {
			t.Errorf("top %v: %+v with the directions given, %+v without (%v)", top, b, c, err)
		}
		if want := min(200, int(math.Ceil(top/visibleRatio))-1); top > visibleRatio && b.Dimension != want || top < visibleRatio && b.Rule != Chi2 {
			t.Errorf("top %v: %+v, want %d directions", top, b, want)
		}
	}
}
