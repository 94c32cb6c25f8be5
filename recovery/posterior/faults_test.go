// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// brokenDensities are those of a broken sensor's measurement by their definition: of a reading from an
// even range with noise, summed over 20,000 readings, and of one at either end; or that of a Cauchy variable.
func brokenDensities(f posterior.Faults, r int, y float64) []float64 {
	if f.Low == nil {
		return []float64{1 / (math.Pi * 30 * (1 + y*y/900))}
	}
	normal := distuv.UnitNormal
	l, h, sum := f.Low[r], f.High[r], 0.0
	const steps = 20_000
	for k := range steps {
		sum += normal.Prob(y-l-(h-l)*(float64(k)+.5)/steps) / steps
	}
	wide := distuv.Normal{Sigma: math.Sqrt(shiftedVariance)}
	return []float64{sum, normal.Prob(y - l), wide.Prob(y - l), normal.Prob(y - h), wide.Prob(y - h)}
}

// sensorOf returns the sensor of a measurement.
func sensorOf(f posterior.Faults, r int) int {
	if f.Sensors == nil {
		return r
	}
	return f.Sensors[r]
}

// What a sensor may be.
const (
	isSound = iota
	isShifted
	isBroken
	fates
)

// fateOf returns what a sensor is in a set.
func fateOf(set, s int) int {
	for range s {
		set /= fates
	}
	return set % fates
}

// shiftedVariance is that of what a shifted sensor publishes.
const shiftedVariance = 10

// faultPrior returns the probabilities of a sensor to be sound, shifted and broken: of those that are not broken, 4o are shifted
// for each that is sound, with o the odds of the rate.
func faultPrior(rate float64) [fates]float64 {
	o := rate / (1 - rate)
	return [fates]float64{(1 - rate) / (1 + 4*o), (1 - rate) * 4 * o / (1 + 4*o), rate}
}

// faultySets are the log probabilities of what all sensors are, by their digits, where there is
// no source.
func faultySets(f posterior.Faults, y []float64) []float64 {
	prior, wide := faultPrior(f.Rate), distuv.Normal{Sigma: math.Sqrt(shiftedVariance)}
	sensors := sensorOf(f, len(y)-1) + 1
	sets := make([]float64, int(math.Pow(fates, float64(sensors))))
	for s := range sensors {
		var logs [fates]float64
		broken := []float64{.5, .125, .125, .125, .125}
		if f.Low == nil {
			broken = []float64{1}
		}
		for r, v := range y {
			if sensorOf(f, r) == s {
				logs[isSound] += distuv.UnitNormal.LogProb(v)
				logs[isShifted] += wide.LogProb(v)
				floats.Mul(broken, brokenDensities(f, r, v))
			}
		}
		logs[isBroken] = math.Log(floats.Sum(broken))
		for set := range sets {
			fate := fateOf(set, s)
			sets[set] += math.Log(prior[fate]) + logs[fate]
		}
	}
	floats.AddConst(-floats.LogSumExp(sets), sets)
	return sets
}

// fateWeight is the inverse of the variance of what a sensor says of a source.
func fateWeight(fate int) float64 { return [...]float64{1, 1. / shiftedVariance, 0}[fate] }

// faultyByDefinition is the log evidence of each node and, for each measurement, the probability of its sensor to be
// faulty, summed over all that sensors may be.
func faultyByDefinition(a *mat.Dense, y []float64, f posterior.Faults, prior []float64, one float64) (evidence, broken []float64) {
	m, n := a.Dims()
	sets := faultySets(f, y)
	var logs, weights []float64
	var of []int
	evidence, broken = make([]float64, n), make([]float64, m)
	for i := range n {
		logs = logs[:0]
		for set, log := range sets {
			c, sum := 0.0, 0.0
			for r, v := range y {
				w := fateWeight(fateOf(set, sensorOf(f, r)))
				c, sum = c+w*a.At(r, i)*v, sum+w*a.At(r, i)*a.At(r, i)
			}
			log += floats.LogSumExp([]float64{math.Log(one) + c - sum/2, math.Log1p(-one) + integral(c, sum)})
			logs = append(logs, log)
			weights, of = append(weights, log+math.Log(prior[i])), append(of, set)
		}
		evidence[i] = floats.LogSumExp(logs)
	}
	total := floats.LogSumExp(weights)
	for k, w := range weights {
		for r := range broken {
			if fateOf(of[k], sensorOf(f, r)) != isSound {
				broken[r] += math.Exp(w - total)
			}
		}
	}
	return evidence, broken
}

