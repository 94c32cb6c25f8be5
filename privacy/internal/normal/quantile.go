// SPDX-License-Identifier: Apache-2.0

package normal

import (
	"math"
	"math/big"
)

// UpperQuantile returns z = Φ⁻¹(1 − p) and 1/φ(z) as floats of the precision of p,
// for 2⁻⁴⁰ ≤ p ≤ ½, with a relative error of about 2^(60 − precision). It is for
// making and checking tables.
func UpperQuantile(p *big.Float) (z, inverseDensity *big.Float) {
	prec := p.Prec()
	approx, _ := p.Float64()
	z = new(big.Float).SetPrec(prec).SetFloat64(roughQuantile(approx))
	scale := new(big.Int).Lsh(big.NewInt(1), prec)
	for range 6 { // each step squares an error that begins at 1e-12
		inverseDensity = inverseDensityAt(z)
		num, _ := new(big.Float).SetMantExp(z, int(prec)).Int(nil)
		q := Rational(num.Neg(num), scale, prec) // Q(z) = Φ(−z)
		err := new(big.Float).SetPrec(prec).SetInt(q)
		err.SetMantExp(err, -int(prec))
		err.Sub(err, p)
		z.Add(z, err.Mul(err, inverseDensity))
	}
	return z, inverseDensityAt(z)
}

// inverseDensityAt returns √(2π)·e^{z²/2}, by the series of the exponential, whose
// terms are all positive.
func inverseDensityAt(z *big.Float) *big.Float {
	prec := z.Prec()
	x := new(big.Float).SetPrec(prec).Mul(z, z)
	x.SetMantExp(x, -1)
	sum := new(big.Float).SetPrec(prec).SetInt64(1)
	term := new(big.Float).SetPrec(prec).SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(prec); k++ {
		term.Mul(term, x)
		term.Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	root := new(big.Float).SetPrec(prec).SetInt(sqrt2Pi(prec))
	return sum.Mul(sum, root.SetMantExp(root, -int(prec)))
}

// roughQuantile bisects the complementary error function.
func roughQuantile(p float64) float64 {
	lo, hi := 0.0, 8.0
	for range 60 {
		mid := (lo + hi) / 2
		if math.Erfc(mid/math.Sqrt2)/2 > p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
