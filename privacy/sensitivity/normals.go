// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// chiSquareQuantile returns x with P(χ²_r ≤ x) ≤ q for even r. With h = r/2 and
// y = x/2 that is the Poisson tail e^{-y}(y^h/h!)(1 + y/(h+1) + …), at most
// e^{-y}(y^h/h!)/(1 − y/(h+1)) for y < h + 1.
func chiSquareQuantile(r int, q float64) float64 {
	h := float64(r / 2)
	factorial, _ := math.Lgamma(h + 1)
	tail := func(y float64) float64 {
		return h*math.Log(y) - y - factorial - math.Log1p(-y/(h+1))
	}
	goal := math.Log(q) - 1e-6 // more than the rounding of tail
	low, high := 0.0, h
	for range 200 {
		mid := (low + high) / 2
		if tail(mid) <= goal {
			low = mid
		} else {
			high = mid
		}
	}
	return 2 * low
}

// normalError bounds |z̃ − z| for a coupling of the computed normals z̃ with exact
// ones: 2⁻³² from the granularity of the radius near 0, the rest from log, sqrt
// and the angle.
const normalError = 0x1p-31

// normals fills x with standard normal variates by Box & Muller (1958), keyed by
// the seed and the number of the block. The radius √(−2 ln U) uses a U of relative
// accuracy 2⁻⁶³, so that its tail is accurate.
func normals(seed [32]byte, block int, x []float64) {
	h := sha256.New()
	h.Write([]byte("graphcloak/v1/sensitivity/screen"))
	h.Write(seed[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(block)))
	fillNormals(rand.NewChaCha8([32]byte(h.Sum(nil))), x)
}

// fillNormals fills x with pairs of normals.
func fillNormals(stream rand.Source, x []float64) {
	for ; len(x) > 0; x = x[min(2, len(x)):] {
		r := math.Sqrt(-2 * logUniform(stream))
		sin, cos := math.Sincos(2 * math.Pi * (float64(stream.Uint64()>>11) * 0x1p-53))
		if x[0] = r * cos; len(x) > 1 {
			x[1] = r * sin
		}
	}
}

// derivedSeed returns a seed whose normals are independent of those of the given one, in
// so far as SHA-256 is a random function: for vectors that depend on the latter.
func derivedSeed(seed [32]byte, purpose string) [32]byte {
	return sha256.Sum256(append([]byte(purpose), seed[:]...))
}

// logUniform returns ln U for U uniform on (0, 1], from a word, and further words where that
// is below 2³².
func logUniform(stream rand.Source) float64 {
	a, shift := stream.Uint64(), 0
	for a < 1<<32 { // more bits below: keep 32 at least
		a, shift = a<<32|stream.Uint64()>>32, shift+32
		if shift > 512 {
			break
		}
	}
	if a >= 1<<63 { // near 1: 1 − U is exact
		return math.Log1p(-(float64(^a) + 0.5) * 0x1p-64)
	}
	return math.Log((float64(a)+0.5)*0x1p-64) - float64(shift)*math.Ln2
}
