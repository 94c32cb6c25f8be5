// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// hidden is an operator whose entries cannot be read.
type hidden struct{ linop.Operator }

// noisyColumn is what sensors measure of a full source at a node.
func noisyColumn(rnd *rand.Rand, a *mat.Dense, node int) []float64 {
	y := mat.Col(nil, node, a)
	for i := range y {
		y[i] += rnd.NormFloat64()
	}
	return y
}

// Bounded norms hold everywhere, and are exact where a source is likely; the
// posterior is within its bounds of the exact one.
func TestBoundedNorms(t *testing.T) {
	const m, n, source, seed = 40, 300, 17, 22
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			a.Set(i, j, 3*rnd.NormFloat64())
		}
	}
	y := noisyColumn(rnd, a, source)
	d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: y}
	got := must.Get((&products{Data: d}).boundedNorms(t.Context(), newEvidence(UniformAmplitude), make([]float64, n),
		effort{probes: 100, peaks: 16, most: n}))(t)
	exact, at := 0, -1
	for j := range n {
		col := mat.Col(nil, j, a)
		want := floats.Dot(col, col)
		if want < got.Low[j]*(1-1e-12) || want > got.High[j]*(1+1e-12) {
			t.Errorf("seed %d: N[%d] is in [%v, %v], exactly %v", seed, j, got.Low[j], got.High[j], want)
		}
		if got.Low[j] == got.High[j] {
			exact++
			if j == source {
				at = j
			}
		}
	}
	if exact > n/4 || at != source {
		t.Errorf("seed %d: %d exact norms, the source's among them: %v; want few and true", seed, exact, at == source)
	}
	want, err := New(t.Context(), d, Options{}) // n is small: exact
	if err != nil || want.LogOddsError != 0 {
		t.Fatalf("slack %v, %v", want.LogOddsError, err)
	}
	p, err := New(t.Context(), d, Options{Norms: &got})
	if err != nil || p.ProbabilityError > posteriorTol || p.LogOddsError > posteriorTol {
		t.Fatalf("slack %v, error of the probabilities %v, %v", p.LogOddsError, p.ProbabilityError, err)
	}
	if p.LogEvidence[source] != want.LogEvidence[source] {
		t.Errorf("log evidence at the source %v, want %v", p.LogEvidence[source], want.LogEvidence[source])
	}
	if e := floats.Distance(p.Probability, want.Probability, 1) / 2; e > p.ProbabilityError+1e-12 {
		t.Errorf("the posterior is off by %v, bound %v", e, p.ProbabilityError)
	}
}

// Where the data decide little, norms become exact until little is left open, where
// as many may be exact as that takes.
func TestBoundedNormsOfWeakData(t *testing.T) {
	const m, n = 40, 300
	rnd := rand.New(rand.NewPCG(23, 1))
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			a.Set(i, j, rnd.NormFloat64()/4)
		}
	}
	y := make([]float64, m)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: y}
	for _, most := range []int{0, 20, n} {
		norms := must.Get((&products{Data: d}).boundedNorms(t.Context(), newEvidence(UniformAmplitude), make([]float64, n),
			effort{probes: 100, peaks: 10, most: most}))(t)
		exact := 0
		for i := range norms.N {
			if norms.Low[i] == norms.High[i] {
				exact++
			}
		}
		p := must.Get(New(t.Context(), d, Options{Norms: &norms}))(t)
		if enough := p.ProbabilityError <= posteriorTol; exact > most || enough != (most == n) {
			t.Errorf("at most %d: %d exact norms, error %v", most, exact, p.ProbabilityError)
		}
	}
}

// vague is an operator whose entries cannot be read, and off by up to err.
type vague struct {
	hidden
	err float64
}

func (v vague) Err() float64 { return v.err }

// counted counts the columns that an operator is multiplied with.
type counted struct {
	hidden
	columns *int64
}

func (c counted) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	*c.columns += int64(k)
	linop.MulBlockTo(c.hidden, dst, trans, x, k)
}

// Progress counts every product but the one for Aᵀy.
func TestProgressOfNorms(t *testing.T) {
	const m, n = exactSensors + 1, exactOrder + 1
	a := groups(rand.New(rand.NewPCG(36, 1)), m, n, 40, 3, 1)
	var columns, told int64
	d := measurement.Data{A: counted{hidden{linop.Dense{M: a}}, &columns}, Y: mat.Col(nil, 0, a)}
	_, err := ColumnNorms(t.Context(), d, Options{Progress: func(_ string, done, _ int64) { told = done }})
	if err != nil || told != columns || told == 0 {
		t.Errorf("told of %d products, %d were made (%v)", told, columns, err)
	}
}

