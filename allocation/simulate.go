// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"
	"slices"
)

// trials is the number of releases that Auto simulates for each objective.
const trials = 400

// accuracy estimates how often the posterior names the right community under u, by
// the mean of its largest community: a posterior is right as often as it says.
// A source of amplitude 1 is drawn from the prior. The same seed serves every u.
func (p *problem) accuracy(u []float64) float64 {
	z, width := p.rows.whiten(u)
	for i := range z {
		z[i] /= p.opts.Noise
	}
	half := make([]float64, p.rows.n)
	for i := range half {
		half[i] = dot(z[i*width:(i+1)*width], z[i*width:(i+1)*width])/2 - math.Log(p.prior[i])
	}
	var total []float64
	sum := 0.0
	for _, v := range p.prior {
		sum += v
		total = append(total, sum)
	}
	score := make([]float64, trials)
	parallel(trials, func(trial int) {
		// The seed is public on purpose: this noise hides nothing.
		random := rand.New(rand.NewPCG(1, uint64(trial)))
		source, _ := slices.BinarySearch(total, random.Float64()*sum)
		source = min(source, p.rows.n-1)
		y := slices.Clone(z[source*width : (source+1)*width])
		for s := range y {
			y[s] += random.NormFloat64()
		}
		score[trial] = p.confidence(z, y, half)
	})
	sum = 0
	for _, v := range score {
		sum += v
	}
	return sum / trials
}

// confidence returns the posterior probability of the likeliest community.
func (p *problem) confidence(z, y, half []float64) float64 {
	width := len(y)
	log := make([]float64, p.rows.n)
	top := math.Inf(-1)
	for i := range log {
		log[i] = dot(y, z[i*width:(i+1)*width]) - half[i]
		top = max(top, log[i])
	}
	sums := make([]float64, p.count)
	var all float64
	for i, v := range log {
		e := math.Exp(v - top)
		sums[p.labels[i]] += e
		all += e
	}
	return slices.Max(sums) / all
}
