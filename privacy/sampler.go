// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"math"
	"math/big"

	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

// words is an endless stream of uniform bits, most significant first, 64 at a time.
type words interface {
	next() uint64
}

var errStuck = errors.New("privacy: 8192 random bits decide no sample; the source of randomness is broken")

// maxWords bounds the bits of one sample: more are needed with probability 2⁻⁸⁰⁰⁰.
const maxWords = 128

// sampleExact returns N = ⌊S·Φ⁻¹(U) + ½⌋, that is, the N with
//
//	Φ((2N−1)/(2S)) ≤ U < Φ((2N+1)/(2S)),
//
// where U = 0.b₀b₁b₂… is the stream whose first word is first. More words are
// drawn only while the interval of U that is known holds a boundary.
//
// Proof: docs/proofs/sampler.md.
func sampleExact(first uint64, src words, steps int64) (int64, error) {
	u := new(big.Int).SetUint64(first)
	next := new(big.Int)
	for n := uint(1); n <= maxWords; n++ {
		if sample, ok := decide(u, 64*n, steps); ok {
			return sample, nil
		}
		u.Lsh(u, 64)
		u.Or(u, next.SetUint64(src.next()))
	}
	return 0, errStuck
}

// decide returns the N whose cell holds all of [u, u+1]/2^n; ok is false where
// none does, or where the arithmetic cannot tell.
func decide(u *big.Int, n uint, steps int64) (sample int64, ok bool) {
	// Candidates are few: z is accurate to about 1e-14 relative.
	z, ok := approxQuantile(u, n)
	if !ok {
		return 0, false
	}
	sample = int64(math.Floor(z*float64(steps) + 0.5))
	const extra = 64 // comparison at 2^−(n+64), error below one unit
	lo := new(big.Int).Lsh(u, extra)
	hi := new(big.Int).Lsh(new(big.Int).Add(u, big.NewInt(1)), extra)
	one := big.NewInt(1)
	for range 1 << 12 {
		left := normal.CDF(2*sample-1, 2*steps, n+extra)
		if hi.Cmp(new(big.Int).Sub(left, one)) <= 0 { // U < Φ(left)
			sample--
			continue
		}
		right := normal.CDF(2*sample+1, 2*steps, n+extra)
		if lo.Cmp(new(big.Int).Add(right, one)) >= 0 { // U > Φ(right)
			sample++
			continue
		}
		return sample, lo.Cmp(new(big.Int).Add(left, one)) >= 0 && hi.Cmp(new(big.Int).Sub(right, one)) <= 0
	}
	return 0, false
}

// approxQuantile returns Φ⁻¹ at the middle of [u, u+1]/2^n in floating point; ok
// is false while all bits are equal, since the quantile is unbounded there.
func approxQuantile(u *big.Int, n uint) (z float64, ok bool) {
	sign := -1.0
	tail := u
	if u.Bit(int(n)-1) == 1 { // U ≥ ½: Φ⁻¹(U) = −Φ⁻¹(1 − U)
		sign = 1
		tail = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), u)
		tail.Sub(tail, big.NewInt(1))
	}
	if tail.Sign() == 0 {
		return 0, false
	}
	f := new(big.Float).SetInt(tail)
	f.Add(f, big.NewFloat(0.5))
	mant := new(big.Float)
	exp := f.MantExp(mant)
	m, _ := mant.Float64()
	return sign * upperQuantile(math.Log(m)+float64(exp-int(n))*math.Ln2), true
}

// upperQuantile returns z ≥ 0 with ln(1 − Φ(z)) = logp, logp ≤ ln ½, by Newton's
// method on the logarithm, which is concave and nearly quadratic.
func upperQuantile(logp float64) float64 {
	z := math.Sqrt(max(0, -2*(logp+math.Ln2)))
	for range 60 {
		r := mills(z)
		step := (math.Log(r) - z*z/2 - logSqrt2Pi - logp) * r
		z = max(0, z+step)
		if math.Abs(step) <= 1e-15*z {
			break
		}
	}
	return z
}
