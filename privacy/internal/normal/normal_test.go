// SPDX-License-Identifier: Apache-2.0

package normal_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

// TestPi holds digits that are in every handbook.
func TestPi(t *testing.T) {
	want, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899", 10, 300,
		big.ToNearestEven)
	must.Do(t, err)
	got := new(big.Float).SetInt(normal.Pi(256))
	got.SetMantExp(got, -256)
	if d, _ := got.Sub(got, want).Float64(); math.Abs(d) > 0x1p-254 {
		t.Errorf("π is off by %g", d)
	}
}

// TestCDF compares with 50-digit values (mpmath 1.3, ncdf), and at growing
// precision with itself.
func TestCDF(t *testing.T) {
	for _, c := range []struct {
		num, den int64
		want     string
	}{
		{0, 1, "0.5"},
		{1, 1, "0.8413447460685429485852325456320379224779129667266"},
		{-1, 2, "0.30853753872598689636229538939166226011639782444542"},
		{-5, 1, "2.8665157187919391167375233287464535385442301361189e-7"},
		{-10, 1, "7.619853024160526065973343251599308363504033277957e-24"},
		{1, 1 << 40, "0.50000000000036283589033831292721510726999879676064"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, 300, big.ToNearestEven)
		must.Do(t, err)
		for _, bits := range []uint{64, 128, 150} {
			got := new(big.Float).SetInt(normal.CDF(c.num, c.den, bits))
			got.SetMantExp(got, -int(bits))
			d, _ := new(big.Float).Sub(got, want).Float64()
			if math.Abs(d) >= math.Ldexp(1, -int(bits)) {
				t.Errorf("Φ(%d/%d) at %d bits is off by %g", c.num, c.den, bits, d)
			}
		}
	}
	for _, num := range []int64{-3811, -100, 7, 2500} {
		for _, bits := range []uint{64, 1000} {
			fine := normal.CDF(num, 100, bits+300)
			coarse := normal.CDF(num, 100, bits)
			coarse.Lsh(coarse, 300)
			limit := new(big.Int).Lsh(big.NewInt(1), 300)
			if fine.Sub(fine, coarse).CmpAbs(limit) >= 0 {
				t.Errorf("Φ(%d/100) at %d bits misses its bound", num, bits)
			}
		}
	}
}
