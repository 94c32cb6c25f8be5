// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// TestTrialsByRows: what is found of all trials by rows is what one trial at a time gives: the best source, the log
// evidence of a source, and what the residual shows; the same bits at any number of workers.
func TestTrialsByRows(t *testing.T) {
	const n, width = 30_000, 5
	for _, amplitude := range []Amplitude{UnitAmplitude, UniformAmplitude} {
		random := rand.New(rand.NewPCG(1, uint64(width)))
		norms, logPrior := make([]float64, n), make([]float64, n)
		c, rest := make([]float64, n*width), make([]float64, n*width)
		for i := range norms {
			norms[i], logPrior[i] = 20*random.Float64(), -math.Log(n)
			if i%7 == 0 {
				logPrior[i] = math.Inf(-1)
			}
			for j := range width {
				c[i*width+j], rest[i*width+j] = 8*random.NormFloat64(), random.NormFloat64()
			}
		}
		c[7*1000*width+1] = 1e6 // where the prior allows no source
		directions := mat.NewDense(2, n, nil)
		directions.Set(0, 3, 1)
		directions.Set(1, n-1, -2)
		k := &checker{candidates: candidates{newEvidence(amplitude), norms, logPrior}, visible: directions}
		k.d = measurement.Data{A: silentSensors(n)}
		k.quick = newQuickEvidence(k.candidates)
		var best []bestSource
		var sums []float64
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		for _, workers := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(workers)
			b, s := k.best(c, width), k.quick.logSums(c, width)
			if workers == 1 {
				best, sums = b, s
			}
			if !slices.Equal(b, best) || !slices.Equal(s, sums) {
				t.Errorf("%v: other bits with %d workers", amplitude, workers)
			}
		}
		for j := range width {
			want := bestSource{gain: math.Inf(-1)}
			for i, v := range stride(c, j, width, n) {
				a := k.e.likeliest(v, norms[i])
				if gain := a*v - a*a*norms[i]/2; !math.IsInf(logPrior[i], -1) && gain > want.gain {
					want = bestSource{i, a, gain}
				}
			}
			if best[j] != want {
				t.Errorf("%v: the best source of trial %d is %+v, want %+v", amplitude, j, best[j], want)
			}
			if want := k.presence(stride(c, j, width, n)); math.Abs(sums[j]-want) > 1e-8 {
				t.Errorf("%v: the log evidence in trial %d is %v, want %v", amplitude, j, sums[j], want)
			}
			x := stride(rest, j, width, n)
			square, along := floats.Dot(x, x), x[3]*x[3]+4*x[n-1]*x[n-1]
			if r := k.residual(x); math.Abs(r.square-square) > 1e-10*square || r.largest != floats.Norm(x, math.Inf(1)) ||
				math.Abs(r.along-along) > 1e-12 {
				t.Errorf("%v: of trial %d %+v, want %v, %v and %v", amplitude, j, r, square, floats.Norm(x, math.Inf(1)), along)
			}
		}
	}
}
