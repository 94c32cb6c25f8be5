// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
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

// silentSensors is an operator of some rows and one column, of zeros.
type silentSensors int

func (m silentSensors) Dims() (rows, columns int) { return int(m), 1 }

func (m silentSensors) MulVecTo(dst []float64, _ bool, _ []float64) { clear(dst) }

// TestNoiseOfManySensors: each trial has the noise of its own stream, sensor after sensor, however many sensors there
// are and whatever the number of workers; also in memory that was used before.
func TestNoiseOfManySensors(t *testing.T) {
	const m, trials = 5000, checkBlock + 3
	k := &checker{seed: 5, d: measurement.Data{A: silentSensors(m)}}
	want := make([][]float64, trials)
	for j := range want {
		random := rand.New(rand.NewPCG(5, uint64(j)))
		for range m {
			want[j] = append(want[j], random.NormFloat64())
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		used := linop.GetBlock(m * checkBlock)
		for i := range used.V {
			used.V[i] = math.NaN()
		}
		used.Put()
		next := 0
		if err := k.simulate(t.Context(), trials, nil, func(at int, b *noiseBlock) {
			wrong := 0
			for i, v := range b.z {
				if v != want[at+i%b.width][i/b.width] {
					wrong++
				}
			}
			if wrong > 0 || at != next || len(b.z) != m*b.width {
				t.Errorf("%d workers: %d of %d values of %d trials from %d on are not those of their streams", workers, wrong,
					len(b.z), b.width, at)
			}
			next = at + b.width
		}); err != nil || next != trials {
			t.Errorf("%d workers: %d of %d trials, %v", workers, next, trials, err)
		}
	}
}

// The table gives the Mills ratio to 1e-11.
func TestMillsTable(t *testing.T) {
	table := tabulatedMills()
	for x := 0.0; x < 1e6; x = x*1.01 + 1e-3 {
		if got, want := table.at(x), mills(x); math.Abs(got/want-1) > 1e-11 {
			t.Fatalf("at %v: %v, want %v", x, got, want)
		}
	}
}

// The quick sum of evidence is that of the evidence of each node, whatever its norm and its
// statistic, under each prior of the amplitude.
func TestQuickEvidence(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for _, a := range []Amplitude{MixedAmplitude, UniformAmplitude, UnitAmplitude} {
		e := newEvidence(a)
		for range 2000 {
			const n = 5
			norms, c, logPrior := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				norms[i] = math.Exp(16*rnd.Float64() - 12)
				c[i] = math.Sqrt(norms[i]) * (math.Sqrt(norms[i])*rnd.Float64()*1.5 + 3*rnd.NormFloat64())
				logPrior[i] = -math.Log(n)
			}
			logPrior[rnd.IntN(n)] = math.Inf(-1)
			k := &checker{candidates: candidates{e, norms, logPrior}}
			want, got := k.presence(c), newQuickEvidence(k.candidates).logSum(c)
			if !(math.Abs(got-want) < 1e-9*max(1, math.Abs(want))) {
				t.Fatalf("%v: %v, want %v for c = %v, N = %v", a, got, want, c, norms)
			}
		}
	}
}

// The credible set is the head of all nodes in order, sharp or flat as the posterior may be.
func TestCredible(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, width := range []float64{0, .1, 2, 20, 400} {
		p := Posterior{Probability: make([]float64, 500)}
		for i := range p.Probability {
			p.Probability[i] = math.Exp(-width * math.Round(8*r.Float64()) / 8)
		}
		floats.Scale(1/floats.Sum(p.Probability), p.Probability)
		want := everyNode(500)
		slices.SortStableFunc(want, func(i, j int) int { return cmp.Compare(p.Probability[j], p.Probability[i]) })
		sum, k := 0.0, 0
		for sum < .95 {
			sum += p.Probability[want[k]]
			k++
		}
		if got := p.Credible(); !slices.Equal(got, want[:k]) {
			t.Errorf("width %v: %d nodes, want %d", width, len(got), k)
		}
	}
}

// TestReductions: the sum of many values has the same bits at any number of workers, and is, as the largest ones are, what one pass
// finds.
func TestReductions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, exact := make([]float64, 50_000), make([]bool, 50_000)
	for i := range x {
		x[i], exact[i] = math.Round(400*rnd.NormFloat64())/8, rnd.IntN(3) == 0 // with ties
	}
	sorted, total := slices.Sorted(slices.Values(x)), 0.0
	var open []float64
	for i, v := range x {
		total += math.Exp(v - sorted[len(x)-1])
		if !exact[i] {
			open = append(open, v)
		}
	}
	slices.Sort(open)
	if got := firstTwo(x); got != [2]float64{sorted[len(x)-1], sorted[len(x)-2]} {
		t.Errorf("the first two are %v", got)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := logSum(x)
	if want := sorted[len(x)-1] + math.Log(total); math.Abs(first-want) > 1e-12*want {
		t.Errorf("log sum %v, want %v", first, want)
	}
	for _, workers := range []int{1, 3, 16} {
		runtime.GOMAXPROCS(workers)
		if got := logSum(x); got != first {
			t.Errorf("%d workers: other bits, %v", workers, got)
		}
		if got := (&bounding{exact: exact}).largest(x, 300); len(got) != 300 ||
			slices.ContainsFunc(got, func(i int) bool { return exact[i] || x[i] < open[len(open)-300] }) {
			t.Errorf("%d workers: %d largest values, or others", workers, len(got))
		}
	}
	if got := logSum(nil); !math.IsInf(got, -1) {
		t.Errorf("of none: %v", got)
	}
}
