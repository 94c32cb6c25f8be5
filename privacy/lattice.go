// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
)

const (
	// stepBits makes σ about 2³⁴ lattice steps or more, so that rounding costs a
	// relative 2⁻³⁴·√m of the sensitivity.
	stepBits = 34
	// readingBits keeps a clipped reading within 2⁶¹ steps: reading plus noise fits
	// an int64.
	readingBits = 61
	// maxSteps bounds S. |N| stays below 2⁴⁷, since 8192 bits of U, which is all that
	// the sampler reads, keep |Φ⁻¹(U)| below 2⁷.
	maxSteps = 1 << 40
	// maxExponent keeps g, σ and every multiple normal floating-point numbers.
	maxExponent = 900
)

// Interval is the public range [Lo, Hi] that readings are clipped to.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

func (c Interval) validate() error {
	size := math.Max(math.Abs(c.Lo), math.Abs(c.Hi))
	if !(c.Lo < c.Hi && size <= 0x1p900 && size >= 0x1p-900) {
		return fmt.Errorf("privacy: readings are clipped to [%v, %v], want lo < hi, both finite and one not 0", c.Lo, c.Hi)
	}
	return nil
}

// exponent returns k of the lattice g = 2^k for noise of about sigma:
//
//	k = max(⌊log₂ sigma⌋ − 34, ⌈log₂ max(|lo|,|hi|)⌉ − 61).
//
// Only public values enter.
func (c Interval) exponent(sigma float64) int {
	_, e := math.Frexp(sigma) // sigma = f·2^e, ½ ≤ f < 1
	return max(e-1-stepBits, c.finest())
}

// finest returns the least k on which a clipped reading fits.
func (c Interval) finest() int {
	f, e := math.Frexp(math.Max(math.Abs(c.Lo), math.Abs(c.Hi)))
	if f == 0.5 {
		e--
	}
	return e - readingBits
}

// round returns ⌊y/2^k + ½⌋ of the clipped reading, exactly: y/2^k is exact unless
// it underflows, where the result is 0 either way, and so is y/2^k − ⌊y/2^k⌋.
func (c Interval) round(y float64, k int) int64 {
	v := math.Ldexp(min(max(y, c.Lo), c.Hi), -k)
	f := math.Floor(v)
	if v-f >= 0.5 {
		f++
	}
	return int64(f)
}
