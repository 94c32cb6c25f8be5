// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// coarseAmplitudes is the largest number of equal parts of [0, 1] at whose ends a likelihood is looked at first, and
	// zoom the number of parts that those beside its largest value are cut into, again and again.
	coarseAmplitudes, zoom = 16, 4
	// fittedSensors is the number of sensors, those that the source moves most, at whose own amplitudes it is looked at too.
	fittedSensors = 8
	// lawSpread is how far below the largest, in nats, no density of an [amplitudeLaw] is.
	lawSpread = 12
)

// amplitudeLaw is a law of the amplitude at one node that is near its posterior: relative to the prior, the logarithm of
// its density is linear between amplitudes that lie the closer the nearer they are to the likeliest, and what it is
// there at amplitude 1 itself.
type amplitudeLaw struct {
	column  column
	prior   amplitudePrior
	at, log []float64 // ascending
	sums    []float64 // partial sums of the probabilities of the parts
	total   float64   // and of 1 itself
}

// set finds the law of the column that is prepared. Likelihoods are no narrower than 1/√N.
func (l *amplitudeLaw) set(prior amplitudePrior) {
	l.prior, l.at, l.log, l.sums = prior, l.at[:0], l.log[:0], l.sums[:0]
	root := math.Sqrt(l.column.norm)
	parts := 1
	if prior.even > 0 {
		parts = int(min(coarseAmplitudes, max(2, math.Ceil(2*root))))
		for k := range parts {
			l.look(float64(k) / float64(parts))
		}
		if parts == coarseAmplitudes {
			l.lookFitted()
		}
	}
	l.look(1)
	for h := 1 / float64(parts); prior.even > 0 && h*root > .5 && h > 1e-9; h /= zoom {
		best := l.at[argmax(l.log)]
		for k := 1; k < zoom; k++ {
			l.look(best + h*float64(k)/zoom)
			l.look(best - h*float64(k)/zoom)
		}
	}
	l.weigh()
}

// lookFitted looks at the amplitudes that give sensors exactly what they measured: away from all of them a narrow likelihood is flat.
func (l *amplitudeLaw) lookFitted() {
	most := make([]movedSensor, 0, fittedSensors+1)
	for _, m := range l.column.moved {
		at := len(most)
		for at > 0 && math.Abs(most[at-1].x) < math.Abs(m.x) {
			at--
		}
		if at < fittedSensors {
			most = slices.Insert(most, at, m)
			most = most[:min(len(most), fittedSensors)]
		}
	}
	for _, m := range most {
		l.look(m.y / m.x)
	}
}

// look adds an amplitude in [0, 1] that is not there yet.
func (l *amplitudeLaw) look(a float64) {
	k, found := slices.BinarySearch(l.at, a)
	if found || a < 0 || a > 1 {
		return
	}
	l.at, l.log = slices.Insert(l.at, k, a), slices.Insert(l.log, k, l.column.value(a))
}

// weigh sets the probabilities of the parts.
func (l *amplitudeLaw) weigh() {
	top := slices.Max(l.log)
	for k, v := range l.log {
		l.log[k] = max(v-top, -lawSpread)
	}
	sum := 0.0
	for k := 1; k < len(l.at); k++ {
		low, high := min(l.log[k-1], l.log[k]), max(l.log[k-1], l.log[k])
		mean := 1.0 // of e^{−dt} over [0, 1]
		if d := high - low; d > 1e-9 {
			mean = -math.Expm1(-d) / d
		}
		sum += l.prior.even * (l.at[k] - l.at[k-1]) * math.Exp(high) * mean
		l.sums = append(l.sums, sum)
	}
	l.total = sum + l.prior.one*math.Exp(l.log[len(l.log)-1])
}

func argmax(x []float64) (best int) {
	for k, v := range x {
		if cmp.Compare(v, x[best]) > 0 {
			best = k
		}
	}
	return best
}

// draw draws an amplitude.
func (l *amplitudeLaw) draw(rnd *rand.Rand) float64 {
	k, part := searchAbove(l.sums, rnd.Float64()*l.total), rnd.Float64()
	if k == len(l.sums) {
		return 1
	}
	if d := l.log[k+1] - l.log[k]; math.Abs(d) > 1e-9 {
		part = math.Log1p(part*math.Expm1(d)) / d
	}
	return min(1, l.at[k]+part*(l.at[k+1]-l.at[k]))
}

// logDensity is relative to the prior.
func (l *amplitudeLaw) logDensity(a float64) float64 {
	k, found := slices.BinarySearch(l.at, a)
	if found {
		return l.log[k] - math.Log(l.total)
	}
	part := (a - l.at[k-1]) / (l.at[k] - l.at[k-1])
	return l.log[k-1] + part*(l.log[k]-l.log[k-1]) - math.Log(l.total)
}
