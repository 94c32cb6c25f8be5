// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

const (
	// farExponent is the largest |xy| + x² of a sensor that is expanded to third order in its exponent where columns are
	// local, and movedExponent of one that is expanded to second order where they are read for more than the evidence.
	farExponent   = .25
	movedExponent = .01
	// faintSize is the largest that is expanded to second order in x.
	faintSize = 1e-3
	// localNegligible is how far below what the likeliest node has at least, in nats, a node is only bounded: n·e⁻²⁵ of the
	// probability is that of such nodes.
	localNegligible = 25
	// plainExponent is the largest for which likelihoods are multiplied without logarithms; the sum of those
	// in one product is at most plainSpan.
	plainExponent, plainSpan = 300, 600
	// boundedSteps is the number of steps of the rule from which an upper bound is looked at first, and mostSteps that
	// from which amplitudes are cut into panels instead.
	boundedSteps, mostSteps = 24, 192
	// ruleError bounds the relative error of the rule.
	ruleError = 5e-5
	// polynomialDegree is that of the expansion of third order in the exponent, whose degree in the amplitude is 2.
	polynomialDegree = 6
)

// localNode is the column of one node. The log likelihood is the sum over the near sensors, as it is, and a
// polynomial for all others.
//
// What the column misses, e, is in the linear term already, which comes from a product with the whole column. Beyond it, the
// log likelihood is off by at most ‖e‖ times the length of
//
//	g = |ℓ′(ξ) − ℓ′(0)| ≤ min(|x|·max(1, V·(|y| + |x|)²), 2|y| + |x|),  |ξ| ≤ |x| = |x̃| + ‖e‖,
//
// over the sensors that were read, with V ≤ ¼ the variance of the weight: ℓ″ = V·(y − x)² − K′. Over the others it is
// at most ‖e‖² times half of the same bound on |ℓ″|. With T = |xy| + x² the expansion is off by at most T⁴/192, since the
// fourth cumulant of a weight in [0, 1] is at most ⅛ in size: it is its fourth central moment, between
// its variance squared and its variance, less three times that square.
type localNode struct {
	*local
	i          int
	rows       []int32
	x          []float64
	near       []nearSensor
	far, faint []nearSensor                    // expanded, to third order in the exponent and to second in x
	ignored    []nearSensor                    // tell nothing of the source
	polynomial [][polynomialDegree + 1]float64 // of each state
	squares    float64                         // Σx²
	fall, rise float64                         // bound how steeply any part of the likelihood falls at 0 and rises at 1
	off, err   float64                         // of the column, and of the log likelihood
	dropped    float64                         // bounds the log evidence in the states left out

	factor, logs []float64 // of each state and amplitude
	at           column
}

// nearSensor is a sensor whose exponent is a·u − a²·w.
type nearSensor struct {
	row  int32
	u, w float64
}

func (l *local) newNode() *localNode {
	return &localNode{local: l, polynomial: make([][polynomialDegree + 1]float64, len(l.logStates))}
}

// set prepares the column of node i.
func (c *localNode) set(i int, rows []int32, x []float64, off float64) {
	c.i, c.rows, c.x, c.off = i, rows, x, off
	c.near, c.far, c.faint, c.ignored = c.near[:0], c.far[:0], c.faint[:0], c.ignored[:0]
	c.squares, c.fall, c.rise = 0, 0, 0
	var bent, expanded, most float64
	for j, row := range rows {
		b, x := &c.bounds[row], x[j]
		u, w := x*b.y, x*x/2
		size := math.Abs(u) + 2*w
		c.squares += 2 * w
		bent += b.bent(x, size, off)
		peak := peak(u, w)
		most += min(peak, b.most)
		if peak <= b.quiet {
			expanded += 2 * ignorable
			c.ignored = append(c.ignored, nearSensor{row, u, w})
			continue
		}
		if u < 0 {
			c.fall -= u
		} else if u > 2*w {
			c.rise += u - 2*w
		}
		square := size * size
		switch {
		case size > farExponent:
			c.near = append(c.near, nearSensor{row, u, w})
		case size > faintSize:
			c.far = append(c.far, nearSensor{row, u, w})
			expanded += square * square / 192
		default:
			c.faint = append(c.faint, nearSensor{row, u, w})
			expanded += square / 16
		}
	}
	for k := range c.polynomial {
		c.expand(k)
	}
	beyond := c.unseen * off * off
	if off > c.tol {
		beyond = off * (2*c.length + off)
	}
	c.err = off*math.Sqrt(bent) + beyond + expanded + c.linearErr + ruleError
	c.dropped = c.logDropped + most + off*(c.length+math.Sqrt(c.squares)+off)
}

