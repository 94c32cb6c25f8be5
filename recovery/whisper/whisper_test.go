// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// plain trusts the likelihood as it is.
func plain(flip float64) Tempering {
	return Tempering{Flip: flip, Classes: []Class{{Exponent: 1, People: 1, Deviation: 1, Weights: [features]float64{1}}}}
}

// town is a block model with its communities.
func town(t *testing.T, n int) (*graph.Graph, []int) {
	t.Helper()
	g, labels, err := graph.SBM(n, 4, 24/float64(n), 3/float64(n), 5)
	if err != nil {
		t.Fatal(err)
	}
	return g, labels
}

// located returns the results of those who say yes.
func located(t *testing.T, m *Model, temper Tempering, yes [][]int32, o LocateOptions) ([]Result, error) {
	t.Helper()
	out := make([]Result, len(yes))
	return out, m.locate(t.Context(), temper, yes, o, func(k int, r Result) { out[k] = r })
}

// score counts results of trials.
func score(m *Model, trials []trial, results []Result) Evaluation {
	s := tally{m: m, trials: trials, level: .05}
	for k, r := range results {
		s.add(k, r)
	}
	return s.evaluation()
}

// The posterior of all answers of five people, one of whom was not asked, is that of the product over people, and their evidence has
// mean 1 where nobody has heard: both by enumeration.
func TestLikelihood(t *testing.T) {
	g := weighted(t, 5, graph.Edge{U: 0, V: 1, Weight: 1}, graph.Edge{U: 1, V: 2, Weight: 2}, graph.Edge{U: 2, V: 3, Weight: 1},
		graph.Edge{U: 3, V: 4, Weight: 1}, graph.Edge{U: 0, V: 2, Weight: .5})
	const flip = .2
	for name, o := range map[string]Options{"si": {}, "reach": {Reach: 2}} {
		t.Run(name, func(t *testing.T) {
			o.Flip, o.Labels, o.Asked = flip, []int{0, 0, 1, 1, 1}, []bool{true, true, false, true, true}
			m := newModel(t, g, o)
			columns := columnsOf(m)
			var all [][]Answer
			for code := range 16 {
				a := []Answer{No, No, NoAnswer, No, No}
				for bit, i := range []int{0, 1, 3, 4} {
					if code>>bit&1 == 1 {
						a[i] = Yes
					}
				}
				all = append(all, a)
			}
			results := must.Get(m.Locate(t.Context(), plain(flip), all, LocateOptions{}))(t)
			mean := 0.0
			for code, a := range all {
				nobody, weights, sum := 1.0, make([]float64, 5), 0.0
				for i := range weights {
					for _, x := range columns[i] {
						p := 1 / float64(len(columns[i]))
						for s, said := range a {
							switch q := flip + (1-2*flip)*x[s]; said {
							case Yes:
								p *= q
							case No:
								p *= 1 - q
							}
						}
						weights[i] += p
					}
					sum += weights[i]
				}
				for _, said := range a {
					switch said {
					case Yes:
						nobody *= flip
					case No:
						nobody *= 1 - flip
					}
				}
				r := results[code]
				for i, w := range weights {
					if math.Abs(r.Probability[i]-w/sum) > 1e-5 {
						t.Errorf("%v: node %d has %v, want %v", a, i, r.Probability[i], w/sum)
					}
				}
				if got := r.Probability[0] + r.Probability[1]; math.Abs(got-r.Community[0]) > 1e-9 {
					t.Errorf("%v: nodes of the community have %v, it %v", a, got, r.Community[0])
				}
				if want := math.Log(sum / 5 / nobody); math.Abs(r.Presence.LogEvidence-want) > 1e-5 {
					t.Errorf("%v: evidence %v, want %v", a, r.Presence.LogEvidence, want)
				}
				mean += nobody * math.Exp(r.Presence.LogEvidence)
			}
			if math.Abs(mean-1) > 1e-5 {
				t.Errorf("where nobody has heard the evidence has mean %v", mean)
			}
		})
	}
}

