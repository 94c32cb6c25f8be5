// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"math/big"

	"github.com/graphcloak/graphcloak/privacy"
)

// maxBits bounds the bits of one coin: more are needed with probability below 2⁻⁸⁰⁰⁰.
const maxBits = 8192

var errStuck = errors.New("answer: 8192 random bits decide no coin; the source of randomness is broken")

// coin draws flips: 1 where U < f, with f = 1/(1 + e^ε) at the ε that is charged and U = 0.b₀b₁b₂…
// the stream of uniform bits.
type coin struct {
	cost         privacy.Cost
	below, above uint64 // a first word < below is a flip, one ≥ above is none
}

func newCoin(cost privacy.Cost) coin {
	c := coin{cost: cost}
	lo, hi := bounds(cost, 64)
	c.below, c.above = lo.Uint64(), hi.Uint64() // f ≤ ½, so that both fit
	return c
}

// flip returns whether U < f. More than 64 bits are read only while the interval of U that
// is known holds f.
//
// Proof: docs/proofs/answers.md.
func (c coin) flip(next func() uint64) (bool, error) {
	first := next()
	switch {
	case first < c.below:
		return true, nil
	case first >= c.above:
		return false, nil
	}
	u, word := new(big.Int).SetUint64(first), new(big.Int)
	for n := uint(128); n <= maxBits; n += 64 {
		u.Or(u.Lsh(u, 64), word.SetUint64(next()))
		below, above := bounds(c.cost, n)
		switch {
		case u.Cmp(below) < 0:
			return true, nil
		case u.Cmp(above) >= 0:
			return false, nil
		}
	}
	return false, errStuck
}

// bounds returns the largest integer that is certainly at most f·2^n, and the least one that
// is certainly at least that, for a flip chance known within 2^−(n+64). With n known bits u of
// U, u < below means U < (u + 1)/2^n ≤ f, and u ≥ above means U ≥ u/2^n ≥ f.
func bounds(cost privacy.Cost, n uint) (below, above *big.Int) {
	const extra = 64
	f, one := flipChance(cost, n+extra), big.NewInt(1)
	below = new(big.Int).Sub(f, one)
	below.Rsh(below, extra) // to −∞
	if below.Sign() < 0 {
		below.SetInt64(0)
	}
	above = new(big.Int).Add(f, one)
	above.Rsh(above, extra)
	return below, above.Add(above, one)
}

// flipChance returns an integer c with |c/2^bits − f| < 2^−bits for f = 1/(1 + e^ε), up to 8,256
// bits, at the ε of a cost, which is a multiple of 2⁻⁴⁰.
//
// Proof: docs/proofs/answers.md.
func flipChance(cost privacy.Cost, bits uint) *big.Int {
	const unitBits = 40
	w := bits + 64
	one := new(big.Int).Lsh(big.NewInt(1), w)
	// e^ε·2^w = Σ term, each truncated; none is left out before the terms halve.
	term, sum := new(big.Int).Set(one), new(big.Int).Set(one)
	epsilon, div := big.NewInt(int64(cost)), new(big.Int)
	for k := int64(1); term.Sign() != 0 || k < 2*int64(cost)>>unitBits+2; k++ {
		term.Mul(term, epsilon)
		term.Rsh(term, unitBits)
		term.Quo(term, div.SetInt64(k))
		sum.Add(sum, term)
	}
	c := new(big.Int).Lsh(one, bits)
	return c.Quo(c, sum.Add(sum, one))
}