// peak is the largest value of a·u − a²·w, 0 ≤ a ≤ 1, w ≥ 0.
func peak(u, w float64) float64 {
	switch {
	case u <= 0:
		return 0
	case u < 2*w:
		return u * u / (4 * w)
	}
	return u - w
}

// bent returns a bound on g². size is |xy| + x².
func (b *sensorBounds) bent(x, size, off float64) float64 {
	x, y := math.Abs(x)+off, math.Abs(b.y)
	g := x
	if square := (y + x) * (y + x); square > 4 {
		if t := size + off*(y+2*x); !b.bendsBelow(t, 1/square) {
			g = min(x*max(1, b.curvature(t)*square), 2*y+x)
		}
	}
	return g * g
}

// bendsBelow reports, for most of what is so, whether the curvature up to t is below a value: e^t ≤ 1 + t + t², 0 ≤ t ≤ 1.
func (b *sensorBounds) bendsBelow(t, value float64) bool {
	return t <= 1 && b.spread*(1+t+t*t) < value
}

// expand sets the polynomial of a state: K′t + K″t²/2 + K‴t³/6 at 0, t = a·u − a²·w, of the far sensors, what is of first
// order in w and of second in u of the faint ones, and what is linear in a of all but near and ignored ones.
func (c *localNode) expand(k int) {
	states := len(c.logStates)
	of := func(row int32) *stateMoments { return &c.moments[int(row)*states+k] }
	p := [polynomialDegree + 1]float64{1: c.linear[c.i*states+k]}
	for _, s := range c.near {
		p[1] -= of(s.row).mean * s.u
	}
	for _, s := range c.ignored {
		p[1] -= of(s.row).mean * s.u
	}
	var p2, p3, p4, p5, p6 float64
	for _, s := range c.faint {
		m := of(s.row)
		p2 += m.variance/2*s.u*s.u - m.mean*s.w
	}
	for _, s := range c.far {
		m := of(s.row)
		half, sixth := m.variance/2, m.third/6
		uu, ww, uw := s.u*s.u, s.w*s.w, s.u*s.w
		p2 += half*uu - m.mean*s.w
		p3 += sixth*uu*s.u - 2*half*uw
		p4 += half*ww - 3*sixth*s.u*uw
		p5 += 3 * sixth * s.u * ww
		p6 -= sixth * s.w * ww
	}
	p[2], p[3], p[4], p[5], p[6] = p2, p3, p4, p5, p6
	c.polynomial[k] = p
}

// value returns the polynomial of a state.
func (c *localNode) value(k int, a float64) float64 {
	p := &c.polynomial[k]
	return a * (p[1] + a*(p[2]+a*(p[3]+a*(p[4]+a*(p[5]+a*p[6])))))
}

// log returns the log evidence and bounds on it. What is surely below floor − negligible may only be bounded, and of what is 50
// below the floor, as a column has panels, they may know nothing.
func (c *localNode) log(floor float64) (log, low, high float64) {
	steps := c.steps()
	if steps >= boundedSteps {
		if most := c.most(); most+c.err < floor-localNegligible {
			return most, math.Inf(-1), logAdd(most+c.err, c.dropped)
		}
	}
	off := c.err
	if steps > mostSteps {
		whole := c.whole()
		log, off = whole.log(floor), off+whole.expanded
	} else {
		log = c.integral(steps)
	}
	return log, log - off, logAdd(log+off, c.dropped)
}