// asked counts how often each column is asked for by a unit vector.
type asked struct {
	vague
	times map[int]int
}

func (a asked) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	for j := range k {
		at, others := -1, 0
		for i := j; i < len(x) && !trans; i += k {
			switch x[i] {
			case 0:
			case 1:
				at = i / k
			default:
				others++
			}
		}
		if at >= 0 && others == 0 {
			a.times[at]++
		}
	}
	linop.MulBlockTo(a.hidden, dst, trans, x, k)
}

// What the error of the operator leaves open no exact norm closes: each node has its turn once, and a further round of probes does not
// undo it.
func TestBoundedNormsOfVagueOperator(t *testing.T) {
	const m, n = 200, 400
	for _, c := range []struct {
		err, own     float64
		probes       int
		peaks        int
		fewest, most int
	}{
		{.1, 2, 256, 10, 10, 30},
		{.1, 8, 100, 1, 1, 29}, // the source's own norm stays widest
	} {
		rnd := rand.New(rand.NewPCG(24, 1))
		a := groups(rnd, m, n, 1, 0, c.own)
		y := mat.Col(nil, 0, a)
		if c.peaks == 1 {
			for i := range y {
				y[i] += rnd.NormFloat64()
			}
		}
		op := asked{vague{hidden{linop.Dense{M: a}}, c.err}, map[int]int{}}
		p := &products{Data: measurement.Data{A: op, Y: y}}
		norms := must.Get(p.boundedNorms(t.Context(), newEvidence(UniformAmplitude), make([]float64, n),
			effort{probes: c.probes, peaks: c.peaks, most: 30}))(t)
		if err := norms.check(n); err != nil {
			t.Error(err)
		}
		exact := len(op.times)
		for j, times := range op.times {
			col := mat.Col(nil, j, a)
			if times != 1 || !scalar.EqualWithinRel(norms.N[j], floats.Dot(col, col), 1e-14) {
				t.Errorf("column %d asked for %d times, its norm is not exact", j, times)
			}
		}
		if exact < c.fewest || exact > c.most {
			t.Errorf("error %v: %d exact norms, want %d to %d", c.err, exact, c.fewest, c.most)
		}
	}
}

// groups is a matrix whose columns are a direction for each of k groups of nodes, and
// beside it a part of their own of the given length.
func groups(rnd *rand.Rand, m, n, k int, length, own float64) *mat.Dense {
	a, shared := mat.NewDense(m, n, nil), mat.NewDense(m, k, nil)
	for i := range m {
		for g := range k {
			shared.Set(i, g, length*rnd.NormFloat64()/math.Sqrt(float64(m)))
		}
		for j := range n {
			a.Set(i, j, shared.At(i, j%k)+own*rnd.NormFloat64()/math.Sqrt(float64(m)))
		}
	}
	return a
}

// What columns share is known to rounding: probes bound only the rest, 1 % in length
// here and 1e-4 of the norm.
func TestSharedDirections(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 1))
	a := groups(rnd, 60, 300, 10, 7, .07)
	d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: make([]float64, 60)}
	got := must.Get(ProbedNorms(t.Context(), d, 64, 1e-9, 1))(t)
	for j := range got.N {
		col := mat.Col(nil, j, a)
		want := floats.Dot(col, col)
		if want < got.Low[j] || want > got.High[j] {
			t.Errorf("N[%d] is in [%v, %v], exactly %v", j, got.Low[j], got.High[j], want)
		}
		if width := got.High[j] - got.Low[j]; width > 0.002*want {
			t.Errorf("N[%d] = %v is known within %v, want a thousandth", j, want, width)
		}
	}
	// With as many directions as sensors nothing is left to probe.
	few := measurement.Data{A: hidden{linop.Dense{M: groups(rnd, 16, 300, 10, 7, 7)}}, Y: make([]float64, 16)}
	got = must.Get(ProbedNorms(t.Context(), few, 16, 1e-9, 1))(t)
	exact := must.Get(ColumnNorms(t.Context(), few, Options{}))(t)
	for j, want := range exact.N {
		if want < got.Low[j] || want > got.High[j] || got.High[j]-got.Low[j] > 1e-10*want {
			t.Errorf("16 sensors: N[%d] is in [%v, %v], exactly %v", j, got.Low[j], got.High[j], want)
		}
	}
}

