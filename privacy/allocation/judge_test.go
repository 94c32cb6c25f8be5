// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
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
