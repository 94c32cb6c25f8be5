// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// exponent fits log y = a + b·log x by least squares and returns b. Points without a
// logarithm are left out; NaN where fewer than two are left.
func exponent(x, y []float64) float64 {
	var lx, ly []float64
	for i := range x {
		if x[i] > 0 && y[i] > 0 {
			lx, ly = append(lx, math.Log(x[i])), append(ly, math.Log(y[i]))
		}
	}
	if len(lx) < 2 {
		return math.NaN()
	}
	_, b := stat.LinearRegression(lx, ly, nil, false)
	return b
}

// wilson is the 95 % interval of a rate (Wilson 1927).
func wilson(right, trials int) (lo, hi float64) {
	const z = 1.959963984540054
	n, p := float64(trials), float64(right)/float64(trials)
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (centre-half)/(1+z*z/n)), min(1, (centre+half)/(1+z*z/n))
}

// mean returns the mean and its standard error; NaN of nothing.
func mean(x []float64) (m, se float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	m, sd := stat.MeanStdDev(x, nil)
	if len(x) == 1 {
		return m, math.NaN()
	}
	return m, sd / math.Sqrt(float64(len(x)))
}

// normalised returns x/‖x‖₁, or nil where x is 0.
func normalised(x []float64) []float64 {
	total := floats.Sum(x)
	if !(total > 0) {
		return nil
	}
	out := make([]float64, len(x))
	floats.ScaleTo(out, 1/total, x)
	return out
}

func relative(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Abs(want)
}

func geometric(lo, hi float64, n int) []float64 { return floats.LogSpan(make([]float64, n), lo, hi) }
