// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

const (
	// stateMargin is how far below the likeliest, in nats, a state is left out, with a bound on what it holds.
	stateMargin = 250
	// ignorable is the largest probability of not being broken of a sensor that is left out.
	ignorable = 1e-6
)

// local is the evidence of one source where columns are local, in the states that matter. The log likelihood of a sensor
// is ℓ(x) = K(t), t = xy − x²/2, with K the cumulant function of a weight in [0, 1]: 1 where the sensor is sound, 1/v where
// it is shifted, 0 where it is broken.
type local struct {
	*faulty    // of the kept states
	likeliest  int
	logDropped float64 // log odds of all states that are left out against the likeliest
	moments    []stateMoments
	bounds     []sensorBounds
	linear     []float64 // at i·states + k: K′(0)·xy of all sensors and the whole column of node i
	linearErr  float64
	length     float64 // ‖y‖
	floor      float64 // what the weight of the likeliest node is at least
	tol        float64 // of columns
	unseen     float64 // bounds half the second derivative of what a sensor says beyond a ball
}

// stateMoments are, of a sensor in one state, the probabilities and the cumulants of its weight.
type stateMoments struct{ sound, shifted, broken, mean, variance, third float64 }

// sensorBounds hold for a sensor in all states that are kept.
type sensorBounds struct {
	y float64
	// spread bounds the second moment of the weight about 0, or about 1 where that is smaller, and so its variance.
	spread float64
	// Where the exponent stays up to quiet, the likelihood ratio is within twice [ignorable] of 1; −Inf where that is never so.
	quiet  float64
	lowest float64 // no log likelihood ratio is below −lowest
	most   float64 // no log likelihood ratio in a state that is left out is above it
}

func (f *faulty) newLocal(margin, tol float64) *local {
	kept, dropped, best := f.sortStates(margin)
	restricted := *f
	restricted.faultyEvidence = f.faultyEvidence.in(kept)
	restricted.faultyEvidence.faint = movedExponent
	l := &local{faulty: &restricted, logDropped: math.Inf(-1), floor: math.Inf(-1), length: floats.Norm(f.d.Y, 2)}
	for k, s := range kept {
		if s == best {
			l.likeliest = k
		}
	}
	for _, s := range dropped {
		l.logDropped = logAdd(l.logDropped, f.logStates[s])
	}
	l.moments = make([]stateMoments, len(f.sensors)*len(kept))
	l.bounds = make([]sensorBounds, len(f.sensors))
	for s := range f.sensors {
		l.setSensor(s)
		l.bounds[s].most = f.sensors[s].most(dropped)
	}
	l.setLinear()
	l.within(tol)
	return l
}

// sortStates returns the states that are kept and those that are not, and the likeliest.
func (f *faulty) sortStates(margin float64) (kept, dropped []int, best int) {
	best = floats.MaxIdx(f.logStates)
	for k, log := range f.logStates {
		if log >= f.logStates[best]-margin {
			kept = append(kept, k)
		} else {
			dropped = append(dropped, k)
		}
	}
	return kept, dropped, best
}

// in is the evidence in some of the states.
func (e *faultyEvidence) in(states []int) *faultyEvidence {
	out := *e
	out.sensors, out.logStates = make([]sensor, len(e.sensors)), make([]float64, len(states))
	for k, of := range states {
		out.logStates[k] = e.logStates[of]
	}
	for s := range e.sensors {
		out.sensors[s] = e.sensors[s].in(states)
	}
	return &out
}

// in is the sensor in some of the states.
func (s *sensor) in(states []int) (out sensor) {
	out.y = s.y
	for k, of := range states {
		out.sound[k], out.shifted[k], out.broken[k] = s.sound[of], s.shifted[of], s.broken[of]
	}
	if s.logs != nil {
		out.logs = new([maxStates]sensorLogs)
		for k, of := range states {
			out.logs[k] = s.logs[of]
		}
	}
	return out
}

// most bounds the log likelihood ratio of any mean in some states, +Inf where the largest exponent, y²/2, is small enough a bound.
func (s *sensor) most(states []int) float64 {
	const loud = 4
	if math.Abs(s.y) < loud {
		return math.Inf(1)
	}
	most := 0.0
	for _, k := range states {
		most = max(most, s.logRatio(k, s.y*s.y/2))
	}
	return most
}

// setSensor sets the moments and the bounds of a sensor.
func (l *local) setSensor(s int) {
	const v = float64(shiftedVariance)
	t, b, states := &l.sensors[s], &l.bounds[s], len(l.logStates)
	b.y = t.y
	responds, heeded, missed, least, logResponds := 0.0, 0.0, 0.0, 1.0, math.Inf(-1)
	for k := range states {
		m := &l.moments[s*states+k]
		m.sound, m.shifted, m.broken = t.sound[k], t.shifted[k], t.broken[k]
		mean, variance := t.gain(k)
		second, third := variance+mean*mean, m.sound+m.shifted/(v*v*v)
		m.mean, m.variance, m.third = mean, variance, third-3*mean*second+2*mean*mean*mean
		responds, heeded, least = max(responds, m.sound+m.shifted), max(heeded, second), min(least, m.broken)
		missed = max(missed, m.broken+m.shifted*(1-1/v)*(1-1/v))
		if responds < ignorable {
			log := t.log(k)
			logResponds = max(logResponds, logAdd(log.sound, log.shifted))
		}
	}
	b.spread = min(heeded, missed)
	b.quiet, b.lowest = math.Inf(-1), -math.Log(least)
	if responds < ignorable {
		b.quiet = math.Log(ignorable) - logResponds
	}
}

// curvature bounds the variance of the weight at every exponent up to t in size, where no probability of a weight grows by
// more than e^t.
func (b *sensorBounds) curvature(t float64) float64 {
	const most = 600 // an underflow of spread times e^t is still little
	if b.spread > .1 || t > most {
		return .25
	}
	return min(.25, b.spread*math.Exp(t))
}

// setLinear sets, by one product, what is linear in the amplitude.
func (l *local) setLinear() {
	m, n := l.d.A.Dims()
	states := len(l.logStates)
	slopes, squares := make([]float64, m*states), make([]float64, states)
	for s := range l.sensors {
		for k := range states {
			v := l.moments[s*states+k].mean * l.bounds[s].y
			slopes[s*states+k] = v
			squares[k] += v * v
		}
	}
	l.linear = make([]float64, n*states)
	linop.MulBlockTo(l.d.A, l.linear, true, slopes, states)
	l.linearErr = linop.Err(l.d.A) * math.Sqrt(floats.Max(squares))
}

// within prepares for columns of a tolerance.
func (l *local) within(tol float64) {
	l.tol, l.unseen = tol, .5
	for s := range l.bounds {
		b := &l.bounds[s]
		far := math.Abs(b.y) + tol
		l.unseen = max(l.unseen, b.curvature(tol*far)*far*far/2)
	}
}
