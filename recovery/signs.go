// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// signPiece is the number of signs from one place of the stream on: skipping to it takes as long as some dozens.
const signPiece = 1 << 13

// setSigns sets x to random signs. One word of the stream makes one, in order; every processor skips to where
// its own begin.
func setSigns(x []float64, rnd *rand.PCG) {
	start := stateOf(rnd)
	parallel.Rows((len(x)+signPiece-1)/signPiece, signPiece, func(lo, hi int) {
		for piece := lo; piece < hi; piece++ {
			from := piece * signPiece
			own := start.skip(uint64(from)).source()
			part := x[from:min(from+signPiece, len(x))]
			for i := range part {
				part[i] = 1 - 2*float64(own.Uint64()&1)
			}
		}
	})
	*rnd = *start.skip(uint64(len(x))).source()
}

// state is that of a [rand.PCG], a number of 128 bits, and so is all that it is computed with.
type state struct{ hi, lo uint64 }

// The state s of a [rand.PCG] is followed by pcgFactor·s + pcgIncrement (O'Neill 2014; the constants are those of
// NumPy and Go).
var (
	pcgFactor    = state{2549297995355413924, 4865540595714422341}
	pcgIncrement = state{6364136223846793005, 1442695040888963407}
)

func stateOf(rnd *rand.PCG) state {
	text, _ := rnd.MarshalBinary() // "pcg:" and the state; it has no error
	return state{binary.BigEndian.Uint64(text[4:]), binary.BigEndian.Uint64(text[12:])}
}

func (s state) source() *rand.PCG { return rand.NewPCG(s.hi, s.lo) }

// times returns s·t modulo 2¹²⁸.
func (s state) times(t state) state {
	hi, lo := bits.Mul64(s.lo, t.lo)
	return state{hi + s.hi*t.lo + s.lo*t.hi, lo}
}

// plus returns s + t modulo 2¹²⁸.
func (s state) plus(t state) state {
	lo, carry := bits.Add64(s.lo, t.lo, 0)
	hi, _ := bits.Add64(s.hi, t.hi, carry)
	return state{hi, lo}
}

// skip returns the state after k steps: those of 1, 2, 4, … steps are as s ↦ a·s + c too (Brown 1994).
func (s state) skip(k uint64) state {
	a, c := pcgFactor, pcgIncrement
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			s = a.times(s).plus(c)
		}
		a, c = a.times(a), a.times(c).plus(c)
	}
	return s
}