// TestFaultyPosteriorByDefinition, where each sensor reads once, and where the first reads twice: also sparse and by products then.
func TestFaultyPosteriorByDefinition(t *testing.T) {
	const m, n = 4, 5
	rnd := rand.New(rand.NewPCG(21, 1))
	for trial, scale := range []float64{.3, 2, 40, 3000} {
		a := mat.NewDense(m, n, nil)
		y, prior := make([]float64, m), make([]float64, n)
		for s := range m {
			for i := range n {
				a.Set(s, i, scale*math.Pow(rnd.Float64(), 2))
			}
			y[s] = a.At(s, 3)*.7 + rnd.NormFloat64()
		}
		for i := range prior {
			prior[i] = .1 + rnd.Float64()
		}
		floats.Scale(1/floats.Sum(prior), prior)
		f := posterior.Faults{Rate: .04, Low: make([]float64, m), High: make([]float64, m)}
		for s := range m {
			f.Low[s], f.High[s] = -.2*scale, scale*(.5+rnd.Float64())
		}
		y[2] = f.High[2] + .3 // stuck
		if trial%2 == 1 {
			f.Low, f.High = nil, nil
		}
		for amplitude, one := range map[posterior.Amplitude]float64{
			posterior.MixedAmplitude: .5, posterior.UniformAmplitude: 0,
			posterior.UnitAmplitude: 1,
		} {
			d, opts := measurement.Data{A: linop.Dense{M: a}, Y: y}, posterior.Options{Faults: f, Prior: prior, Amplitude: amplitude}
			testByDefinition(t, d, opts, one)
			opts.Faults.Sensors = []int{0, 0, 1, 2}
			testByDefinition(t, d, opts, one)
			for _, hidden := range []linop.Operator{sparse(a), productsOnly{d.A}} {
				if d.A = hidden; scale < 1000 { // beyond, the noise is raised
					testByDefinition(t, d, opts, one)
				}
			}
		}
	}
}

// sparse stores a matrix by its entries.
func sparse(a *mat.Dense) *linop.Sparse {
	m, n := a.Dims()
	start, row, value := []int64{0}, []int32(nil), []float64(nil)
	for i := range n {
		for r := range m {
			row, value = append(row, int32(r)), append(value, a.At(r, i))
		}
		start = append(start, int64(len(row)))
	}
	return linop.NewSparse(m, start, row, value)
}

func testByDefinition(t *testing.T, d measurement.Data, opts posterior.Options, one float64) {
	t.Helper()
	m, n := d.A.Dims()
	entries := make([]float64, m*n)
	linop.ColumnsTo(d.A, entries, []int{0, 1, 2, 3, 4})
	a := mat.DenseCopyOf(mat.NewDense(n, m, entries).T())
	p := must.Get(posterior.New(t.Context(), d, opts))(t)
	evidence, broken := faultyByDefinition(a, d.Y, opts.Faults, opts.Prior, one)
	best := floats.Max(evidence)
	for i, want := range evidence {
		got := p.LogEvidence[i]
		if want > best-40 && math.Abs(got-want) > 1e-6 || want <= best-40 && got > best-30 {
			t.Errorf("entries to %v, amplitude %v: log evidence of node %d is %v, want %v",
				floats.Max(entries), opts.Amplitude, i, got, want)
		}
	}
	for r, want := range broken {
		if math.Abs(p.Faulty[r]-want) > 1e-5 {
			t.Errorf("entries to %v, amplitude %v: the sensor of measurement %d is broken with probability %v, want %v",
				floats.Max(entries), opts.Amplitude, r, p.Faulty[r], want)
		}
	}
}

