// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Breakdown brackets the breakdown point of an answer: the least number of sensors that, had
// they lied together, would have made another label the likeliest.
type Breakdown struct {
	// AtLeast is certified: no fewer sensors can, whatever they publish. It is 1 at least, and
	// one more than there are sensors where not even all can.
	AtLeast int
	// AtMost sensors can: Liars lists them, by an attack whose success was seen, with readings within
	// the range that the faults name. Where the attack fails AtMost is one more than there are
	// sensors, and Liars is nil.
	AtMost int
	Liars  []int
}

// NewBreakdown brackets the breakdown point of the likeliest label, under a posterior that supposes
// faults with known ranges. Where a range leaves out a mean, one lie there may do anything, and
// AtLeast is 1. labels are 0, 1, …, one a node. The entries of A are at hand and at least 0.
// It returns [ErrInvalid].
//
// With f_s(y|x) the likelihood of mean x, x in [0, max A_si], sensor s changes the odds of any two
// hypotheses by at most a factor
//
//	sup_y max_x f_s(y|x)/min_x f_s(y|x) · max_x f_s(y_s|x)/min_x f_s(y_s|x),
//
// of what it says instead and of what it said. Fewer sensors than it takes of the largest of
// these to make up the odds of the likeliest label against the second cannot change the answer.
// Where the network may be in one of several states, what sensors say changes the weights of these too; but
// the odds of a sum are at least the least of the odds of its parts, so the least of the
// bounds in each state holds.
func NewBreakdown(ctx context.Context, d measurement.Data, opts Options, labels []int) (*Breakdown, error) {
	a, p, err := newAttack(ctx, d, opts, labels)
	if err != nil {
		return nil, err
	}
	m := len(d.Y)
	b := &Breakdown{AtLeast: m + 1, AtMost: m + 1}
	if len(a.groups) == 1 {
		return b, nil
	}
	if b.AtLeast, err = a.certified(ctx); err != nil {
		return nil, err
	}
	if b.Liars, err = a.search(ctx, p); b.Liars != nil {
		b.AtMost = len(b.Liars)
	}
	return b, err
}

// certified returns a lower bound on the breakdown point: the least of those in each state.
func (a *attack) certified(ctx context.Context) (int, error) {
	states, _ := a.opts.Faults.states()
	least := len(a.d.Y) + 1
	for k := range states {
		at := *a
		at.opts.Faults.only = k + 1
		p, err := New(ctx, a.d, at.opts)
		if err != nil {
			return 0, err
		}
		odds, err := at.odds(ctx, p)
		if err != nil {
			return 0, err
		}
		if least = min(least, at.certify(odds)); least == 1 {
			break
		}
	}
	return least, nil
}

// odds bounds the log odds of the likeliest label against the second from below, in logarithms:
// the probability of the second may be below all numbers.
func (a *attack) odds(ctx context.Context, p *Posterior) (float64, error) {
	f, err := prepareFaulty(a.d, a.opts)
	if err != nil {
		return 0, err
	}
	logs := make([][]float64, len(a.groups))
	var rivals []int
	for i, l := range a.labels {
		if l == a.first {
			logs[l] = append(logs[l], p.LogEvidence[i]+f.logPrior[i])
		} else {
			rivals = append(rivals, i)
		}
	}
	for k, w := range a.atMost(ctx, f, rivals) {
		l := a.labels[rivals[k]]
		logs[l] = append(logs[l], w)
	}
	first, second := logSum(logs[a.first]), math.Inf(-1)
	for l, x := range logs {
		if l != a.first {
			second = max(second, logSum(x))
		}
	}
	return first - second, ctx.Err()
}

// outweighed is how far below the largest evidence, in nats, the bound of a node is taken for its
// evidence.
const outweighed = 30

// atMost bounds the log evidence and prior of nodes from above: those that matter are evaluated
// alone, where the posterior may leave out what is far below its best.
func (a *attack) atMost(ctx context.Context, f *faulty, nodes []int) []float64 {
	weight, order := make([]float64, len(nodes)), make([]int, len(nodes))
	var c column
	for k, i := range nodes {
		f.column(a.column(i), &c)
		weight[k], order[k] = c.bound(0, 1)+f.logPrior[i], k
	}
	slices.SortStableFunc(order, func(j, k int) int { return compareDown(weight[j], weight[k]) })
	largest := math.Inf(-1)
	for _, k := range order {
		if weight[k] <= largest-outweighed || ctx.Err() != nil {
			break
		}
		f.column(a.column(nodes[k]), &c)
		weight[k] = min(weight[k], c.log(math.Inf(-1))+f.logPrior[nodes[k]])
		largest = max(largest, weight[k])
	}
	return weight
}

