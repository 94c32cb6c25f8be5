// SPDX-License-Identifier: Apache-2.0

package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// Performance is what many trials say of one plan's noise.
type Performance struct {
	SensorCount int `json:"sensorCount"`
	report.Noise

	// Right is how often the community that ranks first holds the source.
	Right Proportion `json:"right"`
	// Detected is how often a source is found: the other trials end with "no sign of a source".
	Detected Proportion `json:"detected"`
	// Answered is how often a source is found and a community named; Unanswered is the number of
	// trials that end with "no sign of a source" or "no community stands out". RightAnswers is how often a named
	// community holds the source; nil: none was named.
	Answered     Proportion  `json:"answered"`
	Unanswered   int         `json:"unanswered"`
	RightAnswers *Proportion `json:"rightAnswers,omitempty"`

	Calibration Calibration `json:"calibration"`
	// Coverage is how often the 95 % credible set of nodes holds the source, and
	// CredibleSetSize its mean number of nodes.
	Coverage        Proportion `json:"coverage"`
	CredibleSetSize float64    `json:"credibleSetSize"`
	// KnownMassSetSize is CredibleSetSize under a posterior that knows the amplitude, 1.
	KnownMassSetSize float64 `json:"credibleSetSizeKnownMass"`
	// MeanEMD is the mean earth mover's distance from the source to the posterior within
	// its component, in units of the metric, and Elsewhere the mean share of the posterior
	// in other components, to which there is no distance.
	MeanEMD   float64 `json:"meanEmd"`
	Elsewhere float64 `json:"meanElsewhere"`
	// Communities is how each community is served, in their order.
	Communities []CommunityPerformance `json:"communities,omitempty"`
}

// CommunityPerformance is how well the sources of one community are found, and what a
// report that names it is worth.
type CommunityPerformance struct {
	report.CommunityAccuracy
	// Coverage is how often the 95 % credible set holds a source from here, and
	// CredibleSetSize its mean number of nodes; nil: no trial had one.
	Coverage        *Proportion `json:"coverage,omitempty"`
	CredibleSetSize *float64    `json:"credibleSetSize,omitempty"`
	// Named is the number of trials in which this community ranks first, MeanConfidence
	// the mean probability that it then has, and RightNamed how often it then holds the
	// source; nil: it never does.
	Named          int         `json:"named"`
	MeanConfidence *float64    `json:"meanConfidence,omitempty"`
	RightNamed     *Proportion `json:"rightNamed,omitempty"`
}

// Proportion is the share of the trials with a property, with its 95 % score interval.
type Proportion struct {
	Rate  float64 `json:"rate"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Calibration compares confidence, the probability that the posterior gives to the
// community that ranks first, with how often that is right.
type Calibration struct {
	MeanConfidence float64 `json:"meanConfidence"`
	// Error is the expected calibration error over bins of equal width,
	//
	//	Σ_bins |trials right − sum of confidence| / trials,
	//
	// which is above 0 by chance alone. Lower and Upper are its 95 % basic bootstrap
	// interval, from 0 where Error is within Limit, and up to Error at least.
	Error float64 `json:"expectedCalibrationError"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// Chance and Limit are the mean and the 95 % quantile of Error if every confidence
	// were exactly right, by simulation. Error above Limit speaks against that.
	Chance float64 `json:"chance"`
	Limit  float64 `json:"limit"`
	Bins   []Bin   `json:"bins"` // that hold a trial
}

// Bin is one bar of the reliability diagram.
type Bin struct {
	From       float64    `json:"from"`
	To         float64    `json:"to"`
	Count      int        `json:"count"`
	Confidence float64    `json:"confidence"` // mean
	Right      Proportion `json:"right"`
}

// Summarize says what trials show. The seed is that of the bootstrap. It returns
// [recovery.ErrInvalid] for no trial.
func Summarize(trials []simulate.Trial, seed uint64) (*Performance, error) {
	if len(trials) == 0 {
		return nil, fmt.Errorf("%w: no trial to summarise", recovery.ErrInvalid)
	}
	x := sample(trials)
	f := &Performance{
		Right: x.share(right), Answered: x.share(answered), Calibration: calibrate(trials, seed),
		Detected:     x.share(func(t *simulate.Trial) bool { return t.Detected }),
		Coverage:     x.share(covered),
		RightAnswers: x.that(answered).shareOrNil(right), Unanswered: len(x) - x.count(answered),
		CredibleSetSize: x.mean(setSize), KnownMassSetSize: x.mean(knownSetSize), MeanEMD: x.mean(distance), Elsewhere: x.mean(elsewhere),
	}
	return f, nil
}