// sensing makes measurements of one source, of amplitude 1 at node 4, on a line of n nodes with a
// sensor at each; the reading of sensor stuck is the top of the range, 1.
func sensing(n int, sigma float64, stuck int) (measurement.Data, posterior.Faults) {
	rnd := rand.New(rand.NewPCG(22, uint64(n)))
	a := mat.NewDense(n, n, nil)
	y := make([]float64, n)
	f := posterior.Faults{Rate: .01, Low: make([]float64, n), High: make([]float64, n)}
	for s := range n {
		for i := range n {
			a.Set(s, i, .4*math.Exp(-math.Pow(float64(s-i), 2)/4)/sigma)
		}
		y[s] = a.At(s, min(4, n-1)) + rnd.NormFloat64()
		f.High[s] = 1 / sigma
	}
	if stuck >= 0 {
		y[stuck] = 1/sigma + rnd.NormFloat64()
	}
	return measurement.Data{A: linop.Dense{M: a}, Y: y}, f
}

// TestScreenedFaults: where only products are known, the posterior is within its bounds of the exact
// one, and exact at the nodes that matter most.
func TestScreenedFaults(t *testing.T) {
	for _, test := range []struct {
		sigma float64
		stuck int
	}{{.05, 200}, {.15, -1}, {.1, 200}, {.4, -1}} {
		d, f := sensing(300, test.sigma, test.stuck)
		want := must.Get(posterior.New(t.Context(), d, posterior.Options{Faults: f}))(t)
		d.A = productsOnly{d.A}
		got := must.Get(posterior.New(t.Context(), d, posterior.Options{Faults: f}))(t)
		apart := floats.Distance(got.Probability, want.Probability, 1) / 2
		if apart > got.ProbabilityError+1e-9 || got.ProbabilityError > .9 ||
			math.Abs(got.LogPresence-want.LogPresence) > got.LogOddsError+1e-9 {
			t.Errorf("σ = %v: %v apart with a bound of %v, log odds %v and %v with %v", test.sigma, apart, got.ProbabilityError,
				got.LogPresence, want.LogPresence, got.LogOddsError)
		}
		if test.stuck >= 0 && got.Faulty[test.stuck] < .9 {
			t.Errorf("σ = %v: the stuck sensor is broken with probability %v", test.sigma, got.Faulty[test.stuck])
		}
	}
}

// productsOnly hides the entries of an operator.
type productsOnly struct{ linop.Operator }

func TestFaultyPosteriorSameBits(t *testing.T) {
	d, f := sensing(200, .1, 90)
	var first *posterior.Posterior
	for _, workers := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(workers)
		p, err := posterior.New(t.Context(), d, posterior.Options{Faults: f})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = p
		}
		if !slices.Equal(p.Probability, first.Probability) || !slices.Equal(p.Faulty, first.Faulty) || p.LogPresence != first.LogPresence {
			t.Errorf("%d workers give other bits", workers)
		}
	}
}

