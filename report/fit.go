// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strings"
)

// Presence says whether there is a source at all: a test against measurements that are
// simulated without one.
type Presence struct {
	Detected bool `json:"detected"`
	// Probability is that there is a source, where one is as likely as none before the measurements; 1 where one is supposed.
	// It is a factor of every probability of a node or community in the report.
	Probability float64  `json:"probability"`
	PValue      float64  `json:"pValue"`                     // of no source
	FalseAlarm  float64  `json:"falseAlarm"`                 // rate at which a source is found where there is none; 1: one is supposed
	Threshold   *float64 `json:"logOddsThreshold,omitempty"` // that logOddsNoSource must exceed
	Trials      int      `json:"trials"`
}

// P-values from which a fit is poor, and none.
const (
	PoorFit = 0.05
	NoFit   = 0.001
)

// Fit says whether the sources that the answer supposes explain the measurements.
type Fit struct {
	PValue       float64 `json:"pValue"`
	Method       string  `json:"method"` // simulated, or bound: the p-value is at most this
	Trials       int     `json:"trials,omitempty"`
	Residual     float64 `json:"residual"` // squared, in units of the noise; that of noise alone is near measurements
	Measurements int     `json:"measurements"`
	// Alternatives are other explanations, the best first, where the fit is poor.
	Alternatives []Alternative `json:"alternatives,omitempty"`
}

// Alternative is another explanation than one source under the model.
type Alternative struct {
	Name        string  `json:"name"`
	LogEvidence float64 `json:"logEvidence"` // against one source under the model
}

// Names of alternatives.
const (
	SecondSource      = "a second source"
	UniformBackground = "a uniform background"
)

// NoSource stands in a history in place of the community of a run that found no source.
const NoSource = "no sign of a source"

// Detected reports whether there is a source, where that was tested.
func (r *Report) Detected() bool { return r.Presence == nil || r.Presence.Detected }

// sourceProbability is the probability that there is a source, 1 where that was not asked.
func (r *Report) sourceProbability() float64 {
	if r.Presence == nil || r.Presence.Probability == 0 {
		return 1
	}
	return r.Presence.Probability
}

// noAnswer says why the measurements name no community and give no probability: there may be no source, or they do
// not fit. It is "" where they may.
func (r *Report) noAnswer() string {
	var said []string
	if p := r.Presence; !r.Detected() {
		said = append(said, fmt.Sprintf("No sign of a source: without one, measurements speak for a source as clearly in %s of cases, "+
			"and a false alarm is allowed in %s.",
			rate(p.PValue), rate(p.FalseAlarm)))
	}
	if f := r.Fit; r.TooManyFaulty() {
		said = append(said, fmt.Sprintf("The measurements do not fit the model: %d of %s are more likely faulty than sound.",
			r.FaultySensors(), Count(r.SensorCount, "sensor")))
	} else if f != nil && f.PValue < NoFit {
		said = append(said, fmt.Sprintf("The measurements do not fit the model (p %s%s).", tailProbability(f.PValue), f.instead()))
	}
	if said == nil {
		return ""
	}
	return strings.Join(said, " ") + " So no place is named."
}

// certainty says how likely it is that there is no source, which every probability allows for; "": hardly.
func (r *Report) certainty() string {
	if p := r.sourceProbability(); p < certain {
		return fmt.Sprintf(" It allows for a chance of %s that there is no source.", Percent(1-p))
	}
	return ""
}

// poorFit says that the measurements hardly fit, "" where they do.
func (r *Report) poorFit() string {
	if f := r.Fit; f != nil && f.PValue < PoorFit {
		return fmt.Sprintf(" The measurements fit the model poorly (p %s%s).", tailProbability(f.PValue), f.instead())
	}
	return ""
}

// instead names the explanation with the most evidence, where that is above a threefold.
func (f *Fit) instead() string {
	if len(f.Alternatives) == 0 || f.Alternatives[0].LogEvidence < math.Log(MinBayesFactor) {
		return "; no other explanation that was weighed is much likelier"
	}
	best := f.Alternatives[0]
	return fmt.Sprintf("; %s would explain them better, by %s", best.Name, factor(best.LogEvidence))
}

// factor writes a ratio of evidence e^x.
func factor(x float64) string {
	if x < math.Log(1000) {
		return fmt.Sprintf("a factor of %.0f", math.Exp(x))
	}
	const most = 1e6
	if x > most*math.Ln10 {
		return fmt.Sprintf("a factor of more than 10^%.0f", most)
	}
	return fmt.Sprintf("a factor of 10^%.0f", math.Floor(x/math.Ln10))
}

// tailProbability writes a p-value.
func tailProbability(p float64) string {
	if p < NoFit {
		return "< 0.001"
	}
	return fmt.Sprintf("= %.2g", p)
}

// rate writes a small probability in percent to two digits, and others as [Percent] does.
func rate(p float64) string {
	if p < 0.01 {
		return fmt.Sprintf("%.2g %%", 100*p)
	}
	return Percent(p)
}