// A tempering, its posterior and an evaluation have the same bits at any number of workers.
func TestSameBits(t *testing.T) {
	g, labels := town(t, 200)
	m := newModel(t, g, Options{Labels: labels})
	var want []any
	for _, workers := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(workers)
		defer runtime.GOMAXPROCS(before)
		tempering := must.Get(m.Temper(t.Context(), 3, 300))(t)
		answers := slices.Repeat([]Answer{No, No, Yes, No}, 50)
		results := must.Get(m.Locate(t.Context(), tempering, [][]Answer{answers}, LocateOptions{Nulls: 19, Seed: 1}))(t)
		e := must.Get(m.Evaluate(t.Context(), tempering, EvaluateOptions{Trials: 30, Seed: 7}))(t)
		if got := []any{tempering, results, e}; want == nil {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: other bits", workers)
		}
	}
}

// On fresh cascades a tempering has a better log score than the likelihood as it is, names the right community as often as the
// unbiased count of a community, whose sizes are equal, and is calibrated; its file says the same.
func TestTemper(t *testing.T) {
	g, labels := town(t, 200)
	m := newModel(t, g, Options{Labels: labels, Flip: 1 / (1 + math.E)})
	tempering := must.Get(m.Temper(t.Context(), 1, 1500))(t)
	text := must.Get(json.Marshal(tempering))(t)
	var read Tempering
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, tempering) {
		t.Errorf("the tempering is read as %v (%v)", read, err)
	}
	trials := m.simulate(600, func(_ int, random *rand.Rand, c *Cascades) trial {
		source := random.IntN(200)
		heard, law := m.mixed(source, random, c)
		return trial{source, len(heard), m.flipped(heard, random), law}
	}, 99)
	var yes [][]int32
	counted := 0.0
	for _, x := range trials {
		yes = append(yes, x.yes)
		if z, _ := m.unbiased(x.yes); labels[x.source] == slices.Index(z, slices.Max(z)) {
			counted++
		}
	}
	logScore := func(temper Tempering) (float64, Evaluation) {
		results := must.Get(located(t, m, temper, yes, LocateOptions{}))(t)
		s := 0.0
		for k, r := range results {
			s += math.Log(r.Community[labels[trials[k].source]]) / float64(len(results))
		}
		return s, score(m, trials, results)
	}
	bare, _ := logScore(plain(m.flip))
	got, e := logScore(read)
	t.Logf("log score %.3f, as it is %.3f; the unbiased count is right in %.3f; %+v", got, bare, counted/600, e)
	if got < bare+.02 || got < -math.Log(4)+.1 {
		t.Errorf("log score %v, as it is %v", got, bare)
	}
	if e.Right < counted/600-.02 || e.CalibrationError > .07 || e.ConfidentAndWrong > .03 {
		t.Errorf("right in %v, calibration error %v, confident and wrong in %v", e.Right, e.CalibrationError, e.ConfidentAndWrong)
	}
}

// Where 3 of 100 rumours of one law are confident and wrong, and none of 300 of another, the class is capped; with 2 it is not. A capped
// class gives the likeliest community .9, and the others keep their shares.
func TestCapped(t *testing.T) {
	phi, lessons := make([][][features]float64, 400), make([]lesson, 400)
	for k := range phi {
		phi[k], lessons[k] = [][features]float64{{5}, {0}, {1}}, lesson{trial: k, law: SI}
		if k < 100 {
			lessons[k].law = IC
		}
	}
	lessons[3].truth, lessons[50].truth = 1, 2
	if tooSure(lessons, phi, [2 * features]float64{1}) {
		t.Error("2 of 100 are taken for too many")
	}
	if lessons[70].truth = 1; !tooSure(lessons, phi, [2 * features]float64{1}) {
		t.Error("3 of 100 are not taken for too many")
	}

	for _, sure := range [][]float64{{1, 3e-20, 1e-20}, {1, 0, 0}} {
		if capConfidence(sure); sure[0] != .9 || math.Abs(floats.Sum(sure)-1) > 1e-9 {
			t.Errorf("one that is certain to rounding becomes %v", sure)
		}
	}
	g, labels := town(t, 60)
	m := newModel(t, g, Options{Labels: labels, Flip: .05})
	yes := [][]int32{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}
	tempering := plain(.05)
	free := must.Get(located(t, m, tempering, yes, LocateOptions{}))(t)[0].Community
	tempering.Classes[0].Capped = true
	held := must.Get(located(t, m, tempering, yes, LocateOptions{}))(t)[0].Community
	best := floats.MaxIdx(free)
	for c, p := range free {
		want := .9
		if c != best {
			want = .1 * p / (1 - free[best])
		}
		if free[best] < .95 || math.Abs(held[c]-want) > 1e-9 {
			t.Errorf("community %d gets %v of a capped class, want %v; without it %v", c, held[c], want, p)
		}
	}
}