// Readings that say nothing, one sensor, sensors that all look broken, and readings far outside the range
// leave a posterior that adds up.
func TestFaultyExtremes(t *testing.T) {
	d, f := sensing(20, .05, -1)
	set := func(v float64) []float64 { return slices.Repeat([]float64{v}, 20) }
	one, oneFaults := sensing(1, .05, 0)
	for name, test := range map[string]struct {
		d measurement.Data
		f posterior.Faults
	}{
		"zeros":        {measurement.Data{A: d.A, Y: set(0)}, f},
		"equal":        {measurement.Data{A: d.A, Y: set(10)}, f},
		"all stuck":    {measurement.Data{A: d.A, Y: set(20)}, f},
		"far outside":  {measurement.Data{A: d.A, Y: set(-1e6)}, f},
		"unknown":      {measurement.Data{A: d.A, Y: set(1e6)}, posterior.Faults{Rate: .5}},
		"one sensor":   {one, oneFaults},
		"almost all":   {d, posterior.Faults{Rate: .999999, Low: f.Low, High: f.High}},
		"tiny rate":    {d, posterior.Faults{Rate: 1e-300, Low: f.Low, High: f.High}},
		"one reading":  {d, posterior.Faults{Rate: .01, Low: f.Low, High: f.Low}},
		"narrow range": {d, posterior.Faults{Rate: .01, Low: f.Low, High: set(1e-3)}},
	} {
		p, err := posterior.New(t.Context(), test.d, posterior.Options{Faults: test.f})
		checkFinite(t, name, p, err)
		test.d.A = productsOnly{test.d.A}
		p, err = posterior.New(t.Context(), test.d, posterior.Options{Faults: test.f})
		checkFinite(t, name+", by products", p, err)
	}
}

func TestBadFaults(t *testing.T) {
	d, f := sensing(5, .1, -1)
	for name, bad := range map[string]posterior.Faults{
		"rate 1": {Rate: 1}, "almost 1": {Rate: 1 - 1e-13}, "negative": {Rate: -1e-300}, "NaN": {Rate: math.NaN()},
		"one end":     {Rate: .1, Low: f.Low},
		"upside down": {Rate: .1, Low: f.High, High: f.Low},
		"short":       {Rate: .1, Low: f.Low[:2], High: f.High[:2]},
		"no sensors":  {Rate: .1, Sensors: []int{0}},
		"descending":  {Rate: .1, Sensors: []int{0, 1, 0, 1, 2}},
		"a gap":       {Rate: .1, Sensors: []int{0, 1, 3, 4, 5}},
		"from 1":      {Rate: .1, Sensors: []int{1, 1, 2, 3, 4}},
		"below 0":     {Rate: .1, Sensors: []int{-1, 0, 1, 2, 3}},
		"infinite":    {Rate: .1, Low: f.Low, High: []float64{1, 1, math.Inf(1), 1, 1}},
	} {
		if _, err := posterior.New(t.Context(), d, posterior.Options{Faults: bad}); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaultyPrior: a sensor is faulty beforehand as often as it is not sound.
func TestFaultyPrior(t *testing.T) {
	for _, rate := range []float64{0, 1e-300, .01, .25, .9, 1 - 1e-12} {
		if got, want := posterior.FaultyPrior(rate), 1-faultPrior(rate)[isSound]; math.Abs(got-want) > 1e-12 {
			t.Errorf("rate %v: %v, want %v", rate, got, want)
		}
	}
}

// With noise far below the rounding of what sensors read the posterior ends, finds the source and the stuck sensor,
// and says that it took them for noisier, also by products.
func TestFaultsUnderNoNoise(t *testing.T) {
	for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UniformAmplitude, posterior.UnitAmplitude} {
		d, f := sensing(24, 1e-13, 20)
		opts := posterior.Options{Faults: f, Amplitude: amplitude}
		p := must.Get(posterior.New(t.Context(), d, opts))(t)
		hidden := must.Get(posterior.New(t.Context(), measurement.Data{A: productsOnly{d.A}, Y: d.Y}, opts))(t)
		for _, p := range []*posterior.Posterior{p, hidden} {
			if p.Best() != 4 || !(p.Probability[4] > .999) || !(p.Faulty[20] > .999) || !p.Raised || math.IsNaN(p.LogPresence) {
				t.Errorf("%v: node %d with %v, sensor 20 broken with %v, raised: %v", amplitude, p.Best(), p.Probability[4],
					p.Faulty[20], p.Raised)
			}
		}
	}
	d, f := sensing(24, .05, -1)
	if p, err := posterior.New(t.Context(), d, posterior.Options{Faults: f}); err != nil || p.Raised {
		t.Errorf("enough noise: raised, %v", err)
	}
}

// TestLocalFaults: where columns are local the posterior is within its bound of the exact one, whatever the noise, with sensors at
// some of the nodes, and of the same bits with any number of workers.
func TestLocalFaults(t *testing.T) {
	g, _, err := graph.RoadLike(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		d := must.Get(expm.New(t.Context(), laplacian.New(g, kind), 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-10}))(t)
		for _, sigma := range []float64{.3, .03, .004} {
			testLocalFaults(t, d, sigma)
		}
	}
}

