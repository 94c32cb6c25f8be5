// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"math"
	"strconv"
	"testing"
)

func number(t testing.TB, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestSigmaTable: σ is never below the 30-digit value, and at most 2⁻³⁰ above it.
func TestSigmaTable(t *testing.T) {
	var rows []map[string]any
	readJSON(t, "sigma_table.json", &rows)
	if len(rows) != 42 {
		t.Fatalf("%d rows, want 42", len(rows))
	}
	worst := 0.0
	for _, row := range rows {
		b := Budget{number(t, row["eps"].(string)), number(t, row["delta"].(string))}
		for _, c := range []struct {
			cal   Calibration
			want  string
			valid bool
		}{
			{Analytic{}, "analytic", true},
			{Classical{}, "classical_sqrt", row["classical_valid"].(bool)},
			{Paper{}, "paper_printed", row["paper_valid"].(bool)},
		} {
			got, err := c.cal.Sigma(b, 1)
			if !c.valid {
				if !errors.Is(err, ErrNotPrivate) {
					t.Errorf("%s at ε=%v δ=%v: %v, %v; want ErrNotPrivate", c.cal, b.Epsilon, b.Delta, got, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want := number(t, row[c.want].(string))
			if got < want || got > want*(1+0x1p-30) {
				t.Errorf("%s at ε=%v δ=%v: σ = %.17g, want from %.17g to that times 1+2⁻³⁰", c.cal, b.Epsilon, b.Delta, got, want)
			}
			worst = math.Max(worst, got/want-1)
		}
	}
	t.Logf("σ exceeds the least one by at most a relative %.2g", worst)
}
