// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// sums are first and second moments of what a trial measures.
type sums struct{ n, first, second float64 }

func (s *sums) add(x float64) { s.n, s.first, s.second = s.n+1, s.first+x, s.second+x*x }

// differ returns how many standard errors apart a mean is from one over so many
// trials of the same law.
func (s *sums) differ(mean float64, trials int) float64 {
	m := s.first / s.n
	return math.Abs(mean-m) / math.Sqrt((s.second/s.n-m*m)*(1/s.n+1/float64(trials)))
}

// bayes is a posterior of a dense matrix by the definition: Gaussian likelihoods,
// the amplitude integrated by Simpson's rule where it is not 1.
func bayes(kernel *mat.Dense, p *plan.Plan, y []float64, unit bool) []float64 {
	n, _ := kernel.Dims()
	post := make([]float64, n)
	const grid = 200
	for i := range n {
		var square, product float64
		for k, s := range p.Sensors {
			m := kernel.At(s.Node, i)
			square, product = square+m*m/(s.Sigma()*s.Sigma()), product+m*y[k]/(s.Sigma()*s.Sigma())
		}
		if unit {
			post[i] = math.Exp(product - square/2)
			continue
		}
		for k := range grid + 1 {
			a, w := float64(k)/grid, 2.0+2*float64(k%2)
			if k == 0 || k == grid {
				w = 1
			}
			post[i] += w * math.Exp(a*product-a*a*square/2)
		}
	}
	floats.Scale(1/floats.Sum(post), post)
	return post
}

// TestEvaluateAgainstBayes: simulated here with a dense matrix exponential, normal
// noise and Bayes' rule by its definition, every measure is the same within five
// standard errors.
func TestEvaluateAgainstBayes(t *testing.T) {
	store := open(t, "karate")
	for _, unit := range []bool{true, false} {
		job := karate()
		job.Plan.Allocation.Uniform = false
		opts := options(2000, simulate.Options{Seed: 7, Recover: job.Recover})
		if unit {
			opts.Amplitude, opts.Recover.Amplitude = 1, posterior.UnitAmplitude
		}
		m, p := testkit.Planned(t, store, job)
		e := must.Get(study.Evaluate(t.Context(), m.Model, p, opts))(t)
		part := must.Get(m.Partition(t.Context()))(t)
		kernel := testgraph.Heat(m.Graph, 2)
		random := rand.New(rand.NewPCG(11, 12))
		var right, confidence, covered, credible sums
		for range 2000 {
			source, amplitude := random.IntN(34), 1.0
			if !unit {
				amplitude = random.Float64()
			}
			y := make([]float64, len(p.Sensors))
			for k, s := range p.Sensors {
				y[k] = amplitude*kernel.At(s.Node, source) + s.Sigma()*random.NormFloat64()
			}
			post := bayes(kernel, p, y, unit)
			groups := part.Sums(post)
			best := floats.MaxIdx(groups)
			confidence.add(groups[best])
			right.add(map[bool]float64{true: 1}[part.Labels[source] == best])
			order := slices.SortedFunc(slices.Values(order(34)), func(i, j int) int { return cmp.Compare(post[j], post[i]) })
			mass, size, held := 0.0, 0, 0.0
			for mass < 0.95 {
				mass += post[order[size]]
				if order[size] == source {
					held = 1
				}
				size++
			}
			covered.add(held)
			credible.add(float64(size))
		}
		for name, z := range map[string]float64{
			"right":           right.differ(e.Right.Rate, 2000),
			"confidence":      confidence.differ(e.Calibration.MeanConfidence, 2000),
			"coverage":        covered.differ(e.Coverage.Rate, 2000),
			"credibleSetSize": credible.differ(e.CredibleSetSize, 2000),
		} {
			if !(z < 5) {
				t.Errorf("amplitude known: %v: %s is %.1f standard errors from Bayes' rule", unit, name, z)
			}
		}
	}
}