func testLocalFaults(t *testing.T, d *expm.Diffusion, sigma float64) {
	t.Helper()
	n, _ := d.Dims()
	rnd := rand.New(rand.NewPCG(23, 1))
	unit, heat := make([]float64, n), make([]float64, n)
	unit[77] = 1
	d.MulVecTo(heat, false, unit)
	var nodes []int
	var y, u []float64
	f := posterior.Faults{Rate: .01}
	for i := 0; i < n; i += 2 {
		reading := heat[i]
		if rnd.IntN(30) == 0 {
			reading = 1
		}
		nodes, y, u = append(nodes, i), append(y, reading+sigma*rnd.NormFloat64()), append(u, 1/(sigma*sigma))
		f.Low, f.High = append(f.Low, 0), append(f.High, 1/sigma)
	}
	w := must.Get(measurement.Whiten(linop.Rows(d, nodes), y, u))(t)
	opts := posterior.Options{Faults: f}
	got := must.Get(posterior.New(t.Context(), w, opts))(t)
	all, columns := make([]int, n), make([]float64, n*len(y))
	for i := range all {
		all[i] = i
	}
	linop.ColumnsTo(w.A, columns, all)
	entries := mat.DenseCopyOf(mat.NewDense(n, len(y), columns).T())
	want := must.Get(posterior.New(t.Context(), measurement.Data{A: linop.Dense{M: entries}, Y: w.Y}, opts))(t)
	apart := floats.Distance(got.Probability, want.Probability, 1) / 2
	if apart > got.ProbabilityError || got.ProbabilityError > .01 || got.ProbabilityError == 0 ||
		math.Abs(got.LogPresence-want.LogPresence) > got.LogOddsError {
		t.Errorf("σ = %v: %v apart with a bound of %v, log presence %v and %v with %v", sigma, apart, got.ProbabilityError, got.LogPresence,
			want.LogPresence, got.LogOddsError)
	}
	if floats.Distance(got.Faulty, want.Faulty, math.Inf(1)) > 3*got.ProbabilityError {
		t.Errorf("σ = %v: suspects are %v apart", sigma, floats.Distance(got.Faulty, want.Faulty, math.Inf(1)))
	}
	before := runtime.GOMAXPROCS(1)
	again, err := posterior.New(t.Context(), w, opts)
	runtime.GOMAXPROCS(before)
	if err != nil || !slices.Equal(again.Probability, got.Probability) || !slices.Equal(again.Faulty, got.Faulty) {
		t.Errorf("σ = %v: one worker gives other bits (%v)", sigma, err)
	}
}

// far returns sensors, one a node, that read 0 but for the last.
func far(sensors int, entry, last, low, high float64) (measurement.Data, posterior.Faults) {
	a := mat.NewDense(sensors, sensors, nil)
	d := measurement.Data{A: linop.Dense{M: a}, Y: make([]float64, sensors)}
	f := posterior.Faults{Rate: .01}
	for s := range sensors {
		a.Set(s, s, entry)
		f.Low, f.High = append(f.Low, low), append(f.High, high)
	}
	d.Y[sensors-1] = last
	return d, f
}