// Who started a rumour is named no more surely than they are found: without the exponent of people the likeliest one has .19 and is
// right in .15, and the set of 95 % holds .93.
func TestPeople(t *testing.T) {
	g, labels := town(t, 240)
	m := newModel(t, g, Options{Labels: labels, Flip: 1 / (1 + math.Exp(2))})
	tempering := must.Get(m.Temper(t.Context(), 1, 1500))(t)
	trials := m.simulate(600, func(_ int, random *rand.Rand, c *Cascades) trial {
		source := random.IntN(240)
		heard, law := m.mixed(source, random, c)
		return trial{source, len(heard), m.flipped(heard, random), law}
	}, 99)
	var yes [][]int32
	for _, x := range trials {
		yes = append(yes, x.yes)
	}
	results := must.Get(located(t, m, tempering, yes, LocateOptions{}))(t)
	said, right, held := 0.0, 0.0, score(m, trials, results).Covered
	for k, r := range results {
		best := floats.MaxIdx(r.Probability)
		said += r.Probability[best] / 600
		if best == trials[k].source {
			right += 1. / 600
		}
	}
	t.Logf("the likeliest person has %.3f and is right in %.3f; the set of 95 %% holds %.3f", said, right, held)
	if said > right+.03 || held < .94 {
		t.Errorf("the likeliest person has %.3f and is right in %.3f; the set of 95 %% holds %.3f", said, right, held)
	}
}

// On tight circles rumours by SI are placed right far more often than by independent cascades, and answers hardly tell which it is:
// what is fitted to either alone is calibrated for it, and nothing that is fitted to both can be.
func TestLawUnknown(t *testing.T) {
	g, labels, err := graph.SBM(300, 20, .85, .004, 5)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, g, Options{Labels: labels, Flip: 1 / (1 + math.Exp(2))})
	mixed, err := m.Temper(t.Context(), 1, 1500)
	if err != nil {
		t.Fatal(err)
	}
	of := func(tempering Tempering, trials []trial) Evaluation {
		var yes [][]int32
		for _, x := range trials {
			yes = append(yes, x.yes)
		}
		results, err := located(t, m, tempering, yes, LocateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return score(m, trials, results)
	}
	var under [2]Evaluation
	for k, nature := range []Nature{{Law: SI}, {Law: IC, Passing: .15}} {
		trials := m.simulate(2000, func(_ int, random *rand.Rand, c *Cascades) trial {
			for {
				source := random.IntN(300)
				if heard := c.Run(nature, source, Cut{Size: 10 + random.IntN(90)}, random); len(heard) >= 10 {
					return trial{source, len(heard), m.flipped(heard, random), nature.Law}
				}
			}
		}, 7)
		table, err := m.featureTable(t.Context(), trials[:1000], m.order, slices.Repeat([]float64{1}, 300))
		if err != nil {
			t.Fatal(err)
		}
		under[k] = of(mixed, trials[1000:])
		alone := of(m.fit(trials[:1000], 300, table), trials[1000:])
		t.Logf("%v: fitted to both %+v; to it alone %+v", nature.Law, under[k], alone)
		if alone.CalibrationError > .08 || max(alone.ConfidentAndWrong, under[k].ConfidentAndWrong) > .02 {
			t.Errorf("%v: fitted to it alone %+v; to both %+v", nature.Law, alone, under[k])
		}
	}
	apart := func(of func(e Evaluation) float64) float64 { return of(under[0]) - of(under[1]) }
	right, said := apart(func(e Evaluation) float64 { return e.Right }), apart(func(e Evaluation) float64 { return e.Confidence })
	if right < said+.1 {
		t.Errorf("under the laws right differs by %.2f and confidence by %.2f", right, said)
	}
}

