// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// faultyEvidence integrates the likelihood of one source over its amplitude where sensors
// may be faulty. Multiplied out, the likelihood of amplitude a is a sum over what each sensor may be,
// with positive weights, of e^{a·c − a²N'/2}, N' the sum of squares of the
// column over the sound sensors and a v-th of that over the shifted ones, at most
// N, that of the whole column. So whatever rule integrates every normal density of
// width 1/√N and more to a relative error does it for the sum.
type faultyEvidence struct {
	y       []float64
	of      []int // the sensor of each measurement
	sensors []sensor
	unit    float64   // probability of amplitude 1 itself; the rest is uniform
	at, w   []float64 // Gauss–Legendre on [0, 1]
}

// panelNodes is the number of nodes a panel; panelWidth is the width of a panel in units of 1/√N,
// for which their relative error on a normal density is below 1e-11.
const (
	panelNodes = 10
	panelWidth = 3
)

// directPanels is the number of panels up to which none is bounded before it is summed.
const directPanels = 8

// negligible is how far below a lower bound, in nats, an upper bound must be to be left out.
const negligible = 50

func newFaultyEvidence(y []float64, f Faults, a Amplitude) *faultyEvidence {
	e := &faultyEvidence{y: y, of: f.Sensors, unit: a.unit(), at: make([]float64, panelNodes), w: make([]float64, panelNodes)}
	if e.of == nil {
		e.of = everyNode(len(y))
	}
	e.sensors = f.sensors(y, e.of)
	quad.Legendre{}.FixedLocations(e.at, e.w, 0, 1)
	return e
}

// column is one column of A, prepared: the sensors that it moves, and the expansion of the log
// likelihood of all others, which it moves too little to tell, to second order.
type column struct {
	*faultyEvidence
	moved []movedSensor
	faint parabola
	norm  float64 // Σ x²
}

type movedSensor struct {
	*sensor
	number int
	xy, xx float64 // Σ x·y and Σ x² over its measurements
}

// exponent is that of amplitude a.
func (m *movedSensor) exponent(a float64) float64 { return a * (m.xy - a*m.xx/2) }

// parabola is linear·a + quadratic·a².
type parabola struct{ linear, quadratic float64 }

func (p parabola) value(a float64) float64 { return a * (p.linear + a*p.quadratic) }

// most returns the largest value over [from, to].
func (p parabola) most(from, to float64) float64 {
	best := max(p.value(from), p.value(to))
	if a := -p.linear / (2 * p.quadratic); p.quadratic < 0 && a > from && a < to {
		best = max(best, p.value(a))
	}
	return best
}

// faintExponent is the largest |Σ x·y| + Σ x² that is expanded: what is left out is below 5e-10 a
// sensor, and of third order in x.
const faintExponent = 1e-4

// column prepares the one whose entries at some rows, those of a sensor together, are x; nil: at all rows.
func (e *faultyEvidence) column(rows []int32, x []float64, c *column) {
	c.reset(e)
	row := func(j int) int {
		if rows == nil {
			return j
		}
		return int(rows[j])
	}
	for j := 0; j < len(x); {
		s, xy, xx := e.of[row(j)], 0.0, 0.0
		for ; j < len(x) && e.of[row(j)] == s; j++ {
			xy += x[j] * e.y[row(j)]
			xx += x[j] * x[j]
		}
		c.add(s, xy, xx)
	}
}

func (c *column) reset(e *faultyEvidence) {
	*c = column{faultyEvidence: e, moved: c.moved[:0]}
}

// add adds the entries at a sensor.
func (c *column) add(s int, xy, xx float64) {
	t := &c.sensors[s]
	c.norm += xx
	if math.Abs(xy)+xx > faintExponent {
		c.moved = append(c.moved, movedSensor{t, s, xy, xx})
		return
	}
	gain, variance := t.gain()
	c.faint.linear += gain * xy
	c.faint.quadratic += (variance*xy*xy - gain*xx) / 2
}

// value returns the log likelihood of amplitude a against none.
func (c *column) value(a float64) float64 {
	p := ratios{factor: 1}
	for i := range c.moved {
		p.times(c.moved[i].sensor, c.moved[i].exponent(a))
	}
	return p.value() + c.faint.value(a)
}

