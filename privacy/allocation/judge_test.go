// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// readingsOfFew are those of some nodes at fewer sensors, of very different size, so that
// their inner products are singular.
func readingsOfFew(nodes, sensors int) *mat.Dense {
	random := rand.New(rand.NewPCG(5, 6))
	z := mat.NewDense(nodes, sensors, nil)
	for i := range nodes {
		for s := range sensors {
			z.Set(i, s, 3*random.NormFloat64()*math.Exp(-3*float64(i%7)))
		}
	}
	return z
}

// channelOf has nodes of three communities in turn.
func channelOf(t *testing.T, nodes int) *channel {
	c := &channel{p: &problem{ctx: t.Context(), count: 3}}
	for i := range nodes {
		c.nodes, c.labels, c.prior = append(c.nodes, i), append(c.labels, i%3), append(c.prior, 1/float64(nodes))
	}
	return c
}

// directly simulates every sensor, and counts how often the likeliest community is right.
func directly(c *channel, z *mat.Dense, trials int) (right, loss float64) {
	random := rand.New(rand.NewPCG(7, 8))
	h, sensors := z.Dims()
	y, post := make([]float64, sensors), make([]float64, h)
	for trial := range trials {
		source := trial % h
		for s := range y {
			y[s] = z.At(source, s) + random.NormFloat64()
		}
		for i := range post {
			d := floats.Distance(y, z.RawRowView(i), 2)
			post[i] = -d * d / 2
		}
		floats.AddConst(-floats.LogSumExp(post), post)
		weight := make([]float64, c.p.count)
		for i, v := range post {
			weight[c.labels[i]] += math.Exp(v)
		}
		if floats.MaxIdx(weight) == c.labels[source] {
			right++
		}
		loss -= math.Log(weight[c.labels[source]])
	}
	return right / float64(trials), loss / float64(trials)
}

// What inner products and pivots make of a release is what simulating every sensor gives.
func TestJudgeIsDirectSimulation(t *testing.T) {
	const nodes, sensors, trials = 60, 8, 60_000
	c, z := channelOf(t, nodes), readingsOfFew(nodes, sensors)
	right, loss := directly(c, z, trials)
	s := c.judge(z)
	if math.Abs(s.Accuracy-right) > .02 || math.Abs(s.Loss-loss) > .03 {
		t.Errorf("right %.3f of the time at a loss of %.3f, directly %.3f and %.3f", s.Accuracy, s.Loss, right, loss)
	}
}

// The root has the covariance, whatever its rank and the spread of its entries.
func TestGramRoot(t *testing.T) {
	for _, sensors := range []int{1, 8, 100} {
		g := centredGram(readingsOfFew(60, sensors))
		r := gramRoot(g, 0)
		var back mat.Dense
		back.Mul(r, r.T())
		back.Sub(&back, g)
		if d := mat.Norm(&back, 2); d > 1e-10*mat.Norm(g, 2) {
			t.Errorf("%d sensors: off by %.2g of %.2g", sensors, d, mat.Norm(g, 2))
		}
		if _, rank := r.Dims(); rank > sensors {
			t.Errorf("%d sensors have rank %d", sensors, rank)
		}
	}
	if r := gramRoot(mat.NewDense(4, 4, nil), 0); mat.Norm(r, 2) != 0 {
		t.Error("no readings have noise")
	}
}

// More releases of a sketch narrow its errors, and the first ones lie within them.
func TestSketchGoesOn(t *testing.T) {
	c, z := channelOf(t, 60), readingsOfFew(60, 8)
	c.p.opts.Distances = func(i int) []float64 {
		d := make([]float64, 60)
		for j := range d {
			d[j] = math.Abs(float64(i - j))
		}
		return d
	}
	first := c.judge(z)
	long := first
	must.Do(t, long.Simulate(16*SketchTrials))
	for name, v := range map[string][4]float64{
		"accuracy": {first.Accuracy, first.AccuracyError, long.Accuracy, long.AccuracyError},
		"distance": {first.Distance, first.DistanceError, long.Distance, long.DistanceError},
	} {
		if !(v[1] > 0) || math.Abs(v[0]-v[2]) > 3*v[1] || math.Abs(v[1]/v[3]-4) > .5 {
			t.Errorf("%s: %v ± %v at first, %v ± %v of 16 times as many", name, v[0], v[1], v[2], v[3])
		}
	}
	again := long
	must.Do(t, again.Simulate(SketchTrials))
	if again.Accuracy != long.Accuracy {
		t.Error("fewer releases change what was simulated")
	}
}

