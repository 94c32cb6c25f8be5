// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
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

// LimitSentence says what the limit, which is known, means for who chooses a plan at (ε, δ).
func (a *Accuracy) LimitSentence(epsilon, delta float64) string {
	l := a.Limit
	text := fmt.Sprintf("%.0f %% right, chance %.0f %%; no mechanism with the guarantee of this noise is right more than %s of the time",
		100*a.Probability, 100*a.Chance, PercentUp(l.Gaussian))
	if l.AnyMechanism != nil && *l.AnyMechanism <= .99 {
		text += fmt.Sprintf(", and none that is (%v, %v)-private more than %s", epsilon, delta, PercentUp(*l.AnyMechanism))
	}
	switch {
	case 2*(l.Gaussian-a.Chance) < 1-a.Chance:
		text += ": ask for fewer communities, larger ε or smaller α."
	case a.Upper-a.Chance < (l.Gaussian-a.Chance)/2:
		text += ": the guarantee leaves room for another τ, allocation or more sensors."
	default:
		text += "."
	}
	return text
}

// PercentUp is a bound in hundredths, rounded up.
func PercentUp(x float64) string {
	return strconv.FormatFloat(min(100, math.Ceil(100*x)), 'f', 0, 64) + " %"
}
