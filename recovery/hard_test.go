// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
)

// hardProblem is smooth to the point of numerical rank 1, or has duplicate and zero
// columns, or ties, over twelve orders of scale and five of η.
func hardProblem(rnd *rand.Rand) recovery.Problem {
	m, n := 1+rnd.IntN(40), 1+rnd.IntN(80)
	var a linop.Dense
	switch rnd.IntN(4) {
	case 0:
		a = randomDense(rnd, m, n)
	case 1:
		a = interval(m, n, math.Pow(10, -3+3*rnd.Float64()))
	case 2:
		a = randomDense(rnd, m, n)
		for j := range n {
			from, factor := rnd.IntN(n), float64(rnd.IntN(6))
			if factor > 1 {
				continue
			}
			for i := range m {
				a.M.Set(i, j, factor*a.M.At(i, from))
			}
		}
	default:
		a = randomDense(rnd, m, n)
		for i := range m {
			for j := range n {
				a.M.Set(i, j, float64(rnd.IntN(3)))
			}
		}
	}
	scale := math.Pow(10, 12*rnd.Float64()-6)
	floats.Scale(scale, a.M.RawMatrix().Data)
	f, y := make([]float64, n), make([]float64, m)
	for range 1 + rnd.IntN(5) {
		f[rnd.IntN(n)] = float64(rnd.IntN(3)) / 2
	}
	a.MulVecTo(y, false, f)
	noise := 0.2 * scale * float64(rnd.IntN(2))
	for i := range y {
		y[i] += noise * rnd.NormFloat64()
	}
	return recovery.Problem{A: a, Y: y, Radius: floats.Norm(y, 2)*math.Pow(10, -5*rnd.Float64()) + 1e-300}
}

// Column generation settles every one of them. The other two may stall here, and
// say so; what any two prove is never in contradiction.
func TestHardProblems(t *testing.T) {
	const trials = 600
	rnd := rand.New(rand.NewPCG(104, 1))
	stalled := map[string]int{}
	for trial := range trials {
		p := hardProblem(rnd)
		want, err := recovery.ColumnGeneration{}.Solve(t.Context(), p)
		if err != nil {
			t.Errorf("trial %d: %v %+v", trial, err, short(want))
			continue
		}
		for name, s := range solvers() {
			got, err := s.Solve(t.Context(), p)
			if errors.Is(err, recovery.ErrStalled) {
				stalled[name]++
				if want.Status == recovery.Optimal && got.LowerBound > want.Objective*(1+1e-9) {
					t.Errorf("trial %d: %s proves %v, the optimum is %v", trial, name, got.LowerBound, want.Objective)
				}
				continue
			}
			if err != nil || got.Status != want.Status {
				t.Errorf("trial %d: %s %v %+v, want %+v", trial, name, err, short(got), short(want))
			} else if math.Abs(got.Objective-want.Objective) > (1e-9+got.Gap+want.Gap)*want.Objective && got.Status == recovery.Optimal {
				t.Errorf("trial %d: %s %v, want %v", trial, name, got.Objective, want.Objective)
			}
		}
	}
	t.Logf("stalled: %v of %d", stalled, trials)
	for name, k := range stalled {
		if k > trials/25 {
			t.Errorf("%s stalled %d times in %d", name, k, trials)
		}
	}
}