func order(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// pair is the path of two nodes, each a community.
func pair(t *testing.T) *folder.Store {
	t.Helper()
	dir := t.TempDir()
	testkit.Write(t, dir, "nodes.csv", "id,side,weight\na,l,3\nb,r,1\n")
	testkit.Write(t, dir, "relationships.csv", "source,target\na,b\n")
	return testkit.Folder(t, dir)
}

// TestEvaluatePair: telling two neighbours apart is right with probability Φ(1/2r),
// r = σ/Δ₂ = 0.485540335 at (4, 0.1), whatever τ; a prior of 3 : 1 draws the one
// node three times as often.
func TestEvaluatePair(t *testing.T) {
	job := karate()
	job.Communities.Property, job.Recover.Amplitude = "side", posterior.UnitAmplitude
	store := pair(t)
	m, p := testkit.Planned(t, store, job)
	opts := options(4000, simulate.Options{Amplitude: 1, Recover: job.Recover})
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, opts))(t)
	want := math.Erfc(-1/(2*0.485540335)/math.Sqrt2) / 2
	if z := math.Abs(e.Right.Rate-want) / math.Sqrt(want*(1-want)/4000); z > 5 {
		t.Errorf("right in %v of the trials, want Φ(1/2r) = %v", e.Right.Rate, want)
	}
	if e.Chance != 0.5 || e.Uniform != nil || e.Allocation != "uniform" {
		t.Errorf("chance %v, %s, %+v", e.Chance, e.Allocation, e.Uniform)
	}
	job.PriorProperty = "weight"
	m, p = testkit.Planned(t, store, job)
	e = must.Get(study.Evaluate(t.Context(), m.Model, p, opts))(t)
	// With prior π and separation d the best rule is right with probability
	// πΦ(d/2 + ln(π/(1−π))/d) + (1−π)Φ(d/2 − ln(π/(1−π))/d).
	d := 1 / 0.485540335
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	want = .75*phi(d/2+math.Log(3)/d) + .25*phi(d/2-math.Log(3)/d)
	if z := math.Abs(e.Right.Rate-want) / math.Sqrt(want*(1-want)/4000); z > 5 || e.Chance != .75 {
		t.Errorf("with a prior right in %v of the trials, want %v; chance %v", e.Right.Rate, want, e.Chance)
	}
}

// TestEvaluateNothingSaid: where one node has 3/4 of the prior and the noise hides
// everything, that node is always named first and never stands out.
func TestEvaluateNothingSaid(t *testing.T) {
	job := karate()
	job.Plan.Epsilon, job.Plan.Delta = .01, 1e-9
	job.Communities.Property, job.PriorProperty = "side", "weight"
	m, p := testkit.Planned(t, pair(t), job)
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, options(50, simulate.Options{Recover: job.Recover})))(t)
	if c := e.Calibration.MeanConfidence; e.Answered.Rate != 0 || math.Abs(c-.75) > .01 {
		t.Errorf("named in %v of the trials, with confidence %v, want never and 0.75", e.Answered.Rate, c)
	}
}

// TestEvaluateNotesMismatch: a posterior for another amplitude than the sources had is
// said, whichever the two are.
func TestEvaluateNotesMismatch(t *testing.T) {
	job := karate()
	job.Public = plan.Public{}
	m, p := testkit.Planned(t, pair(t), job)
	type pair struct {
		assumed posterior.Amplitude
		had     float64
	}
	for tt, want := range map[pair]bool{
		{posterior.MixedAmplitude, 1}: true, {posterior.UniformAmplitude, 0}: false, {posterior.UniformAmplitude, .5}: true,
		{posterior.UnitAmplitude, .5}: true, {posterior.UnitAmplitude, 1}: false,
	} {
		e := must.Get(study.Evaluate(t.Context(), m.Model, p,
			options(1, simulate.Options{Amplitude: tt.had, Recover: analyst.Options{Amplitude: tt.assumed}})))(t)
		said := slices.ContainsFunc(e.Notes, func(s string) bool { return strings.Contains(s, "another amplitude") })
		if said != want {
			t.Errorf("sources of %s, posterior for %s: %q", e.SourceAmplitude, e.AssumedAmplitude, e.Notes)
		}
	}
}

