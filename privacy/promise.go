// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"strings"
)

// Promise is what ε and δ of a plan are of, for anyone who states them without
// [Plan.Sentence].
type Promise struct {
	Guarantee string `json:"guaranteeOf"` // joint or perSensor
	// Together is ε of all values at the plan's δ, rounded up, where the promise is of each
	// sensor alone. It is for information; "": beyond what is computed, or the promise is joint.
	Together string `json:"epsilonTogether,omitempty"`
	// Condition is of which process the promise holds; "": of any, since it is computed.
	Condition string `json:"condition,omitempty"`
}

// Promise returns what ε and δ of the plan are of, with the numbers of [Plan.Sentence].
func (p *Plan) Promise() Promise {
	q := Promise{Guarantee: p.Guarantee.String(), Condition: p.shortCondition()}
	if p.Guarantee == PerSensor {
		if eps, err := GDPEpsilon(p.JointMu, p.Delta); err == nil {
			q.Together = shortUp(eps)
		}
	}
	return q
}

// PerSensor reports whether the promise is of each sensor alone.
func (q Promise) PerSensor() bool { return q.Guarantee == PerSensor.String() }

// Of continues "ε = 4" with what it is of, "" where it is all values together.
func (q Promise) Of() string {
	switch {
	case !q.PerSensor():
		return ""
	case q.Together == "":
		return "of any single sensor's value; of several together nothing is promised"
	}
	return "of any single sensor's value; together all sensors promise ε = " + q.Together
}

// Qualified is all that limits the promise, "" where nothing does.
func (q Promise) Qualified() string {
	var parts []string
	for _, s := range []string{q.Of(), q.Condition} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// shortCondition is [Plan.condition] as part of a sentence.
func (p *Plan) shortCondition() string {
	if !p.Measured() {
		return ""
	}
	u := p.Uncertainty
	if !u.Any() {
		return fmt.Sprintf("as far as the process is the model, with τ = %s and the stated weights", short(p.Tau))
	}
	tau := "τ = " + short(p.Tau)
	if u.TauFrom > 0 {
		tau = fmt.Sprintf("every τ from %s to %s", short(u.TauFrom), short(u.TauTo))
	}
	parts := append([]string{tau}, u.errors()...)
	switch {
	case u.Alternatives == 1:
		parts = append(parts, "the graph or the one listed beside it")
	case u.Alternatives > 1:
		parts = append(parts, fmt.Sprintf("the graph or one of the %d listed beside it", u.Alternatives))
	}
	return "for " + strings.Join(parts, ", and for ") + ", as far as the process is the model beside that"
}