// steps is the number of steps of the rule: 0 where the amplitude is known.
func (c *localNode) steps() int {
	if c.prior.even == 0 {
		return 0
	}
	width := max(math.Sqrt(c.squares), c.fall/2, c.rise/2, 1e-3)
	return ruleSteps * int(min(math.Ceil(width/2), mostSteps))
}

// ruleSteps is the number of steps of a closed Newton–Cotes rule, with its weights: on n of them one after the other, 0 to 1,
// normal densities of width 1/2n and more that fall from the ends no more steeply than e^{−4nx} have a relative error
// below [ruleError]. Reference: Abramowitz and Stegun (1964), 25.4.18.
const ruleSteps = 6

var ruleWeights = [ruleSteps + 1]float64{41. / 840, 216. / 840, 27. / 840, 272. / 840, 27. / 840, 216. / 840, 41. / 840}

// ruleWeight returns the weight of step m of so many.
func ruleWeight(m, steps int) float64 {
	weight := ruleWeights[m%ruleSteps]
	if m%ruleSteps == 0 && m > 0 && m < steps {
		weight *= 2
	}
	return weight * ruleSteps / float64(steps)
}

// integral returns the log evidence by a rule of so many equal steps.
func (c *localNode) integral(steps int) float64 {
	top := c.tabulate(steps)
	sum := 0.0
	for k := range c.logStates {
		for m := range steps + 1 {
			sum += c.density(k, m, steps, top)
		}
	}
	return top + math.Log(sum)
}

// grid returns the first of the amplitudes of a rule, and the step from one to the next.
func grid(steps int) (start, h float64) {
	if steps == 0 {
		return 1, 0
	}
	return 0, 1 / float64(steps)
}

// tabulate sets factor and logs to the likelihood at the amplitudes of a rule, with the probability of each state, and returns the
// largest of logs.
func (c *localNode) tabulate(steps int) (top float64) {
	start, h := grid(steps)
	c.multiply(start, h, steps+1)
	top = math.Inf(-1)
	for k := range c.logStates {
		for m := range steps + 1 {
			log := &c.logs[k*(steps+1)+m]
			*log += c.logStates[k] + c.value(k, start+h*float64(m))
			top = max(top, *log)
		}
	}
	return top
}

// density returns what a state and an amplitude have of the integral, relative to e^top.
func (c *localNode) density(k, m, steps int, top float64) float64 {
	weight := 0.0
	if steps > 0 {
		weight = c.prior.even * ruleWeight(m, steps)
	}
	if m == steps {
		weight += c.prior.one
	}
	at := k*(steps+1) + m
	return weight * c.factor[at] * math.Exp(c.logs[at]-top)
}

// suspect is [column.suspect], of the sensors that the column moves by more than [movedExponent]: of
// others the probability to be sound changes by a quarter of that at most.
func (c *localNode) suspect(sum []float64, mass *[maxStates]float64, offset float64) {
	steps := c.steps()
	if steps > mostSteps {
		c.whole().suspect(sum, mass, offset)
		return
	}
	top, states := c.tabulate(steps), len(c.logStates)
	start, h := grid(steps)
	scale := math.Exp(offset + top)
	shares := make([][maxStates]float64, steps+1)
	for m := range shares {
		for k := range states {
			shares[m][k] = scale * c.density(k, m, steps, top)
			mass[k] += shares[m][k]
		}
	}
	for j, row := range c.rows {
		s := &c.sensors[row]
		if math.Abs(c.x[j]*s.y)+c.x[j]*c.x[j] <= movedExponent {
			continue
		}
		for m := range shares {
			sum[row] += s.unsound((start+h*float64(m))*c.x[j], &shares[m], states)
		}
	}
}