// TestEvaluateCalibrated: under the posterior's own prior its confidence is right:
// the error is what chance gives, its interval holds 0, and 95 % sets hold 95 %. Each of
// these fails by chance in at most 5 of 100 studies. Of 20 studies of a kind of
// source more than 8 would fail with probability below 1e-6 (binomial), were they
// independent.
func TestEvaluateCalibrated(t *testing.T) {
	s := open(t, "net3")
	job := karate()
	job.Communities.Property = ""
	job.Plan.Allocation.Uniform = false
	m, p := testkit.Planned(t, s, job)
	failed := map[string]int{}
	count := func(what string, fails bool) {
		if fails {
			failed[what]++
		}
	}
	for seed := range uint64(10) {
		for _, amplitude := range []float64{0, 1} {
			opts := options(200, simulate.Options{Seed: seed + 1, Amplitude: amplitude, Recover: job.Recover})
			if amplitude == 1 {
				opts.Recover.Amplitude = posterior.UnitAmplitude
			}
			e := must.Get(study.Evaluate(t.Context(), m.Model, p, opts))(t)
			for _, f := range []*study.Performance{e.Performance, e.Uniform} {
				of := fmt.Sprintf("amplitude %v: ", amplitude)
				count(of+"calibration error beyond chance", f.Calibration.Error > f.Calibration.Limit)
				count(of+"calibration error whose interval excludes 0", f.Calibration.Lower > 0)
				count(of+"sets that hold too little", f.Coverage.Upper < .95) // of whole nodes: at least 95 %
			}
		}
	}
	for what, n := range failed {
		if n > 8 {
			t.Errorf("%s in %d of 20 studies, want at most 5 %% but for chance", what, n)
		}
	}
	t.Logf("of 20 studies: %v", failed)
}

// TestEvaluateIsDeterministic: the same bits with one worker and with many, from the
// plan and from its file; another seed gives other trials.
func TestEvaluateIsDeterministic(t *testing.T) {
	s := open(t, "karate")
	job := karate()
	job.Plan.Allocation.Uniform = false
	m, p := testkit.Planned(t, s, job)
	opts := options(50, simulate.Options{Seed: 1, Amplitude: 1, Recover: job.Recover})
	first := must.Get(study.Evaluate(t.Context(), m.Model, p, opts))(t)
	if first.Uniform == nil || first.Allocation != "optimal" {
		t.Fatalf("%+v", first)
	}
	var file plan.Plan
	testkit.RoundTrip(t, p, &file)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := must.Get(study.Evaluate(t.Context(), m.Model, &file, opts))(t)
	if !reflect.DeepEqual(first, one) {
		t.Errorf("with one worker and from the file:\n%+v\n%+v", one.Performance, first.Performance)
	}
	opts.Seed = 2
	one = must.Get(study.Evaluate(t.Context(), m.Model, p, opts))(t)
	if one.Calibration.MeanConfidence == first.Calibration.MeanConfidence {
		t.Error("another seed gives the same trials")
	}
}

// TestEvaluateLarge: beyond the order at which M is a matrix, by products. On a
// cycle of 6,200 nodes with little noise a source stays within a few hops, and its
// community, an arc of 100 nodes, is named.
func TestEvaluateLarge(t *testing.T) {
	const n = 6200
	g := must.Get(graph.Cycle(n))(t)
	s, arcs := memory.FromGraph(g), map[graph.ID]any{}
	for i := range n {
		arcs[g.ID(i)] = i / 100
	}
	must.Do(t, s.Set("arc", arcs))
	job := karate()
	job.Tau, job.Plan.Epsilon = tau.At(0.2), 300
	job.Communities.Property = "arc"
	m, p := testkit.Planned(t, s, job)
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, options(20, simulate.Options{Amplitude: 1, Recover: job.Recover})))(t)
	if e.Right.Rate != 1 || e.RightAnswers.Rate != 1 || e.MeanEMD > 10 {
		t.Errorf("%+v", e.Performance)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := study.Evaluate(ctx, m.Model, p, study.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	s := pair(t)
	job := karate()
	job.Communities.Property = ""
	m, p := testkit.Planned(t, s, job)
	for name, opts := range map[string]study.Options{
		"trials":    {Trials: -1},
		"amplitude": options(1, simulate.Options{Amplitude: 1.5}),
		"NaN":       options(1, simulate.Options{Amplitude: math.NaN()}),
	} {
		if _, err := study.Evaluate(t.Context(), m.Model, p, opts); !errors.Is(err, recovery.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	small := must.Get(run.Load(t.Context(), s, job.Settings, plan.LoadOptions{MemoryLimit: 1000}))(t)
	if _, err := study.Evaluate(t.Context(), small.Model, p, study.Options{}); !errors.Is(err, plan.ErrMemory) {
		t.Errorf("with 1,000 bytes: %v, want ErrMemory", err)
	}
	other := *p
	inner := *p.Plan
	inner.GraphDigest = privacy.Digest{}
	other.Plan = &inner
	if _, err := study.Evaluate(t.Context(), m.Model, &other, study.Options{}); !errors.Is(err, plan.ErrGraphChanged) {
		t.Errorf("another graph: %v, want ErrGraphChanged", err)
	}
}