// byCommunity says what trials show of each community, in their order.
func byCommunity(trials []simulate.Trial, part community.Partition) []CommunityPerformance {
	list, from, named := make([]CommunityPerformance, part.Count), make([]sample, part.Count), make([]sample, part.Count)
	for _, t := range trials {
		named[t.Named] = append(named[t.Named], t)
		if t.Source >= 0 {
			c := part.Labels[t.Source]
			from[c] = append(from[c], t)
		}
	}
	for c, order := range part.Orders() {
		p := &list[c]
		p.CommunityID, p.Size, p.Trials, p.Upper = c, order, len(from[c]), 1
		if part.Names != nil {
			p.Name = part.Names[c]
		}
		if found := from[c].shareOrNil(right); found != nil {
			p.Probability, p.Lower, p.Upper = found.Rate, found.Lower, found.Upper
		}
		p.Coverage, p.CredibleSetSize = from[c].shareOrNil(covered), from[c].meanOrNil(setSize)
		p.Named, p.RightNamed = len(named[c]), named[c].shareOrNil(right)
		p.MeanConfidence = named[c].meanOrNil(func(t *simulate.Trial) float64 { return t.Confidence })
	}
	return list
}

// sample is some trials.
type sample []simulate.Trial

func right(t *simulate.Trial) bool    { return t.Right }
func answered(t *simulate.Trial) bool { return t.Answered }
func covered(t *simulate.Trial) bool  { return t.Covered }

func setSize(t *simulate.Trial) float64      { return float64(t.CredibleSetSize) }
func knownSetSize(t *simulate.Trial) float64 { return float64(t.KnownMassSetSize) }
func distance(t *simulate.Trial) float64     { return t.Distance }
func elsewhere(t *simulate.Trial) float64    { return t.Elsewhere }

// that are the trials with a property.
func (x sample) that(holds func(*simulate.Trial) bool) (out sample) {
	for k := range x {
		if holds(&x[k]) {
			out = append(out, x[k])
		}
	}
	return out
}

func (x sample) count(holds func(*simulate.Trial) bool) int { return len(x.that(holds)) }

func (x sample) share(holds func(*simulate.Trial) bool) Proportion {
	return proportion(x.count(holds), len(x))
}

func (x sample) mean(of func(*simulate.Trial) float64) (mean float64) {
	for k := range x {
		mean += of(&x[k]) / float64(len(x))
	}
	return mean
}

// shareOrNil is share, or nil of no trial.
func (x sample) shareOrNil(holds func(*simulate.Trial) bool) *Proportion {
	if len(x) == 0 {
		return nil
	}
	p := x.share(holds)
	return &p
}

// meanOrNil is a mean, or nil of no trial.
func (x sample) meanOrNil(of func(*simulate.Trial) float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	sum := 0.0
	for k := range x {
		sum += of(&x[k])
	}
	sum /= float64(len(x))
	return &sum
}

func proportion(k, n int) Proportion {
	lower, upper := report.ScoreInterval(k, n)
	return Proportion{Rate: float64(k) / float64(n), Lower: lower, Upper: upper}
}

const (
	binCount  = 10
	resamples = 1000
)

// histogram counts right trials and adds up confidence, by bin.
type histogram [binCount]struct {
	count, right int
	confidence   float64
}

func (t *histogram) add(confidence float64, right bool) {
	b := &t[min(binCount-1, int(binCount*confidence))]
	b.count++
	b.confidence += confidence
	if right {
		b.right++
	}
}

// error is the expected calibration error.
func (t *histogram) error() float64 {
	sum, n := 0.0, 0
	for _, b := range t {
		sum, n = sum+math.Abs(float64(b.right)-b.confidence), n+b.count
	}
	return sum / float64(n)
}

// calibrate computes the calibration of trials. The plug-in error is biased upwards,
// most where confidence is calibrated (Roelofs et al. 2020, arXiv:2012.08668), and that
// of a bootstrap sample is biased once more: the basic interval 2e − q corrects for it.
func calibrate(trials []simulate.Trial, seed uint64) Calibration {
	var t histogram
	c := Calibration{Bins: []Bin{}}
	for _, x := range trials {
		t.add(x.Confidence, x.Right)
		c.MeanConfidence += x.Confidence / float64(len(trials))
	}
	for i, b := range t {
		if b.count > 0 {
			c.Bins = append(c.Bins, Bin{
				From: float64(i) / binCount, To: float64(i+1) / binCount, Count: b.count,
				Confidence: b.confidence / float64(b.count), Right: proportion(b.right, b.count),
			})
		}
	}
	c.Error = t.error()
	random := rand.New(rand.NewPCG(seed, math.MaxUint64))
	again, perfect := make([]float64, resamples), make([]float64, resamples)
	for r := range resamples {
		var boot, ideal histogram
		for _, x := range trials {
			drawn := trials[random.IntN(len(trials))]
			boot.add(drawn.Confidence, drawn.Right)
			ideal.add(x.Confidence, random.Float64() < x.Confidence)
		}
		again[r], perfect[r] = boot.error(), ideal.error()
		c.Chance += perfect[r] / resamples
	}
	slices.Sort(again)
	slices.Sort(perfect)
	c.Lower, c.Upper = max(0, 2*c.Error-quantile(again, .975)), max(c.Error, 2*c.Error-quantile(again, .025))
	if c.Limit = quantile(perfect, .95); c.Error <= c.Limit {
		c.Lower = 0
	}
	return c
}

// quantile returns the empirical p-quantile of sorted values: the least that a share p of
// them does not exceed.
func quantile(sorted []float64, p float64) float64 {
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}
