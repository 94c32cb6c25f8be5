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
	Detected   bool     `json:"detected"`
	PValue     float64  `json:"pValue"`                     // of no source
	FalseAlarm float64  `json:"falseAlarm"`                 // rate at which a source is found where there is none; 1: one is supposed
	Threshold  *float64 `json:"logOddsThreshold,omitempty"` // that logOddsNoSource must exceed
	Trials     int      `json:"trials"`
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
	Tau         float64 `json:"tau,omitempty"`
}

// Names of alternatives.
const (
	SecondSource      = "a second source"
	LouderNoise       = "noise larger than stated"
	UniformBackground = "a uniform background"
	BrokenSensors     = "broken sensors"
	OtherTau          = "another τ"
	WeakerSource      = "a weaker source" // where amplitude 1 is supposed
)

// NoSource stands in a history in place of the community of a run that found no source.
const NoSource = "no sign of a source"

// Detected reports whether there is a source, where that was tested.
func (r *Report) Detected() bool { return r.Presence == nil || r.Presence.Detected }

// qualified puts before an answer what speaks against it: that there may be no source, and
// that the measurements do not fit.
func (r *Report) qualified(answer string) string {
	if f := r.Fit; r.MostlyFaulty() {
		answer = fmt.Sprintf("The measurements do not fit the model: %d of %s are more likely faulty than sound. Taken as they are: %s",
			r.FaultySensors(), Count(r.SensorCount, "sensor"), lowerFirst(answer))
	} else if f != nil && f.PValue < NoFit {
		answer = fmt.Sprintf("The measurements do not fit the model (p %s%s). Taken as they are: %s", tailProbability(f.PValue), f.instead(), lowerFirst(answer))
	} else if f != nil && f.PValue < PoorFit {
		answer += fmt.Sprintf(" The measurements fit the model poorly (p %s%s).", tailProbability(f.PValue), f.instead())
	}
	if !r.Detected() {
		p := r.Presence
		answer = fmt.Sprintf("No sign of a source: without one, measurements speak for a source as clearly in %s of cases, and a false alarm is allowed in %s. Supposing that there is one: %s",
			rate(p.PValue), rate(p.FalseAlarm), lowerFirst(answer))
	}
	return answer
}

// instead names the explanation with the most evidence, where that is above a threefold.
func (f *Fit) instead() string {
	if len(f.Alternatives) == 0 || f.Alternatives[0].LogEvidence < math.Log(MinBayesFactor) {
		return "; no other explanation that was weighed is much likelier"
	}
	best := f.Alternatives[0]
	name := best.Name
	if best.Tau > 0 {
		name = fmt.Sprintf("%s, such as %.3g", name, best.Tau)
	}
	return fmt.Sprintf("; %s would explain them better, by %s", name, factor(best.LogEvidence))
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

// lowerFirst continues a sentence after a colon.
func lowerFirst(s string) string {
	for _, word := range []string{"The ", "There ", "No ", "Of ", "Community "} {
		if strings.HasPrefix(s, word) {
			return strings.ToLower(s[:1]) + s[1:]
		}
	}
	return s
}