// attack looks for lies.
type attack struct {
	d       measurement.Data
	opts    Options
	labels  []int
	columns []float64
	largest []float64 // of the entries of each row
	groups  []float64 // probability of each label
	first   int       // the likeliest
}

func newAttack(ctx context.Context, d measurement.Data, opts Options, labels []int) (*attack, *Posterior, error) {
	m, n := d.A.Dims()
	if opts.Faults.Rate == 0 || opts.Faults.Low == nil || !linop.HoldsEntries(d.A) {
		return nil, nil, fmt.Errorf("%w: a breakdown point needs faults with known ranges, and the entries of the operator", ErrInvalid)
	}
	p, err := New(ctx, d, opts)
	if err != nil {
		return nil, nil, err
	}
	d, opts.Faults, _ = resolved(d, opts.Faults)
	a := &attack{d: d, opts: opts, labels: labels, columns: make([]float64, n*m), largest: make([]float64, m)}
	if a.groups, err = p.Groups(labels); err != nil {
		return nil, nil, err
	}
	a.first = floats.MaxIdx(a.groups)
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	linop.ColumnsTo(d.A, a.columns, nodes)
	for i := range n {
		for s, x := range a.column(i) {
			a.largest[s] = max(a.largest[s], x)
		}
	}
	return a, p, nil
}

// breaks reports whether lies make another label the likeliest.
func (a *attack) breaks(ctx context.Context, lies []lie) (bool, error) {
	d := measurement.Data{A: a.d.A, Y: slices.Clone(a.d.Y)}
	for _, l := range lies {
		d.Y[l.row] = l.y
	}
	p, err := New(ctx, d, a.opts)
	if err != nil {
		return false, err
	}
	groups, err := p.Groups(a.labels)
	return err == nil && floats.MaxIdx(groups) != a.first, err
}

func (a *attack) column(i int) []float64 { return a.columns[i*len(a.largest):][:len(a.largest)] }

// certify returns the least number of sensors whose influence makes up the log odds, where the state is known.
func (a *attack) certify(odds float64) int {
	m := len(a.largest)
	influence := make([]float64, m)
	known := map[[3]float64]float64{}
	f := a.opts.Faults
	states, _ := f.states()
	p := states[0]
	for s, x := range a.largest {
		key := [3]float64{x, f.Low[s], f.High[s]}
		worst, ok := known[key]
		if !ok {
			worst = f.influence(p, s, x)
			known[key] = worst
		}
		influence[s] = worst + p.spread(a.d.Y[s], a.d.Y[s], x, f.logBroken(s, a.d.Y[s]))
	}
	slices.SortFunc(influence, func(x, y float64) int { return cmp.Compare(y, x) })
	sum := 0.0
	for k, v := range influence {
		if sum += v; sum >= odds {
			return k + 1
		}
	}
	return m + 1
}

// influenceSteps is the number of parts that the range of a sensor, with its noise, is cut into.
const influenceSteps = 4000

// meanRounding is how far beyond the range a mean x may be in relation to it by rounding: it takes
// a reading of 2⁴⁰/x and more to gain a nat by that.
const meanRounding = 0x1p-40

// influence bounds log max_x f(y|x)/min_x f(y|x), over all y and 0 ≤ x ≤ largest. Further out
// than the grid, [kinds.beyond] bounds it. It is +Inf where a mean may be outside of the
// range: the farther y, the more it says for that mean.
func (f Faults) influence(p kinds, s int, largest float64) float64 {
	if f.Low[s] > 0 || largest > f.High[s]+meanRounding*largest {
		return math.Inf(1)
	}
	const tails = 12
	low, high := min(f.Low[s], 0)-tails, max(f.High[s], largest)+tails
	step := max(.02, (high-low)/influenceSteps)
	worst := p.beyond()
	before := f.brokenParts(s, low)
	for y := low; y < high; y += step {
		after := f.brokenParts(s, y+step)
		worst = max(worst, p.spread(y, y+step, largest, before.least(after)))
		before = after
	}
	return worst
}

// beyond bounds the influence of a measurement that is outside of the range and of all means: an eighth of the
// density of a broken sensor is the normal one about the nearer end, and another eighth the wider one, each
// larger than that about any mean in the range.
func (p kinds) beyond() float64 { return math.Log1p(8 * max(p.sound, p.shifted) / p.broken) }