// On a sample of the sources and with coarse columns, as on large graphs, rumours are placed as often and as surely as on all of them,
// and the set of 95 % still holds who started it; one vector of answers tells apart the people of the likeliest communities. The bits
// are the same at any number of workers.
func TestLarge(t *testing.T) {
	g, labels, err := graph.SBM(2000, 20, 8./100, 2./1900, 5)
	if err != nil {
		t.Fatal(err)
	}
	const count = 150
	o := Options{Labels: labels, Flip: 1 / (1 + math.Exp(2))}
	var of [2]Evaluation
	for k := range of {
		m := newModel(t, g, o)
		if k == 1 {
			m.sampled, m.negligible = true, coarse
		}
		tempering := must.Get(m.Temper(t.Context(), 1, 400))(t)
		of[k] = must.Get(m.Evaluate(t.Context(), tempering, EvaluateOptions{Trials: count, Seed: 9}))(t)
		if k == 0 {
			continue
		}
		said := m.simulate(1, func(_ int, random *rand.Rand, c *Cascades) trial {
			return trial{yes: m.flipped(c.Run(Nature{}, 70, Cut{Size: 60}, random), random)}
		}, 4)[0].yes
		var first []Result
		for _, workers := range []int{1, 3} {
			before := runtime.GOMAXPROCS(workers)
			results, err := located(t, m, tempering, [][]int32{said}, LocateOptions{Nulls: 19})
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = results
			} else if !reflect.DeepEqual(first, results) {
				t.Errorf("%d workers: other bits", workers)
			}
		}
		best := floats.MaxIdx(first[0].Community)
		sum, distinct := 0.0, map[float64]bool{}
		for i, c := range labels {
			if sum += first[0].Probability[i]; c == best {
				distinct[first[0].Probability[i]] = true
			}
		}
		if math.Abs(sum-1) > 1e-9 || len(distinct) < 50 || first[0].Exact <= temperSources/2 {
			t.Errorf("probabilities of sum %v, %d of them in the likeliest community, %d people exact", sum, len(distinct), first[0].Exact)
		}
	}
	t.Logf("all sources: %+v; sampled: %+v", of[0], of[1])
	// The trials are the same; where a tenth of them differ, a difference of .05 is two standard deviations and more.
	if of[1].Right < of[0].Right-.05 || of[1].CalibrationError > of[0].CalibrationError+.05 || of[1].Covered < .9 {
		t.Errorf("sampled: %+v; all sources: %+v", of[1], of[0])
	}
}

// The number of people who have heard is unbiased, with the standard deviation that is said, and false alarms come no more often
// than they may.
func TestCountAndAlarms(t *testing.T) {
	g, labels := town(t, 120)
	m := newModel(t, g, Options{Labels: labels, Flip: .3})
	const trials, level, truth = 2000, .05, 30
	var heard []int32
	for i := range truth {
		heard = append(heard, int32(4*i))
	}
	drawn := m.simulate(trials, func(k int, random *rand.Rand, _ *Cascades) trial {
		if k%2 == 0 {
			return trial{yes: m.flipped(heard, random)}
		}
		return trial{yes: m.flipped(nil, random)}
	}, 4)
	var yes [][]int32
	for _, x := range drawn {
		yes = append(yes, x.yes)
	}
	results := must.Get(located(t, m, plain(.3), yes, LocateOptions{Nulls: 199, Seed: 5}))(t)
	var sum, square, alarms float64
	for k, r := range results {
		if k%2 == 0 {
			sum, square = sum+r.Heard, square+(r.Heard-truth)*(r.Heard-truth)
		} else if r.Presence.Nobody <= level {
			alarms++
		}
	}
	const half = trials / 2
	said := results[0].HeardError
	if off := sum/half - truth; math.Abs(off) > 4*said/math.Sqrt(half) {
		t.Errorf("%v people have heard on average, want %d", sum/half, truth)
	}
	if ratio := math.Sqrt(square/half) / said; math.Abs(ratio-1) > .1 {
		t.Errorf("the standard deviation is %v of what is said", ratio)
	}
	// The nulls are common to all trials, so that their own quantile varies too.
	if most := half*level + 4*math.Sqrt(half*level+half*half*level/200); alarms > most {
		t.Errorf("%v false alarms in %d, want at most %.0f", alarms, half, most)
	}
}