// With more groups than directions those are taken that matter to the posterior, one group
// of 25, and nothing is left to exact norms; the longest directions of all leave it open.
func TestWeightedDirections(t *testing.T) {
	const m, n, k, source = 400, 5000, 200, 17
	rnd := rand.New(rand.NewPCG(32, 1))
	a := groups(rnd, m, n, k, 7, .02)
	y := noisyColumn(rnd, a, source)
	d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: y}
	weighted := must.Get((&products{Data: d}).boundedNorms(t.Context(), newEvidence(MixedAmplitude), make([]float64, n),
		effort{probes: 64}))(t)
	longest := must.Get(ProbedNorms(t.Context(), d, 64, normFailure, 1))(t)
	for want, norms := range map[bool]Norms{true: weighted, false: longest} {
		p := must.Get(New(t.Context(), d, Options{Norms: &norms}))(t)
		for j := range norms.N {
			col := mat.Col(nil, j, a)
			if v := floats.Dot(col, col); v < norms.Low[j] || v > norms.High[j] {
				t.Errorf("weighted %v: N[%d] is in [%v, %v], exactly %v", want, j, norms.Low[j], norms.High[j], v)
			}
		}
		if got := p.ProbabilityError <= posteriorTol; got != want || len(p.Credible()) < n/k/2 {
			t.Errorf("weighted %v: %v of the posterior open, %d nodes credible", want, p.ProbabilityError, len(p.Credible()))
		}
	}
}

// fading adds to every column of a random parts of k directions, each shorter than the last.
func fading(rnd *rand.Rand, a *mat.Dense, k int, length float64) *mat.Dense {
	m, n := a.Dims()
	v, part := mat.NewDense(m, k, nil), mat.NewDense(k, n, nil)
	for i := range k {
		for j := range m {
			v.Set(j, i, length*rnd.NormFloat64()/math.Sqrt(float64(m))/float64(i+1))
		}
		for j := range n {
			part.Set(i, j, rnd.NormFloat64())
		}
	}
	var sum mat.Dense
	sum.Mul(v, part)
	sum.Add(a, &sum)
	return &sum
}

// What is tried, in which order, settles the posterior with few products.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name                string
		seed                uint64
		m, n, k             int
		length, own, fading float64
		exact               int // norms
		products            int64
	}{
		{"what exact norms do not close is left to directions", 1, 300, 3000, 10, 7, .1, 0, 512, 300},
		{"directions serve all nodes that are open", 2, 300, 3000, 2, 3, .1, 3, 512, 720},
		{"exact norms tell the odds before probes", 1, 100, 5000, 10, 4, .15, 0, 512, 240},
		{"probes tell the odds where exact norms do not", 0, 100, 1000, 2, .1, .1, 0, 0, 272},
	} {
		rnd := rand.New(rand.NewPCG(c.seed, 1))
		a := groups(rnd, c.m, c.n, c.k, c.length, c.own)
		if c.fading > 0 {
			a = fading(rnd, a, 100, c.fading)
		}
		d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: noisyColumn(rnd, a, 17)}
		p, b := &products{Data: d}, defaultEffort()
		b.most = c.exact
		norms := must.Get(p.boundedNorms(t.Context(), newEvidence(MixedAmplitude), make([]float64, c.n), b))(t)
		q := must.Get(New(t.Context(), d, Options{Norms: &norms}))(t)
		if q.ProbabilityError > posteriorTol || q.LogOddsError > posteriorTol || p.done > c.products {
			t.Errorf("%s: %v and %v open after %d products, want %d", c.name, q.ProbabilityError, q.LogOddsError, p.done, c.products)
		}
	}
}

// The largest are those that sorting all would put first, without those of exact norms.
func TestLargest(t *testing.T) {
	const n = 1000
	rnd := rand.New(rand.NewPCG(39, 1))
	s := &bounding{exact: make([]bool, n)}
	var others []int
	x := make([]float64, n)
	for i := range x {
		x[i] = []float64{math.Inf(-1), 1, 2, rnd.NormFloat64()}[rnd.IntN(4)]
		if s.exact[i] = rnd.IntN(10) == 0; !s.exact[i] {
			others = append(others, i)
		}
	}
	others = descending(others, x)
	for _, k := range []int{0, 1, 7, 300, len(others), n} {
		if got := s.largest(x, k); !slices.Equal(got, others[:min(k, len(others))]) {
			t.Errorf("the %d largest are %v, want %v", k, got, others[:min(k, len(others))])
		}
	}
}

