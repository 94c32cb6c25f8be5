// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
)

// Sums over two million nodes whose roundings all point the same way: the bound stays
// below its exact value, and a problem that f = 1 solves is not called infeasible.
func TestLongSumsRoundDown(t *testing.T) {
	const n, c = 1 << 21, 2 + 0x1p-34
	row := make([]float64, n)
	for i := range row {
		row[i] = c
	}
	p := recovery.Problem{
		A: linop.Dense{M: mat.NewDense(1, n, row)}, Y: []float64{n*c + 1 - 1e-5}, Radius: 1,
	}
	bound := must.Get(p.LowerBound([]float64{1}))(t)
	precise := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	exact := precise(1 - c)
	exact.Mul(exact, precise(n))
	exact.Add(exact, precise(p.Y[0]-1))
	if precise(bound).Cmp(exact) > 0 {
		t.Errorf("bound %v, exactly %v", bound, exact)
	}
	distance, err := p.Distance([]float64{1})
	if err != nil || distance > 1 {
		t.Errorf("distance at least %v (%v), but f = 1 is within 1", distance, err)
	}
}
