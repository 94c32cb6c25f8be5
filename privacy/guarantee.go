// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sentence states the guarantee in words: what is protected, moving what by how
// much, at which ε and δ, against whom, for how long, and what is not protected.
func (p *Plan) Sentence() string {
	var b strings.Builder
	radius := p.radius()
	fmt.Fprintf(&b, "What is protected: where the sources are. Take any two source patterns of equal total mass, one of which turns "+
		"into the other "+
		"by moving mass along the relationships of the graph, where mass times distance adds up to at most %s. ", radius)
	subject := "all published values together"
	if p.Guarantee == PerSensor {
		subject = "the published value of any single sensor"
	}
	fmt.Fprintf(&b, "Every event about %s is under the one pattern at most e^ε times as likely as under the other, plus δ, "+
		"where ε = %s%s and δ = %s: (ε, δ)-differential privacy. ", subject, short(p.Epsilon), ratioText(p.Epsilon), short(p.Delta))
	b.WriteString(p.condition())
	if p.Randomness == SystemRandomness {
		b.WriteString("Against whom: anyone who sees what is published, whatever else they know and however long they compute. ")
	} else {
		b.WriteString("Against whom: anyone who sees what is published, whatever else they know, unless they hold the master secret " +
			"or can break " +
			"HMAC-SHA-256 or ChaCha20 (computational differential privacy); whoever holds the master secret can remove the noise exactly. ")
	}
	b.WriteString("For what: this release by itself; several releases of the same data add up, and the ledger counts them. ")
	if p.Guarantee == PerSensor {
		b.WriteString(p.jointText())
	}
	b.WriteString("What is not protected: the graph and the parameters; the total mass, and so whether there is a source at all; ")
	if p.ComponentCount > 1 {
		fmt.Fprintf(&b, "which of the graph's %d components holds the mass; ", p.ComponentCount)
	}
	fmt.Fprintf(&b, "and, at this strength, sources further apart than %s%s.", radius, p.distanceText())
	return b.String()
}

// distanceText says how fast the guarantee weakens with distance, where ε there can be
// computed.
func (p *Plan) distanceText() string {
	eps, err := p.EpsilonAt(2)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(": at twice the distance ε is %s at the same δ, and further off it grows faster than the distance", shortUp(eps))
}

// EpsilonAt returns an ε at which the plan is (ε, Delta)-private between sources k ≥ 1
// times as far apart as neighbours. A release that is μ-GDP between neighbours is
// kμ-GDP there; ε itself grows faster than k.
//
// Proof: docs/proofs/neighbours.md.
func (p *Plan) EpsilonAt(k float64) (float64, error) {
	if !(k >= 1) {
		return 0, fmt.Errorf("privacy: sources are %v times as far apart as neighbours, want a number ≥ 1", k)
	}
	return GDPEpsilon(up(k*p.Mu, 1), p.net().Delta)
}

// radius writes α with its unit.
func (p *Plan) radius() string {
	switch {
	case p.Metric != "hops" && p.Metric != "":
		return fmt.Sprintf("%s units of %q", short(p.Alpha), p.Metric)
	case p.Alpha == 1:
		return "1 hop"
	}
	return short(p.Alpha) + " hops"
}

// jointText says what the values promise together under the PerSensor guarantee.
func (p *Plan) jointText() string {
	eps, err := GDPEpsilon(p.JointMu, p.Delta)
	if err != nil {
		return "No promise is made about the values of several sensors seen together. "
	}
	return fmt.Sprintf("No promise is made about the values of several sensors seen together; for information, together they are "+
		"μ-Gaussian private with μ = %s, which at the same δ is ε = %s. ", shortUp(p.JointMu), shortUp(eps))
}

// short writes x as briefly as it round-trips.
func short(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// shortUp writes at least x, to four digits.
func shortUp(x float64) string {
	if x == 0 {
		return "0"
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return strconv.FormatFloat(math.Ceil(x/unit)*unit, 'g', 4, 64)
}

// ratioText writes e^ε, rounded up, where it is a number that says something.
func ratioText(eps float64) string {
	if eps > 20 {
		return ""
	}
	return fmt.Sprintf(" (e^ε is %s)", shortUp(math.Exp(eps)))
}

// condition says of which readings the guarantee of a measured plan speaks.
func (p *Plan) condition() string {
	if !p.Measured() {
		return ""
	}
	u := p.Uncertainty
	if p.Given() {
		return "On which condition: it holds for " + p.operators() + "; where the process is another, ε is, too, and can be much larger. "
	}
	if !u.Any() {
		return fmt.Sprintf("On which condition: it holds for readings that obey the model, in which heat flows along the relationships "+
			"of the graph with their stated "+
			"weights for τ = %s; where the process is another, ε is, too, and can be much larger. ", short(p.Tau))
	}
	along, further := "the relationships of the graph", "is further from the model"
	switch {
	case u.Alternatives == 1:
		along, further = "the relationships of the graph, or of the one listed beside it and not of graphs between them,", "is another"
	case u.Alternatives > 1:
		along, further = fmt.Sprintf("the relationships of the graph, or of one of the %d listed beside it and not of graphs between them,",
			u.Alternatives), "is another"
	}
	return "On which condition: it is certified for heat that flows along " + along + " with " + p.taus("any") +
		"; where the process " + further + ", ε can be larger. "
}

// operators says for which readings the guarantee of a given operator holds.
func (p *Plan) operators() string {
	text := fmt.Sprintf("readings that the given operator %.12s… causes", p.OperatorDigest)
	switch k := p.Uncertainty.Alternatives; {
	case k == 1:
		text += ", or the one listed beside it, or any mixture of the two"
	case k > 1:
		text += fmt.Sprintf(", or one of the %d listed beside it, or any mixture of them", k)
	}
	return text
}

// taus says for which τ the guarantee holds; each is the word before a range.
func (p *Plan) taus(each string) string {
	if u := p.Uncertainty; u.TauFrom > 0 {
		return fmt.Sprintf("%s τ from %s to %s", each, short(u.TauFrom), short(u.TauTo))
	}
	return "τ = " + short(p.Tau)
}

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
	case q.Guarantee == PerPerson.String():
		return "of each person's answer in this round; every further round adds to it"
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
	if p.Given() {
		return "for " + p.operators()
	}
	if !u.Any() {
		return fmt.Sprintf("as far as the process is the model, with τ = %s and the stated weights", short(p.Tau))
	}
	graphs := ""
	switch {
	case u.Alternatives == 1:
		graphs = ", and for the graph or the one listed beside it"
	case u.Alternatives > 1:
		graphs = fmt.Sprintf(", and for the graph or one of the %d listed beside it", u.Alternatives)
	}
	return "for " + p.taus("every") + graphs + ", as far as the process is the model beside that"
}