// TestFaultsFarFromTheirRange: the odds of sound against broken are beyond all numbers, and yet the
// posterior is one, and its evidence that of the arithmetic in logarithms.
func TestFaultsFarFromTheirRange(t *testing.T) {
	prior := faultPrior(.01)
	broken, shifted := prior[isBroken], prior[isShifted]
	for name, test := range map[string]struct {
		entry, last, low, high float64
		presence               float64 // 0: any
	}{
		// log(1/4 · shifted · N(100; 40, 10)/(1/8 · broken · N(100; 20, 10))), and the other sensors at 0.
		"above a range below the means": {40, 100, 0, 20, math.Log(.25*shifted/(1./8*broken)) - 60*60/20 + 80*80/20},
		"a reading beyond the squares":  {1e3, 1e5, 0, 1, 0},
		"a range beyond all":            {40, 0, 1e3, 2e3, 0},
		"a range far below":             {40, 60, -2e4, -1e4, 0},
		"the largest length":            {40, 1e150, -1e150, 1e150, 0},
	} {
		d, f := far(4, test.entry, test.last, test.low, test.high)
		opts := posterior.Options{Faults: f, Amplitude: posterior.UnitAmplitude}
		p, err := posterior.New(t.Context(), d, opts)
		checkFinite(t, name, p, err)
		if err == nil && test.presence != 0 && !(math.Abs(p.LogPresence-test.presence) < .02) {
			t.Errorf("%s: log presence %v, want %v", name, p.LogPresence, test.presence)
		}
		for _, amplitude := range []posterior.Amplitude{posterior.UniformAmplitude, posterior.MixedAmplitude} {
			opts.Amplitude, opts.Faults = amplitude, f
			p, err := posterior.New(t.Context(), d, opts)
			checkFinite(t, name, p, err)
		}
		d.A = productsOnly{d.A}
		p, err = posterior.New(t.Context(), d, opts)
		checkFinite(t, name+", by products", p, err)
	}
}

func checkFinite(t *testing.T, name string, p *posterior.Posterior, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if sum := floats.Sum(p.Probability); !(math.Abs(sum-1) < 1e-9) || math.IsNaN(p.LogPresence) || math.IsInf(p.LogPresence, 0) ||
		math.IsNaN(p.LogOddsError) || math.IsNaN(p.ProbabilityError) {
		t.Errorf("%s: %+v", name, p)
	}
	for s, v := range p.Faulty {
		if !(v >= 0 && v <= 1) {
			t.Errorf("%s: sensor %d is broken with probability %v", name, s, v)
		}
	}
}

// TestFaultsOfAnyScale: readings and ranges of any scale, whatever the entries are, give numbers,
// for one source and for two.
func TestFaultsOfAnyScale(t *testing.T) {
	for trial := range 20 {
		rnd := rand.New(rand.NewPCG(4, uint64(trial)))
		scale := func() float64 { return math.Exp(rnd.Float64()*14-4) * float64(1-2*rnd.IntN(2)) }
		const m, n = 5, 3
		a := mat.NewDense(m, n, nil)
		size := math.Exp(4 * rnd.Float64())
		for s := range m {
			for i := range n {
				a.Set(s, i, size*rnd.Float64())
			}
		}
		d := measurement.Data{A: linop.Dense{M: a}, Y: make([]float64, m)}
		f := posterior.Faults{Rate: math.Exp(-10 * rnd.Float64())}
		for s := range m {
			d.Y[s] = scale()
			l, h := scale(), scale()
			f.Low, f.High = append(f.Low, min(l, h)), append(f.High, max(l, h))
		}
		opts := posterior.Options{Faults: f}
		p, err := posterior.New(t.Context(), d, opts)
		checkFinite(t, "one source", p, err)
		pairs, err := posterior.NewPairs(t.Context(), d, opts)
		if err != nil || !(math.Abs(floats.Sum(pairs.Probability)-2) < 1e-9) || math.IsNaN(pairs.LogPresence) ||
			math.IsInf(pairs.LogPresence, 0) {
			t.Errorf("trial %d: %+v (%v)", trial, pairs, err)
		}
		if second, err := posterior.Second(t.Context(), d, opts); err != nil || math.IsNaN(second) || math.IsInf(second, 0) {
			t.Errorf("trial %d: a second source %v (%v)", trial, second, err)
		}
		if t.Failed() {
			t.Fatalf("trial %d: %v in %v to %v", trial, d.Y, f.Low, f.High)
		}
	}
}
