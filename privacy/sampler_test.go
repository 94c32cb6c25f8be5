// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

// tableAt returns the table's z in units, as sampleFast evaluates it.
func tableAt(octave, segment int, w uint64) uint64 {
	c := quantileTable[((octave-1)<<segmentBits+segment)*segmentBytes:][:segmentBytes]
	z := le64(c[56:])
	for k := 48; k >= 0; k -= 8 {
		hi, _ := bits.Mul64(z, w)
		z = le64(c[k:]) + hi
	}
	return z
}

// TestTableCertified checks tableError at the ends and the middle of every segment
// against Φ in exact arithmetic: Q(Z + e) < p < Q(Z − e). Between the ends the
// truncation error is monotone, because every Taylor coefficient of Φ⁻¹ at and
// above ½ is non-negative.
func TestTableCertified(t *testing.T) {
	if len(quantileTable) != octaves<<segmentBits*segmentBytes {
		t.Fatalf("the table has %d bytes", len(quantileTable))
	}
	unit := new(big.Int).Lsh(big.NewInt(1), unitBits)
	const prec = 128
	for octave := 1; octave <= octaves; octave++ {
		for segment := range 1 << segmentBits {
			for half, w := range []uint64{1<<64 - 1, 1 << 63, 0} {
				// p = 2^−(octave+9)·(2(128 + segment) + half), w = 1 − half/2.
				p := new(big.Int).Lsh(big.NewInt(int64(2*(128+segment)+half)), uint(prec-octave-9))
				z := tableAt(octave, segment, w)
				below := normal.Rational(big.NewInt(-int64(z)-tableError+1), unit, prec)
				above := normal.Rational(big.NewInt(-int64(z)+tableError-1), unit, prec)
				if below.Cmp(p) >= 0 || above.Cmp(p) <= 0 {
					t.Fatalf("octave %d, segment %d, w = %x: z = %d units is off by more than %d", octave, segment, w, z, tableError-1)
				}
			}
		}
	}
}

// stream is a repeatable source for tests.
type stream struct{ rng *rand.Rand }

func newStream(seed uint64) *stream { return &stream{rand.New(rand.NewPCG(seed, 0x6763))} }

func (s *stream) next() uint64 { return s.rng.Uint64() }

// counted counts words.
type counted struct {
	words
	n int
}

func (c *counted) next() uint64 { c.n++; return c.words.next() }

// agree draws one sample by both paths and requires the same N and the same words.
func agree(t *testing.T, first uint64, seed uint64, steps int64) {
	t.Helper()
	exact := &counted{words: newStream(seed)}
	want := must.Get(sampleExact(first, exact, steps))(t)
	fast := &counted{words: &fixedThen{first, newStream(seed)}}
	got, err := sample(fast, steps)
	if err != nil || got != want || fast.n != exact.n+1 {
		t.Fatalf("U = %016x…, S = %d: fast path %d (%v, %d words), exact path %d (%d words)", first, steps, got, err, fast.n,
			want, exact.n+1)
	}
}

// fixedThen yields one word, then a stream.
type fixedThen struct {
	first uint64
	words
}

func (f *fixedThen) next() uint64 {
	if f.first != 0 {
		u := f.first
		f.first = 0
		return u
	}
	return f.words.next()
}

// FuzzFastEqualsExact: the paths agree, near cell boundaries above all.
func FuzzFastEqualsExact(f *testing.F) {
	f.Add(uint64(1)<<63, int64(3), uint64(1))
	f.Add(uint64(1), int64(1), uint64(2))
	f.Add(^uint64(0), int64(1)<<34, uint64(3))
	f.Fuzz(func(t *testing.T, u uint64, steps int64, seed uint64) {
		steps = 1 + (steps&math.MaxInt64)%maxSteps
		if u == 0 {
			u = 1
		}
		agree(t, u, seed, steps)
	})
}

func TestFastEqualsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	n := 1500
	if testing.Short() {
		n = 300
	}
	for range n {
		steps := int64(1) + rng.Int64N(1<<rng.IntN(41))
		agree(t, rng.Uint64()|1, rng.Uint64(), steps)
		agree(t, (rng.Uint64()|1)>>rng.IntN(40), rng.Uint64(), steps)
		// Next to the boundary of a cell, from both sides.
		z := rng.NormFloat64()
		b := normal.CDF(2*int64(z*float64(steps))+1, 2*steps, 64)
		if b.IsUint64() && b.Uint64() > 1 && b.Uint64() < math.MaxUint64 {
			agree(t, b.Uint64(), rng.Uint64(), steps)
			agree(t, b.Uint64()-1, rng.Uint64(), steps)
			agree(t, b.Uint64()+1, rng.Uint64(), steps)
		}
	}
}

// TestSlowPathIsRare: the fast path decides all but 2·S·2⁻⁵⁶ of the samples. With
// S = 2³⁵ and 4,000,000 samples fewer than 60 are expected at tableError, and more
// than 150 have probability below 1e-6.
func TestSlowPathIsRare(t *testing.T) {
	src, slow := newStream(5), 0
	for range 4_000_000 {
		if _, ok := sampleFast(src.next(), 1<<35); !ok {
			slow++
		}
	}
	t.Logf("%d of 4,000,000 samples took the exact path", slow)
	if slow > 150 {
		t.Errorf("%d of 4,000,000 samples took the exact path", slow)
	}
}

func TestStuckSource(t *testing.T) {
	for _, u := range []uint64{0, math.MaxUint64} {
		if n, err := sample(constant(u), 1000); err == nil {
			t.Errorf("a source stuck at %x gave %d", u, n)
		}
	}
}

type constant uint64

func (c constant) next() uint64 { return uint64(c) }

func TestSampleAllocatesNothing(t *testing.T) {
	key := must.Get(newKeyStream(masterKey()))(t)
	for name, src := range map[string]words{"system": &systemWords{}, "key stream": key} {
		if n := testing.AllocsPerRun(10000, func() {
			if u := src.next(); u != 0 {
				sampleFast(u, 1<<34)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a sample", name, n)
		}
	}
}
