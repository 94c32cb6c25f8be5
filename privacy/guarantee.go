// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sentence states the guarantee in words: who is protected, moving what by how
// much, against whom, at which ε and δ, and what is not protected.
func (p *Plan) Sentence() string {
	var b strings.Builder
	distance := "hops"
	if p.Metric != "hops" && p.Metric != "" {
		distance = fmt.Sprintf("units of %q", p.Metric)
	}
	fmt.Fprintf(&b, "Whoever could be the source is protected: take any two source patterns of equal total mass that become equal "+
		"when mass is moved along the relationships of the graph, mass times distance together at most %s %s. ",
		short(p.Alpha), distance)
	subject := "all published values together"
	if p.Guarantee == PerSensor {
		subject = "the published value of each single sensor"
	}
	fmt.Fprintf(&b, "For every event about %s, its probability under the one pattern is at most e^%s (%s) times its probability under the other, plus %s: "+
		"(ε, δ)-differential privacy with ε = %s and δ = %s. ",
		subject, short(p.Epsilon), ratioWords(p.Epsilon), short(p.Delta), short(p.Epsilon), short(p.Delta))
	if p.Randomness == SystemRandomness {
		b.WriteString("This holds against anyone who sees what is published, whatever else they know and however long they compute, for this release by itself. ")
	} else {
		b.WriteString("This holds for this release by itself against anyone without the master secret whose computing power cannot break HMAC-SHA-256 and ChaCha20 " +
			"(computational differential privacy); whoever holds the master secret can remove the noise exactly. ")
	}
	if p.Guarantee == PerSensor {
		b.WriteString(p.jointWords())
	}
	b.WriteString("Not protected: the graph and the parameters, the total mass (that there is a source at all), ")
	if p.ComponentCount > 1 {
		fmt.Fprintf(&b, "in which of the graph's %d components the mass is, ", p.ComponentCount)
	} else {
		b.WriteString("the graph's component that holds the mass, ")
	}
	b.WriteString("and sources further apart than that. Several releases of the same data add up; the ledger counts them.")
	return b.String()
}

// jointWords says what the values promise together under the PerSensor guarantee.
func (p *Plan) jointWords() string {
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

// ratioWords writes e^ε.
func ratioWords(eps float64) string {
	if eps > 20 {
		return "more than " + strconv.FormatFloat(1e8, 'g', -1, 64)
	}
	return "about " + strconv.FormatFloat(math.Exp(eps), 'g', 4, 64)
}