// The largest values are those at the head of a stable sort, equal ones in order.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		value, want := make([]float64, r.IntN(40)), []int{}
		for k := range value {
			value[k], want = float64(r.IntN(12)), append(want, k)
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
		if got := largest(value, 16); !slices.Equal(got, want[:min(16, len(want))]) {
			t.Fatalf("%v of %v, want %v", got, value, want)
		}
	}
}

// TestSimulatedPosterior compares the posterior of the simulation with quadrature,
// for amplitudes that the reading leaves open, fixes, and pushes to either end; with the fewer levels of a draft roughly.
func TestSimulatedPosterior(t *testing.T) {
	tolerance := []float64{.01, .05}
	for _, z := range []float64{1e-3, .3, 2, 40, 300} { // 1/standard deviation of the amplitude
		for _, amplitude := range []float64{-1, 0, .4, .98, 1, 1.5} {
			// The second node's reading is a tenth weaker.
			m := mat.NewDense(2, 1, []float64{z, .9 * z})
			half := []float64{z * z / 2, .81 * z * z / 2}
			var logs, want [2]float64
			for i := range 2 {
				logs[i], want[i] = amplitudes(z*amplitude*m.At(i, 0), 2*half[i])
			}
			total := floats.LogSumExp(logs[:])
			for k, size := range []size{fullSize, draftSize} {
				c := channel{p: &problem{size: size}, prior: []float64{.5, .5}, labels: []int{0, 1}}
				post, mean := make([]float64, 2), make([]float64, 2)
				c.posterior(post, mean, m, []float64{z * amplitude}, half)
				for i := range 2 {
					if p := math.Exp(logs[i] - total); math.Abs(post[i]-p) > tolerance[k] || math.Abs(mean[i]-want[i]) > tolerance[k] {
						t.Errorf("%d levels, z = %v, amplitude %v, node %d: probability %v and mean %v, want %v and %v", size.levels, z,
							amplitude, i, post[i], mean[i], p, want[i])
					}
				}
			}
		}
	}
}

// amplitudes returns log ∫ e^{at − a²n/2} da over [0, 1] and the mean of a, by the
// midpoint rule on two million points.
func amplitudes(t, n float64) (log, mean float64) {
	const points = 2_000_000
	peak := 0.0
	if t > 0 {
		peak = min(1, t/n)
	}
	most := peak*t - peak*peak*n/2
	var sum, first float64
	for q := range points {
		a := (float64(q) + .5) / points
		e := math.Exp(a*t - a*a*n/2 - most)
		sum, first = sum+e, first+a*e
	}
	return most + math.Log(sum/points), first / sum
}

// What is not better than equal noise beyond chance is compared a second time, and nothing else is, as the number of
// releases shows. A comparison has the same bits at any number of workers.
func TestSecondComparison(t *testing.T) {
	m, d, labels, _ := blocks(t, 200, 4, laplacian.Combinatorial, 1)
	p, sensors := unread(t, m, d, labels, Energy, Options{Noise: noise})
	equal := 1 / p.equalPeak(d, sensors)
	b := budget{trials: 1, probes: 2, again: 4}
	for _, c := range []struct {
		factor float64 // of equal weights
		ripple float64 // of every second, up, and of the others, down
		again  int
		trials int
		gain   bool
	}{
		{10, 0, 4, 16, true},
		{1.001, 0, 4, 16, true}, // in each release by itself, so that it is clear at once
		{1, .3, 4, 64, true},
		{1, -.3, 4, 64, false},  // better at first, by chance
		{.999, 0, 4, 64, false}, // clearly worse, for which norms may be to blame
		{.999, 0, 3, 48, false},
		{.999, 0, 1, 16, false}, // not in the budget
	} {
		u := ones(len(sensors))
		for k := range u {
			u[k] = c.factor * equal * (1 + c.ripple*float64(1-2*(k%2)))
		}
		b.again = c.again
		s, err := p.compare(d, sensors, u, equal, b)
		if none := (*NoGain)(nil); errors.As(err, &none) {
			s = &none.Simulated
		} else if err != nil {
			t.Fatal(err)
		}
		if s.Trials != c.trials || (err == nil) != c.gain {
			t.Errorf("%+v: %+v, %v", c, *s, err)
		}
		workers := runtime.GOMAXPROCS(3)
		same, err := p.compare(d, sensors, u, equal, b)
		runtime.GOMAXPROCS(workers)
		if none := (*NoGain)(nil); errors.As(err, &none) {
			same = &none.Simulated
		}
		if *same != *s {
			t.Errorf("%+v: %+v with three workers, %+v", c, *same, *s)
		}
	}
}
