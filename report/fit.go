// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
)

// Presence says whether there is a source at all: a test against measurements that are
// simulated without one.
type Presence struct {
	Detected bool `json:"detected"`
	// Probability is that there is a source, where one is as likely as none before the measurements; 1 where one is supposed.
	// It is a factor of every probability of a node or community in the report.
	Probability float64 `json:"probability"`
	// SharedOffset is the probability that neighbouring sensors are off together, without that source: 0 where all are sound.
	SharedOffset float64  `json:"sharedOffset,omitempty"`
	PValue       float64  `json:"pValue"`                     // of no source
	FalseAlarm   float64  `json:"falseAlarm"`                 // rate at which a source is found where there is none; 1: one is supposed
	Threshold    *float64 `json:"logOddsThreshold,omitempty"` // that logOddsNoSource must exceed
	Trials       int      `json:"trials"`
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
	// PValueAllSound is the p-value of all measurements, where those of suspect sensors are left out of PValue.
	PValueAllSound *float64 `json:"pValueAllSound,omitempty"`
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
	SharedOffset      = "neighbouring sensors that are off together"
	Answers           = "answers of yes or no (--answer-property)"
	OtherProcess      = "a process that is not the model (--operator FILE, where it is known)"
)

// MinBayesFactor is the ratio of posterior to prior odds from which a community is
// named. It is a convention: a factor of 3 turns even odds into 75 %.
const MinBayesFactor = 3

// least is the least p-value at which faults are believed: of those that are independent, and of what the others measured, which is
// asked to fit better where some are left out because they do not.
const least = .01

// Fails reports whether the measurements do not fit the model at all.
func (f *Fit) Fails() bool {
	return f != nil && (f.PValue < NoFit || f.PValue < least && f.PValueAllSound != nil && *f.PValueAllSound < NoFit)
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