// A source lies in the component of those who say yes; isolated people and components below the smallest size are no trouble.
func TestComponents(t *testing.T) {
	var edges []graph.Edge
	for i := range 7 {
		edges = append(edges, graph.Edge{U: i, V: i + 1, Weight: 1}, graph.Edge{U: 8 + i, V: 9 + i, Weight: 1})
	}
	edges = append(edges, graph.Edge{U: 16, V: 17, Weight: 1})
	g := weighted(t, 19, edges...)
	labels, _ := g.Components()
	o := Options{Flip: .1}
	for _, c := range labels {
		o.Labels = append(o.Labels, int(c))
	}
	m := newModel(t, g, o)
	answers := slices.Repeat([]Answer{No}, 19)
	for i := 9; i < 14; i++ {
		answers[i] = Yes
	}
	results := must.Get(m.Locate(t.Context(), plain(.1), [][]Answer{answers}, LocateOptions{Nulls: 99}))(t)
	r := results[0]
	if !(r.Community[1] > .95) || !(r.Presence.Nobody <= .02) || !(r.Among >= 1 && r.Among < 9) || r.Credible > 9 {
		t.Errorf("%+v", r)
	}
	if r.Asked != 19 || r.Yes != 5 {
		t.Errorf("%d of %d say yes", r.Yes, r.Asked)
	}
}

// More answers are true, more rumours are placed right: the largest flip probability for a share is found, and none for too large a one.
func TestLargestFlip(t *testing.T) {
	g, labels := town(t, 120)
	flips := []float64{1e-4, .1, .25, .4}
	o, eo := Options{Labels: labels}, EvaluateOptions{Trials: 150, Seed: 3, From: 12, To: 12, Nature: &Nature{}}
	flip, e, ok, err := LargestFlip(t.Context(), g, o, flips, .6, eo)
	if err != nil || !ok || !slices.Contains(flips, flip) || !(e.Right >= .6) || math.Abs(e.Heard-12) > 1e-9 {
		t.Errorf("%v: %+v, %v (%v)", flip, e, ok, err)
	}
	if flip, e, ok, err = LargestFlip(t.Context(), g, o, flips, 1.01, eo); ok || err != nil || flip != flips[0] || !(e.Right > .7) {
		t.Errorf("%v: %+v, %v (%v)", flip, e, ok, err)
	}
}