// slope returns the derivative of value.
func (c *column) slope(a float64) float64 {
	sum := c.faint.linear + 2*a*c.faint.quadratic
	for i := range c.moved {
		m := &c.moved[i]
		sound, shifted := m.at(m.exponent(a))
		sum += (sound + shifted/shiftedVariance) * (m.xy - a*m.xx)
	}
	return sum
}

// bound returns an upper bound on value over [from, to].
func (c *column) bound(from, to float64) float64 {
	p := ratios{factor: 1}
	for i := range c.moved {
		m := &c.moved[i]
		p.times(m.sensor, m.exponent(min(max(m.xy/m.xx, from), to)))
	}
	return p.value() + c.faint.most(from, to)
}

// floor returns a lower bound on the log evidence: the second derivative of the log
// likelihood, of a mixture of normal ones, is at least −N, so that from the best of a few amplitudes it falls no faster than
// a normal density, if a little along its slope.
func (c *column) floor() float64 {
	best := math.Inf(-1)
	if c.unit > 0 {
		best = math.Log(c.unit) + c.value(1)
	}
	if c.unit == 1 {
		return best
	}
	for k := range 17 {
		a := float64(k) / 16
		width := min(.5, 1/(1+math.Abs(c.slope(a))+math.Sqrt(c.norm)))
		best = max(best, math.Log1p(-c.unit)+c.value(a)+math.Log(width)-1.5)
	}
	return best
}

// visit calls f for the amplitudes and the log weights of a rule that integrates the
// likelihood, with the log likelihood at each; what is below floor − negligible is left out.
func (c *column) visit(floor float64, f func(a, logWeight, value float64)) {
	if c.unit > 0 {
		f(1, math.Log(c.unit), c.value(1))
	}
	if c.unit == 1 {
		return
	}
	root, logEven := math.Sqrt(c.norm), math.Log1p(-c.unit)
	cuts := c.ends(root)
	for k := range len(cuts) - 1 {
		c.panels(cuts[k], cuts[k+1], root, floor-logEven, func(a, logWeight, value float64) { f(a, logWeight+logEven, value) })
	}
}

// ends cuts [0, 1] where the likelihood falls from an end more steeply than a normal density of
// width 1/√N would: into parts that grow threefold from the end.
func (c *column) ends(root float64) []float64 {
	const steep, growth = 3, 3
	cuts := []float64{0, 1}
	for end, k := range [2]float64{-c.slope(0), c.slope(1)} {
		for x := 2 / k; k > steep*root && x < .5 && x*root < panelWidth; x *= growth {
			cuts = append(cuts, math.Abs(float64(end)-x))
		}
	}
	slices.Sort(cuts)
	return cuts
}

// panels integrates over [from, to] by halves until they are at most panelWidth/√N wide or negligible.
func (c *column) panels(from, to, root, floor float64, f func(a, logWeight, value float64)) {
	width := to - from
	if width*root > panelWidth && width > 1e-12 {
		if n := math.Ceil(width * root / panelWidth); n <= directPanels {
			for k := range int(n) {
				c.panel(from+width*float64(k)/n, width/n, f)
			}
			return
		}
		if c.bound(from, to)+math.Log(width) < floor-negligible {
			return
		}
		mid := from + width/2
		c.panels(from, mid, root, floor, f)
		c.panels(mid, to, root, floor, f)
		return
	}
	c.panel(from, width, f)
}

func (c *column) panel(from, width float64, f func(a, logWeight, value float64)) {
	for k, t := range c.at {
		a := from + width*t
		f(a, math.Log(width*c.w[k]), c.value(a))
	}
}

// log returns the log evidence; what is below floor − negligible may be left out.
func (c *column) log(floor float64) float64 {
	var terms []float64
	c.visit(c.raise(floor), func(_, logWeight, value float64) { terms = append(terms, logWeight+value) })
	return logSum(terms)
}

// raise returns the larger of floor and a lower bound of the column's own, where the search
// for it pays.
func (c *column) raise(floor float64) float64 {
	if c.norm <= directPanels*directPanels*panelWidth*panelWidth {
		return floor
	}
	return max(floor, c.floor())
}
