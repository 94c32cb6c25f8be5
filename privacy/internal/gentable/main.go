// SPDX-License-Identifier: Apache-2.0

// Command gentable writes the table of the normal quantile that package privacy
// samples by: for octave j = 1 … 24 and i = 0 … 127, the Taylor coefficients of
//
//	z(p) = Φ⁻¹(1 − p),  p = p_hi − w·h,  0 ≤ w ≤ 1,
//
// at the upper end p_hi = 2^−(j+1)·(1 + (i+1)/128) of a segment of width
// h = 2^−(j+8), as eight little-endian uint64 in units of 2⁻⁶⁰.
//
// All Taylor coefficients are positive, so the error of truncation grows with w,
// and its bound over the whole segment is its value at w = 1. The largest one is
// printed.
package main

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"os"

	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

const (
	octaves  = 24
	segments = 128
	terms    = 8
	unitBits = 60
	prec     = 320
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gentable:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	var table []byte
	worst := new(big.Float)
	for j := 1; j <= octaves; j++ {
		for i := range segments {
			c := taylor(float(int64(segments+i+1), -(j+8)), float(1, -(j+8)))
			sum := new(big.Float).SetPrec(prec)
			for _, x := range c[:terms] {
				table = binary.LittleEndian.AppendUint64(table, units(x))
				sum.Add(sum, x)
			}
			end, _ := normal.UpperQuantile(float(int64(segments+i), -(j + 8)))
			if r := end.Sub(end, sum); r.Cmp(worst) > 0 {
				worst = r
			}
		}
	}
	fmt.Printf("truncation at most %.3g units of 2^-%d\n", worst.SetMantExp(worst, unitBits), unitBits)
	return os.WriteFile(path, table, 0o644)
}

// taylor returns the coefficients of z(p − w·h) in w, from
//
//	dz/ds = E, dE/ds = z·E²  where E = 1/φ(z) and s = w·h.
func taylor(p, h *big.Float) []*big.Float {
	z, e := make([]*big.Float, terms), make([]*big.Float, terms)
	z[0], e[0] = normal.UpperQuantile(p)
	for k := range terms - 1 {
		n := float(int64(k+1), 0)
		z[k+1] = new(big.Float).SetPrec(prec).Quo(e[k], n)
		e[k+1] = new(big.Float).SetPrec(prec).Quo(triple(z, e, k), n)
	}
	power := float(1, 0)
	for k := range z {
		z[k] = new(big.Float).SetPrec(prec).Mul(z[k], power)
		power = new(big.Float).SetPrec(prec).Mul(power, h)
	}
	return z
}

// triple returns coefficient k of z·E·E.
func triple(z, e []*big.Float, k int) *big.Float {
	sum := float(0, 0)
	for a := range k + 1 {
		for b := range k + 1 - a {
			t := new(big.Float).SetPrec(prec).Mul(z[a], e[b])
			sum.Add(sum, t.Mul(t, e[k-a-b]))
		}
	}
	return sum
}

// units returns x·2⁶⁰, rounded to the nearest integer.
func units(x *big.Float) uint64 {
	y := new(big.Float).SetMantExp(x, unitBits)
	n, _ := y.Add(y, float(1, -1)).Uint64()
	return n
}

// float returns m·2^e.
func float(m int64, e int) *big.Float {
	x := new(big.Float).SetPrec(prec).SetInt64(m)
	return x.SetMantExp(x, e)
}
