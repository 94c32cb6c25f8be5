// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
)

// roads are measurements of sources on roads.
func roads(t *testing.T, n, step int, sigma float64, stuck []int, sources map[int]float64) (measurement.Data, posterior.Faults) {
	t.Helper()
	g, _, err := graph.RoadLike(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return sensed(t, g, step, sigma, stuck, sources)
}

// sensed are measurements of sources by sensors at every step-th node, of which some nodes' are stuck at 1.
func sensed(t *testing.T, g *graph.Graph, step int, sigma float64, stuck []int, sources map[int]float64) (measurement.Data, posterior.Faults) {
	t.Helper()
	d, err := expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := d.Dims()
	rnd := rand.New(rand.NewPCG(29, 1))
	unit, heat := make([]float64, n), make([]float64, n)
	for i, a := range sources {
		unit[i] = a
	}
	d.MulVecTo(heat, false, unit)
	for _, i := range stuck {
		heat[i] = 1
	}
	var nodes []int
	var y, u []float64
	f := posterior.Faults{Rate: .01}
	for i := 0; i < n; i += step {
		nodes, y, u = append(nodes, i), append(y, heat[i]+sigma*rnd.NormFloat64()), append(u, 1/(sigma*sigma))
		f.Low, f.High = append(f.Low, 0), append(f.High, 1/sigma)
	}
	w, err := measurement.Whiten(linop.Rows(d, nodes), y, u)
	if err != nil {
		t.Fatal(err)
	}
	return w, f
}

// held is the same data with the entries of A.
func held(d measurement.Data) measurement.Data {
	m, n := d.A.Dims()
	all, columns := make([]int, n), make([]float64, n*m)
	for i := range all {
		all[i] = i
	}
	linop.ColumnsTo(d.A, columns, all)
	return measurement.Data{A: linop.Dense{M: mat.DenseCopyOf(mat.NewDense(n, m, columns).T())}, Y: d.Y}
}

// TestWalkAgainstPairs: sources far apart and beside each other, of columns that are read and of such as come from products, are where
// the sum over all pairs has them, within what so many effective draws leave open: each of n indicators has a standard
// deviation of √(p(1 − p)/ESS), whose mean absolute value is √(2/π) of it.
func TestWalkAgainstPairs(t *testing.T) {
	for _, c := range []struct {
		n         int
		sources   map[int]float64
		amplitude posterior.Amplitude
	}{
		{70, map[int]float64{32: 1, 60: 1}, posterior.MixedAmplitude},
		{70, map[int]float64{40: .9, 42: 1}, posterior.UniformAmplitude},
		{24, map[int]float64{4: 1, 19: 1}, posterior.UnitAmplitude},
	} {
		g, err := graph.Path(c.n)
		if err != nil {
			t.Fatal(err)
		}
		d, f := sensed(t, g, 4, .12, []int{12}, c.sources)
		exact, err := posterior.NewPairs(t.Context(), held(d), posterior.Options{Faults: f, Amplitude: c.amplitude})
		if err != nil {
			t.Fatal(err)
		}
		if c.n < 70 {
			d.A = productsOnly{d.A}
		}
		if read := posterior.ReadsColumns(d, 2); read != (c.n == 70) {
			t.Errorf("%+v: columns are read: %v", c, read)
		}
		opts := posterior.Options{Faults: f, Amplitude: c.amplitude}
		s, err := posterior.NewSample(t.Context(), d, posterior.SampleOptions{Options: opts, Sources: 2, Sweeps: 1000, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		apart, open := floats.Distance(s.Probability, exact.Probability, 1)/2, 0.0
		for _, p := range exact.Probability {
			open += math.Sqrt(p*max(0, 1-p)/s.ESS*2/math.Pi) / 2
		}
		if apart > 1.5*open || open > .1 || s.RHat > 1.01 {
			t.Errorf("%+v: %v apart, where sampling leaves %v; R̂ = %v with %v effective draws", c, apart, open, s.RHat, s.ESS)
		}
		if s.Faulty[3] < .5 {
			t.Errorf("%+v: the stuck sensor is faulty with %v", c, s.Faulty[3])
		}
	}
}

// TestWalkSuspects: what sensors are is the same whether the chain draws that or sums over it.
func TestWalkSuspects(t *testing.T) {
	d, f := roads(t, 24, 2, .15, []int{16}, map[int]float64{6: 1, 20: 1})
	opts := posterior.SampleOptions{Options: posterior.Options{Faults: f}, Sources: 2, Sweeps: 1500, Seed: 1}
	s, err := posterior.NewSample(t.Context(), d, opts)
	if err != nil {
		t.Fatal(err)
	}
	same, err := posterior.NewSample(t.Context(), held(d), opts)
	if err != nil {
		t.Fatal(err)
	}
	if off := floats.Distance(s.Faulty, same.Faulty, math.Inf(1)); off > .02 || s.Faulty[8] < .5 {
		t.Errorf("sensors are faulty with %v, by entries up to %v apart", s.Faulty, off)
	}
}

// TestWalkBits: the number of workers changes no bit.
func TestWalkBits(t *testing.T) {
	d, f := roads(t, 400, 1, .1, []int{16}, map[int]float64{60: 1, 200: 1})
	opts := posterior.SampleOptions{Options: posterior.Options{Faults: f}, Sources: 3, Sweeps: 20, Seed: 1}
	var first *posterior.Sample
	for _, workers := range []int{1, 2, 3, 7} {
		before := runtime.GOMAXPROCS(workers)
		s, err := posterior.NewSample(t.Context(), d, opts)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s
		}
		if !slices.Equal(s.Probability, first.Probability) || !slices.Equal(s.Faulty, first.Faulty) || s.RHat != first.RHat {
			t.Errorf("other bits with %d workers", workers)
		}
	}
}

// TestWalkOnRoads: on a graph whose entries are not held, two sources are found beside two stuck sensors, which are suspects.
func TestWalkOnRoads(t *testing.T) {
	d, f := roads(t, 6100, 1, .04, []int{400, 5200}, map[int]float64{1000: 1, 4000: .8})
	opts := posterior.Options{Faults: f}
	norms, err := posterior.ColumnNorms(t.Context(), d, opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.Norms = &norms
	first, err := posterior.NewSample(t.Context(), d, posterior.SampleOptions{Options: opts, Sources: 2, Sweeps: 100, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int, len(first.Probability))
	for i := range labels {
		labels[i] = i / 500
	}
	groups, err := first.Groups(labels)
	if err != nil || groups[2] < .9 || groups[8] < .9 || floats.Sum(groups) > 2+1e-9 {
		t.Errorf("%v: groups %v, the sources are in 2 and 8", err, groups)
	}
	suspects := 0
	for _, p := range first.Faulty {
		if p > .5 {
			suspects++
		}
	}
	if min(first.Faulty[400], first.Faulty[5200]) < .99 || suspects > 6 { // 3σ by chance have some
		t.Errorf("the stuck sensors are faulty with %v and %v, and %d are suspects", first.Faulty[400], first.Faulty[5200], suspects)
	}
}

// TestWalkSecond: the evidence tells two sources from one beside a stuck sensor, and one where there is no second.
func TestWalkSecond(t *testing.T) {
	for _, amplitude := range []float64{0, .8} {
		d, f := roads(t, 900, 1, .04, []int{400}, map[int]float64{100: 1, 700: amplitude})
		if second, err := posterior.Second(t.Context(), d, posterior.Options{Faults: f}); err != nil || (second > 3) != (amplitude > 0) {
			t.Errorf("log odds of a second source of amplitude %v are %v (%v)", amplitude, second, err)
		}
	}
}

// TestWalkEdges: sensors of which none fits, one sensor alone, readings that are all equal, a prior that leaves the sources two nodes, and
// little noise end in probabilities that add up.
func TestWalkEdges(t *testing.T) {
	for name, change := range map[string]func(*measurement.Data, *posterior.Options){
		"no sensor fits": func(d *measurement.Data, o *posterior.Options) {
			for s := range d.Y {
				d.Y[s] = 60 * float64(s%3)
			}
		},
		"equal readings": func(d *measurement.Data, o *posterior.Options) {
			for s := range d.Y {
				d.Y[s] = 5
			}
		},
		"one sensor": func(d *measurement.Data, o *posterior.Options) {
			d.A, d.Y = linop.Rows(d.A, []int{20}), d.Y[20:21]
			o.Faults.Low, o.Faults.High = o.Faults.Low[20:21], o.Faults.High[20:21]
		},
		"two nodes": func(d *measurement.Data, o *posterior.Options) {
			_, n := d.A.Dims()
			o.Prior = make([]float64, n)
			o.Prior[3], o.Prior[4] = 1, 2
		},
		"no range": func(d *measurement.Data, o *posterior.Options) { o.Faults.Low, o.Faults.High = nil, nil },
	} {
		for _, sigma := range []float64{.2, .01} {
			d, f := roads(t, 60, 1, sigma, []int{30}, map[int]float64{10: 1, 11: .6})
			o := posterior.Options{Faults: f}
			change(&d, &o)
			s, err := posterior.NewSample(t.Context(), d, posterior.SampleOptions{Options: o, Sources: 2, Sweeps: 20, Seed: 1})
			if err != nil {
				t.Errorf("%s, σ = %v: %v", name, sigma, err)
				continue
			}
			if sum := floats.Sum(s.Probability); math.Abs(sum-2) > 1e-9 || math.IsNaN(floats.Sum(s.Faulty)) || floats.Min(s.Faulty) < 0 || floats.Max(s.Faulty) > 1 {
				t.Errorf("%s, σ = %v: probabilities add up to %v, sensors are faulty with %v", name, sigma, sum, s.Faulty)
			}
			if name == "two nodes" && (s.Probability[3] != 1 || s.Probability[4] != 1) {
				t.Errorf("the nodes that are left have %v and %v", s.Probability[3], s.Probability[4])
			}
		}
	}
}

// ending is a context that ends when it is asked for the left-th time.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestWalkEnds: wherever the context ends, in the search for what to propose, in the chains, and in the evidence of a second source to its
// last node, it is the error. Where heat reaches everything that evidence is not to be had.
func TestWalkEnds(t *testing.T) {
	g, err := graph.Path(120)
	if err != nil {
		t.Fatal(err)
	}
	d, f := sensed(t, g, 1, .1, nil, map[int]float64{10: 1, 40: 1})
	opts := posterior.SampleOptions{Options: posterior.Options{Faults: f}, Sources: 2, Sweeps: 4}
	for what, do := range map[string]func(context.Context) error{
		"sample": func(ctx context.Context) error { _, err := posterior.NewSample(ctx, d, opts); return err },
		"ratios": func(ctx context.Context) error {
			_, err := posterior.NewSample(ctx, d, posterior.WithEvidence(opts))
			return err
		},
		"second": func(ctx context.Context) error { _, err := posterior.Second(ctx, d, opts.Options); return err },
	} {
		const many = 1 << 40
		whole := &ending{Context: t.Context()}
		whole.left.Store(many)
		if err := do(whole); err != nil {
			t.Fatal(err)
		}
		asked := many - whole.left.Load()
		for left := asked - 1; left >= 0; left -= 7 {
			ctx := &ending{Context: t.Context()}
			ctx.left.Store(left)
			if err := do(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: at %d of %d the end is %v", what, left, asked, err)
			}
		}
	}
	d.A = productsOnly{d.A}
	ctx := &ending{Context: t.Context()}
	if err := posterior.Pool(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("products: the end is %v", err)
	}
	if _, err := posterior.Second(t.Context(), d, posterior.Options{Faults: f}); !errors.Is(err, posterior.ErrInvalid) || posterior.KnowsEvidence(d, f) {
		t.Error(err)
	}
}