// Few sensors give exact norms, a product for each.
func TestNormsOfFewSensors(t *testing.T) {
	const m, n = 21, exactOrder + 1
	rnd := rand.New(rand.NewPCG(33, 1))
	a := groups(rnd, m, n, 10, 1, 1)
	got, err := ColumnNorms(t.Context(), measurement.Data{A: hidden{linop.Dense{M: a}}, Y: make([]float64, m)}, Options{})
	if err != nil || got.Low != nil {
		t.Fatalf("bounds %v, %v; want exact norms", got.Low != nil, err)
	}
	for j := range n {
		col := mat.Col(nil, j, a)
		if want := floats.Dot(col, col); math.Abs(got.N[j]-want) > 1e-12*want {
			t.Errorf("N[%d] = %v, want %v", j, got.N[j], want)
		}
	}
}

// Exact norms are those that the prior leaves open.
func TestBoundedNormsUnderPrior(t *testing.T) {
	const m, n, allowed = exactSensors + 1, exactOrder + 1, 400
	rnd := rand.New(rand.NewPCG(34, 1))
	a := groups(rnd, m, n, 1, 0, 2)
	y := make([]float64, m)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: y}
	prior := make([]float64, n)
	for i := range allowed {
		prior[7*i] = 1
	}
	got := must.Get(ColumnNorms(t.Context(), d, Options{Prior: prior}))(t)
	for j := range n {
		if prior[j] == 0 && got.Low[j] == got.High[j] {
			t.Errorf("N[%d] is exact, which the prior rules out", j)
		}
	}
	p, err := New(t.Context(), d, Options{Prior: prior, Norms: &got})
	if err != nil || p.ProbabilityError > posteriorTol {
		t.Errorf("%v of the posterior open (%v)", p.ProbabilityError, err)
	}
	if _, err := ColumnNorms(t.Context(), d, Options{Prior: prior[1:]}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a prior of other length: %v, want invalid", err)
	}
}

// A source a hundred standard deviations above the noise overflows nothing.
func TestBoundedNormsOfLoudData(t *testing.T) {
	const m, n, source = 80, 500, 17
	a := groups(rand.New(rand.NewPCG(35, 1)), m, n, 5, 300, 300)
	d := measurement.Data{A: hidden{linop.Dense{M: a}}, Y: mat.Col(nil, source, a)}
	norms := must.Get((&products{Data: d}).boundedNorms(t.Context(), newEvidence(UniformAmplitude), make([]float64, n),
		effort{probes: 64, peaks: 8, most: 64}))(t)
	p, err := New(t.Context(), d, Options{Norms: &norms})
	if err != nil || p.Best() != source || p.ProbabilityError > posteriorTol || p.LogOddsError > posteriorTol {
		t.Errorf("best node %d with %v and %v open (%v), want %d", p.Best(), p.ProbabilityError, p.LogOddsError, err, source)
	}
}

// Where a norm may be anything, everything is open, and what is no bound is refused.
func TestNormsWithoutBounds(t *testing.T) {
	d := measurement.Data{A: doubled{}, Y: []float64{5, 0, 0}}
	inf, nan := math.Inf(1), math.NaN()
	p, err := New(t.Context(), d, Options{Norms: &Norms{N: []float64{4, 4, 4}, Low: []float64{0, 4, 4}, High: []float64{inf, 4, 4}}})
	if err != nil || p.ProbabilityError != 1 {
		t.Errorf("a norm without bounds leaves %v open (%v)", p.ProbabilityError, err)
	}
	for _, n := range []Norms{
		{N: []float64{4, nan, 4}},
		{N: []float64{4, 4, -1}},
		{N: []float64{4, 4, 4}, Low: []float64{4, 4, 5}, High: []float64{4, 4, 6}},
		{N: []float64{4, 4, 4}, Low: []float64{4, 4, nan}, High: []float64{4, 4, 6}},
	} {
		if _, err := New(t.Context(), d, Options{Norms: &n}); err == nil {
			t.Errorf("%+v is taken", n)
		}
	}
}

// doubled is twice the identity.
type doubled struct{}

func (doubled) Dims() (r, c int) { return 3, 3 }

func (doubled) MulVecTo(dst []float64, _ bool, x []float64) {
	for i, v := range x {
		dst[i] = 2 * v
	}
}

// An error far below the rounding of a norm leaves it between its bounds.
func TestWidenByLittle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(38, 1))
	for range 1000 {
		v := rnd.ExpFloat64()
		if l, h := widen(v, v, 1e-17); !(l <= v && v <= h) {
			t.Fatalf("%v becomes [%v, %v]", v, l, h)
		}
	}
}
