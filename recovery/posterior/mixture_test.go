// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// heatOn returns e^{-τL} of a path of n nodes by its eigenvectors in closed form.
func heatOn(n int, tau float64) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			sum := 1 / float64(n)
			for k := 1; k < n; k++ {
				c := math.Pi * float64(k) / float64(n)
				sum += 2 / float64(n) * math.Exp(-2*tau*(1-math.Cos(c))) * math.Cos(c*(float64(i)+.5)) * math.Cos(c*(float64(j)+.5))
			}
			m.Set(i, j, sum)
		}
	}
	return m
}

var someTaus = []float64{.5, 1, 2, 4}

// mixed is the posterior of readings over all τ.
func mixed(t *testing.T, kernels []*mat.Dense, y, nodes []float64) (*posterior.Posterior, []float64) {
	t.Helper()
	var list []*posterior.Posterior
	for _, m := range kernels {
		p := must.Get(posterior.New(t.Context(), measurement.Data{A: linop.Dense{M: m}, Y: y},
			posterior.Options{Prior: nodes, Amplitude: posterior.UniformAmplitude}))(t)
		list = append(list, p)
	}
	p, share, err := posterior.Mix(list)
	if err != nil {
		t.Fatal(err)
	}
	return p, share
}

// Bayes' rule over τ, node and amplitude, summed point by point.
func TestMixAgainstSum(t *testing.T) {
	const n = 7
	rnd := rand.New(rand.NewPCG(31, 1))
	for range 5 {
		var kernels []*mat.Dense
		for _, tau := range someTaus {
			m := heatOn(n, tau)
			m.Scale(4, m)
			kernels = append(kernels, m)
		}
		nodes, y := make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], nodes[i] = rnd.NormFloat64()+kernels[1].At(i, 2), rnd.Float64()
		}
		byTau, byNode, none := make([]float64, len(kernels)), make([]float64, n), 0.0
		const steps = 2000
		for k, m := range kernels {
			for i := range n {
				for s := range steps {
					a, sum := (float64(s)+.5)/steps, 0.0
					for j := range n {
						d := y[j] - a*m.At(j, i)
						sum -= d * d / 2
					}
					w := math.Exp(sum) / float64(len(kernels)) * nodes[i] / floats.Sum(nodes) / steps
					byTau[k] += w
					byNode[i] += w
				}
			}
		}
		none = math.Exp(-floats.Dot(y, y) / 2)
		p, share := mixed(t, kernels, y, nodes)
		total := floats.Sum(byTau)
		if math.Abs(p.LogPresence-math.Log(total/none)) > 1e-6 {
			t.Errorf("log odds of a source %v, want %v", p.LogPresence, math.Log(total/none))
		}
		for k := range byTau {
			if math.Abs(share[k]-byTau[k]/total) > 1e-6 {
				t.Errorf("τ = %v has probability %v, want %v", someTaus[k], share[k], byTau[k]/total)
			}
		}
		for i := range byNode {
			if math.Abs(p.Probability[i]-byNode[i]/total) > 1e-6 {
				t.Errorf("node %d has probability %v, want %v", i, p.Probability[i], byNode[i]/total)
			}
			if want := math.Log(byNode[i] / none * floats.Sum(nodes) / nodes[i]); math.Abs(p.LogEvidence[i]-want) > 1e-6 {
				t.Errorf("node %d has log evidence %v, want %v", i, p.LogEvidence[i], want)
			}
		}
		slices.Sort(byNode)
		if want := byNode[n-1] / byNode[n-2]; math.Abs(p.RunnerUp-want) > 1e-6*want {
			t.Errorf("the best node has odds %v against the second, want %v", p.RunnerUp, want)
		}
	}
}

func TestMixRefused(t *testing.T) {
	one := &posterior.Posterior{LogEvidence: []float64{0, 0}, Probability: []float64{.5, .5}}
	for name, list := range map[string][]*posterior.Posterior{
		"other nodes":   {one, {LogEvidence: []float64{0}, Probability: []float64{1}}},
		"other sensors": {one, {LogEvidence: []float64{0, 0}, Probability: []float64{.5, .5}, Faulty: []float64{0}}},
		"bounded":       {{LogEvidence: []float64{0, 0}, Probability: []float64{.5, .5}, ProbabilityError: .1}},
		"nothing":       nil,
	} {
		if _, _, err := posterior.Mix(list); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
