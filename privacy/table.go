// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	_ "embed" // the table below
	"math/bits"
)

//go:generate go run ./internal/gentable quantile.bin

// quantileTable holds the Taylor coefficients of Φ⁻¹(1 − p) on 24·128 segments,
// eight little-endian uint64 each, in units of 2⁻⁶⁰: see internal/gentable.
//
//go:embed quantile.bin
var quantileTable string

const (
	octaves      = 24
	segmentBits  = 7
	segmentBytes = 64
	unitBits     = 60

	// tableError bounds, in units, |Z − 2⁶⁰·z| for the table's Z at the point w that
	// is evaluated: truncation of the series below 1 (its largest value, printed by
	// the generator, is at the end of a segment), rounding of eight coefficients
	// by ½ each, and of seven products by less than 1 each: below 12. One more is
	// for the unread bits of the first octave.
	tableError = 13
)

// sample returns N = ⌊S·Φ⁻¹(U) + ½⌋ for the stream src and S = steps ≤ 2⁴⁰.
// It allocates nothing and takes one word, but for about 2·S·2⁻⁵⁶ of all samples,
// which [sampleExact] decides.
//
// Proof: docs/proofs/sampler.md.
func sample(src words, steps int64) (int64, error) {
	u := src.next()
	if n, ok := sampleFast(u, steps); ok {
		return n, nil
	}
	return sampleExact(u, src, steps)
}

// sampleFast returns N if the first word decides it for certain.
func sampleFast(u uint64, steps int64) (n int64, ok bool) {
	// p = min(U, 1−U) lies in [v, v+1]·2⁻⁶⁴, and |Φ⁻¹(U)| = z(p).
	sign := int64(u >> 63) // 1: U ≥ ½
	v := u ^ uint64(-sign)
	octave := bits.LeadingZeros64(v) // 2^−(octave+1) ≤ p < 2^−octave
	if octave > octaves {
		return 0, false
	}
	r := v << (octave + 1)
	w := ^(r << segmentBits) // 1 − position in the segment, in units of 2⁻⁶⁴
	c := quantileTable[(octave-1)<<(segmentBits+6)+int(r>>(64-segmentBits))<<6:][:segmentBytes]
	z := le64(c[56:])
	for k := 48; k >= 0; k -= 8 {
		hi, _ := bits.Mul64(z, w)
		z = le64(c[k:]) + hi
	}
	// The unread bits of U move z by at most 2⁻⁶⁴/φ(z) ≤ 2⁻⁶⁴·√(π/2)/p, which is
	// below 2^octave/6 units: Mills' ratio is at most √(π/2).
	err := uint64(tableError) + 1<<octave>>2
	hi, lo := bits.Mul64(z, uint64(steps))
	lo, carry := bits.Add64(lo, 1<<(unitBits-1), 0)
	hi += carry
	// |z|·S + ½ = n + fraction·2⁻⁶⁰ ± margin·2⁻⁶⁰
	fraction, margin := lo&(1<<unitBits-1), err*uint64(steps)
	if margin >= 1<<(unitBits-1) || fraction < margin || fraction >= 1<<unitBits-margin {
		return 0, false
	}
	n = int64(hi<<(64-unitBits) | lo>>unitBits)
	return (n ^ (sign - 1)) - (sign - 1), true
}

// le64 reads a little-endian word.
func le64(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