// spread bounds log max_x f(y|x)/min_x f(y|x) for from ≤ y ≤ to and 0 ≤ x ≤ largest: the
// numerator by the least distance from y to an x, the denominator by the largest, and the density of a broken
// sensor, which lowers the ratio, by its least.
func (p kinds) spread(from, to, largest, logBroken float64) float64 {
	nearest := max(0, from-largest, -to)
	farthest := max(math.Abs(to), math.Abs(from), math.Abs(largest-from), math.Abs(largest-to))
	return p.logDensity(nearest, logBroken) - p.logDensity(farthest, logBroken)
}

// brokenParts are the densities of what a broken sensor publishes, by parts with one peak each.
type brokenParts [5]float64

func (f Faults) brokenParts(s int, y float64) (parts brokenParts) {
	for k, log := range f.logBrokenParts(s, y) {
		parts[k] = math.Exp(log)
	}
	return parts
}

// least returns the logarithm of a lower bound on the density from one place to another: each part is least at one of them.
func (d brokenParts) least(other brokenParts) float64 {
	sum := 0.0
	for k, v := range d {
		sum += min(v, other[k])
	}
	return math.Log(sum)
}

// logDensity returns the log density of a measurement at a distance from its mean, given that of a
// broken sensor.
func (p kinds) logDensity(distance, logBroken float64) float64 {
	l := p.logs()
	return sensorLogs{l.sound + logNormal(distance), l.shifted + logShifted(distance), l.broken + logBroken}.sum()
}

// search breaks the answer by lies, one sensor after the other: each time the sensor and the
// reading that turn the odds most, of the likeliest node of another label against the likeliest
// of the first. It returns nil where all sensors together do not.
func (a *attack) search(ctx context.Context, p *Posterior) (best []int, err error) {
	for _, rival := range a.rivals(p) {
		liars, err := a.toward(ctx, a.lies(rival, p.Best()), len(best))
		if err != nil {
			return nil, err
		}
		if liars != nil {
			best = liars
		}
	}
	return best, nil
}

// attackedLabels is the number of labels that an attack tries to make the likeliest.
const attackedLabels = 4

// rivals are the likeliest nodes of the labels that come after the first.
func (a *attack) rivals(p *Posterior) (rivals []int) {
	seen := map[int]bool{a.first: true}
	order := likeliest(p.Probability, 2) // all
	for _, i := range order {
		if l := a.labels[i]; !seen[l] && len(rivals) < attackedLabels {
			seen[l] = true
			rivals = append(rivals, i)
		}
	}
	return rivals
}

// lie is what one sensor may read instead, and by how much it turns the log odds.
type lie struct {
	row     int
	y, gain float64
}

// toward returns the fewest of the first lies that are found to make another label than the
// first the likeliest, by doubling and bisection, since the odds turn with every lie; nil where
// none do, or not fewer than a bound, which is 0 for none.
func (a *attack) toward(ctx context.Context, lies []lie, bound int) ([]int, error) {
	most := len(lies)
	if bound > 0 {
		most = min(most, bound-1)
	}
	low, high := 0, 0
	for high == 0 && low < most {
		k := min(2*low+1, most)
		broken, err := a.breaks(ctx, lies[:k])
		if err != nil {
			return nil, err
		}
		if broken {
			high = k
		} else {
			low = k
		}
	}
	for high > low+1 {
		mid := (low + high) / 2
		broken, err := a.breaks(ctx, lies[:mid])
		if err != nil {
			return nil, err
		}
		if broken {
			high = mid
		} else {
			low = mid
		}
	}
	var liars []int
	for _, l := range lies[:high] {
		liars = append(liars, l.row)
	}
	return liars, nil
}

// lies returns, for every sensor that can turn the odds, the reading in its range that turns those of
// rival, at amplitude 1, against truth most: largest gain first.
func (a *attack) lies(rival, truth int) []lie {
	const grid = 60
	f := a.opts.Faults
	p := f.mean()
	var lies []lie
	for s := range a.largest {
		x, z := a.column(rival)[s], a.column(truth)[s]
		odds := func(y float64) float64 {
			broken := f.logBroken(s, y)
			return p.logDensity(y-x, broken) - p.logDensity(y-z, broken)
		}
		best := lie{row: s, y: a.d.Y[s]}
		now := odds(a.d.Y[s])
		from, to := max(f.Low[s], min(x, z)-5), min(f.High[s], max(x, z)+5)
		for k := range grid + 1 {
			y := from + (to-from)*float64(k)/grid
			if gain := odds(y) - now; to >= from && gain > best.gain {
				best.y, best.gain = y, gain
			}
		}
		if best.gain > 0 {
			lies = append(lies, best)
		}
	}
	slices.SortStableFunc(lies, func(x, y lie) int { return compareDown(x.gain, y.gain) })
	return lies
}
