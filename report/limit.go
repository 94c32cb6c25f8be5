// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"
)

// Limit bounds from above how often the community of a single source of mass 1 can be
// named at all, whatever the mechanism and whatever is made of its answer.
type Limit struct {
	// Gaussian holds for every mechanism with the μ-Gaussian privacy of the plan's noise,
	// AnyMechanism for every one that is (ε, δ)-private; nil where ε and δ are those of
	// each sensor alone.
	Gaussian     float64  `json:"gaussian"`
	AnyMechanism *float64 `json:"anyMechanism,omitempty"`
}

// possible reports whether these are probabilities.
func (l *Limit) possible() bool {
	return l.Gaussian > 0 && l.Gaussian <= 1 && (l.AnyMechanism == nil || *l.AnyMechanism >= l.Gaussian && *l.AnyMechanism <= 1)
}

// Clause says what no mechanism exceeds: none with the μ-Gaussian privacy of the noise,
// and none that keeps the guarantee, such as "(1, 1e-05)", which allows more. A bound
// above 99 % is left out.
func (l *Limit) Clause(guarantee string) string {
	text := "no mechanism with the guarantee of this noise is right more than " + percentUp(l.Gaussian) + " of the time"
	if l.AnyMechanism != nil && *l.AnyMechanism <= .99 {
		text += ", and none that is " + guarantee + "-private more than " + percentUp(*l.AnyMechanism)
	}
	return text
}

// percentUp is a bound in per cent, rounded up to a tenth.
func percentUp(x float64) string {
	return strconv.FormatFloat(min(1000, math.Ceil(1000*x))/10, 'f', -1, 64) + " %"
}