// multiply sets factor and logs to the likelihood of the near sensors at so many amplitudes: from one to the next the
// exponent of a sensor grows by what is linear, so that two exponentials make all powers.
func (c *localNode) multiply(start, h float64, count int) {
	states := len(c.logStates)
	c.factor, c.logs = resized(c.factor, states*count), resized(c.logs, states*count)
	for j := range c.factor {
		c.factor[j], c.logs[j] = 1, 0
	}
	span := 0.0
	for _, s := range c.near {
		size, plain := c.span(s)
		if !plain {
			c.addLogs(s, start, h, count)
			continue
		}
		if span += size; span > plainSpan {
			for j, v := range c.factor {
				c.logs[j] += math.Log(v)
				c.factor[j] = 1
			}
			span = size
		}
		const v = shiftedVariance
		q := math.Exp(start * (s.u - start*s.w) / v)
		grow, turn := 1.0, 1.0
		if count > 1 {
			grow, turn = math.Exp(h*(s.u-(2*start+h)*s.w)/v), math.Exp(-2*h*h*s.w/v)
		}
		for k, of := range c.moments[int(s.row)*states:][:states] {
			q, grow, factor := q, grow, c.factor[k*count:][:count]
			for m := range factor {
				square := q * q
				fourth := square * square
				factor[m] *= of.broken + of.sound*(fourth*fourth*square) + of.shifted*q
				q *= grow
				grow *= turn
			}
		}
	}
}

// span bounds the logarithm of the likelihood ratio of a near sensor at all amplitudes, and reports whether it is a plain number.
func (c *localNode) span(s nearSensor) (size float64, plain bool) {
	size, most := math.Abs(s.u)+2*s.w, peak(s.u, s.w)
	if size > plainExponent {
		size = min(size, max(most, c.bounds[s.row].lowest))
	}
	return size, size <= plainExponent
}

// addLogs adds the logarithms of the likelihood of a sensor that is no plain number.
func (c *localNode) addLogs(s nearSensor, start, h float64, count int) {
	for m := range count {
		a := start + h*float64(m)
		t := a * (s.u - a*s.w)
		for k := range c.logStates {
			c.logs[k*count+m] += c.sensors[s.row].logRatio(k, t)
		}
	}
}

func resized(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// most bounds the log likelihood of every amplitude: that of each near sensor where its exponent is largest, and the first
// two terms of the polynomial where their sum is.
func (c *localNode) most() float64 {
	p := newRatios()
	for _, s := range c.near {
		if s.u > 0 {
			a := min(1, s.u/(2*s.w))
			p.times(&c.sensors[s.row], a*c.mean(s))
		}
	}
	var logs [maxStates]float64
	for k := range c.logStates {
		of := &c.polynomial[k]
		logs[k] = p.value(k) + parabola{of[1], of[2]}.most(0, 1)
		for _, v := range of[3:] {
			logs[k] += max(0, v)
		}
	}
	return c.mix(&logs)
}

// mean is what the source adds to a near sensor at amplitude 1.
func (c *localNode) mean(s nearSensor) float64 {
	return math.Copysign(math.Sqrt(2*s.w), s.u*c.bounds[s.row].y)
}

// whole returns the column as one of the exact posterior, with what is linear of the whole column.
func (c *localNode) whole() *column {
	c.at.reset(c.faultyEvidence)
	for j, row := range c.rows {
		c.at.add(int(row), c.x[j])
	}
	states := len(c.logStates)
	for k := range c.logStates {
		c.at.faint[k].linear = c.linear[c.i*states+k]
	}
	for _, m := range c.at.moved {
		for k := range c.logStates {
			c.at.faint[k].linear -= c.moments[m.row*states+k].mean * m.x * m.y
		}
	}
	return &c.at
}