func TestRefused(t *testing.T) {
	g, labels := town(t, 40)
	good := Options{Flip: .25, Labels: labels}
	m := newModel(t, g, good)
	for name, spoil := range map[string]func(o *Options){
		"no flips":        func(o *Options) { o.Flip = 0 },
		"half flips":      func(o *Options) { o.Flip = .5 },
		"not a number":    func(o *Options) { o.Flip = math.NaN() },
		"few labels":      func(o *Options) { o.Labels = o.Labels[1:] },
		"negative label":  func(o *Options) { o.Labels = slices.Repeat([]int{-1}, 40) },
		"empty community": func(o *Options) { o.Labels = slices.Repeat([]int{1}, 40) },
		"large label":     func(o *Options) { o.Labels = slices.Repeat([]int{40}, 40) },
		"reach":           func(o *Options) { o.Reach = 41 },
		"negative reach":  func(o *Options) { o.Reach = -1 },
		"few asked":       func(o *Options) { o.Asked = []bool{true} },
	} {
		o := good
		spoil(&o)
		if _, err := New(g, o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var none graph.Builder
	empty := must.Get(none.Graph())(t)
	if _, err := New(empty, Options{Flip: .25}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no nodes: %v", err)
	}
	answers := slices.Repeat([]Answer{No}, 40)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Locate(ended, plain(.25), [][]Answer{answers}, LocateOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	locate := func(temper Tempering, a []Answer, nulls int) error {
		_, err := m.Locate(t.Context(), temper, [][]Answer{a}, LocateOptions{Nulls: nulls})
		return err
	}
	class := func(c Class) error { return locate(Tempering{Flip: .25, Classes: []Class{c}}, answers, 0) }
	twice := slices.Repeat([]Class{{UpTo: 4, Exponent: 1, Deviation: 1}}, 2)
	_, temperError := m.Temper(t.Context(), 1, -1)
	evaluate := func(o EvaluateOptions) error {
		_, err := m.Evaluate(t.Context(), plain(.25), o)
		return err
	}
	_, _, _, flipsError := LargestFlip(t.Context(), g, good, []float64{.3, .2}, .5, EvaluateOptions{})
	for name, err := range map[string]error{
		"few answers":         locate(plain(.25), answers[1:], 0),
		"an odd answer":       locate(plain(.25), append([]Answer{3}, answers[1:]...), 0),
		"a missing answer":    locate(plain(.25), append([]Answer{NoAnswer}, answers[1:]...), 0),
		"negative nulls":      locate(plain(.25), answers, -1),
		"another channel":     locate(plain(.3), answers, 0),
		"no class":            locate(Tempering{Flip: .25}, answers, 0),
		"large exponent":      class(Class{Exponent: 1.1, Deviation: 1}),
		"no exponent":         class(Class{Exponent: math.NaN(), Deviation: 1}),
		"no deviation":        class(Class{Exponent: 1}),
		"no mean":             class(Class{Exponent: 1, Deviation: 1, Mean: math.Inf(1)}),
		"weight":              class(Class{Exponent: 1, Deviation: 1, Weights: [features]float64{math.NaN()}}),
		"slope":               class(Class{Exponent: 1, Deviation: 1, Slopes: [features]float64{1e9}}),
		"order of classes":    locate(Tempering{Flip: .25, Classes: twice}, answers, 0),
		"negative trials":     temperError,
		"flips":               flipsError,
		"evaluation's trials": evaluate(EvaluateOptions{Trials: -1}),
		"sizes":               evaluate(EvaluateOptions{From: 5, To: 4}),
		"too many":            evaluate(EvaluateOptions{From: 5, To: 41}),
		"level":               evaluate(EvaluateOptions{Level: 1}),
		"nature":              evaluate(EvaluateOptions{Nature: &Nature{Law: IC, Passing: 1}}),
		"law":                 evaluate(EvaluateOptions{Nature: &Nature{Law: 7, Passing: .5}}),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing is no special case: no answers, one trial, and a channel that almost never flips.
func TestExtremes(t *testing.T) {
	g, labels := town(t, 40)
	m := newModel(t, g, Options{Flip: 1e-17, Labels: labels})
	if r, err := m.Locate(t.Context(), plain(1e-17), nil, LocateOptions{}); err != nil || len(r) != 0 {
		t.Errorf("no answers: %d results, %v", len(r), err)
	}
	one := must.Get(m.Temper(t.Context(), 1, 1))(t)
	if err := one.Check(1e-17); err != nil {
		t.Errorf("one trial: %v", err)
	}
	r := must.Get(m.Locate(t.Context(), plain(1e-17), [][]Answer{slices.Repeat([]Answer{Yes}, 40)}, LocateOptions{}))(t)[0]
	if sum := floats.Sum(r.Community); !(math.Abs(sum-1) < 1e-9) || math.IsNaN(r.Presence.LogEvidence) {
		t.Errorf("f = 1e-17: communities of %v, presence %v", r.Community, r.Presence)
	}
}
