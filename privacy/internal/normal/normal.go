// SPDX-License-Identifier: Apache-2.0

// Package normal evaluates the standard normal distribution function at a
// rational argument to any precision, with an error bound, in integers.
package normal

import (
	"math"
	"math/big"
)

// CDF returns the integer c with |c/2^bits − Φ(num/den)| < 2^−bits, for den > 0
// and |num/den| < 2¹⁰.
//
//	Φ(t) = ½ + (2π)^−½ Σ_k (−1)^k t^{2k+1}/(2^k k! (2k+1))
//
// The terms alternate and reach e^{t²/2} at most, so t²/2·log₂e further bits
// absorb the cancellation.
//
// Proof: docs/proofs/normal-cdf.md.
func CDF(num, den int64, bits uint) *big.Int {
	return Rational(big.NewInt(num), big.NewInt(den), bits)
}

// Rational is CDF for integers of any size.
func Rational(num, den *big.Int, bits uint) *big.Int {
	t, _ := new(big.Float).Quo(new(big.Float).SetInt(num), new(big.Float).SetInt(den)).Float64()
	guard := uint(math.Ceil(t*t*0.7213475204444817*(1+1e-9))) + 64
	w := bits + guard

	// term = |t|·(t²/2)^k/k!, truncated toward zero; sum of term/(2k+1).
	term := new(big.Int).Abs(num)
	term.Lsh(term, w)
	term.Quo(term, den)
	p2 := new(big.Int).Mul(num, num)
	q2 := new(big.Int).Mul(den, den)
	q2.Lsh(q2, 1)
	sum, part, div := new(big.Int).Set(term), new(big.Int), new(big.Int)
	for k := int64(1); term.Sign() != 0; k++ {
		term.Mul(term, p2)
		term.Quo(term, div.Mul(q2, part.SetInt64(k)))
		part.Quo(term, div.SetInt64(2*k+1))
		if k%2 == 1 {
			sum.Sub(sum, part)
		} else {
			sum.Add(sum, part)
		}
	}
	// Φ(|t|) − ½ = sum/√(2π)
	sum.Lsh(sum, w)
	sum.Quo(sum, sqrt2Pi(w))
	if num.Sign() < 0 {
		sum.Neg(sum)
	}
	sum.Add(sum, new(big.Int).Lsh(big.NewInt(1), w-1))
	// Nearest integer multiple of 2^−bits.
	sum.Add(sum, new(big.Int).Lsh(big.NewInt(1), guard-1))
	return sum.Rsh(sum, guard)
}

// sqrt2Pi returns √(2π)·2^w within 2 units: √(2π·4^w) by an integer square root.
func sqrt2Pi(w uint) *big.Int {
	x := Pi(2*w + 16)
	x.Rsh(x, 15) // 2π·4^w
	return x.Sqrt(x)
}

// Pi returns π·2^bits within 2 units, by Machin's π = 16·atan(1/5) − 4·atan(1/239).
func Pi(bits uint) *big.Int {
	w := bits + 16
	x := atanInverse(5, w)
	x.Lsh(x, 2)
	x.Sub(x, atanInverse(239, w))
	x.Lsh(x, 2)
	return x.Rsh(x, 16)
}

// atanInverse returns atan(1/n)·2^w, within w units.
func atanInverse(n int64, w uint) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), w)
	power.Quo(power, big.NewInt(n))
	n2, part, div := big.NewInt(n*n), new(big.Int), new(big.Int)
	sum := new(big.Int).Set(power)
	for k := int64(1); power.Sign() != 0; k++ {
		power.Quo(power, n2)
		part.Quo(power, div.SetInt64(2*k+1))
		if k%2 == 1 {
			sum.Sub(sum, part)
		} else {
			sum.Add(sum, part)
		}
	}
	return sum
}
