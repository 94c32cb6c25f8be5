// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
	"strings"
)

// Uncertainty is how far the process behind measured readings may be from the public
// model, with the guarantee still holding. The zero value allows nothing.
type Uncertainty struct {
	TauFrom     float64 `json:"tauFrom,omitzero"` // both ends 0: Public.Tau alone
	TauTo       float64 `json:"tauTo,omitzero"`
	WeightError float64 `json:"weightError,omitzero"` // each weight may be off by this share
	// so many listed graphs may be the true one; each has the errors of τ and weights too
	Alternatives int `json:"alternatives,omitzero"`
	// AlternativesDigest is that of those graphs.
	AlternativesDigest Digest `json:"alternativesDigest,omitzero"`
}

// Any reports whether anything is allowed.
func (u Uncertainty) Any() bool { return u != Uncertainty{} }

// Measured reports whether sensors measure the readings themselves: the plan charges no
// numerical error.
func (p *Plan) Measured() bool { return p.EntryError == 0 && p.NormError == 0 }

// validateUncertainty checks what is allowed against the plan.
func (p *Plan) validateUncertainty() error {
	u := p.Uncertainty
	switch {
	case !u.Any():
		return nil
	case !p.Measured():
		return fmt.Errorf("privacy: an uncertainty of the process is declared, and readings are computed: it is for readings that " +
			"sensors measure")
	case p.Guarantee != Joint && u != Uncertainty{TauFrom: u.TauFrom, TauTo: u.TauTo}:
		return fmt.Errorf("privacy: an uncertainty of weights or of listed graphs is certified for the joint guarantee, not for %v; a "+
			"range of tau is for both", p.Guarantee)
	case (u.TauFrom != 0 || u.TauTo != 0) && !(u.TauFrom > 0 && u.TauFrom <= p.Tau && p.Tau <= u.TauTo && u.TauTo <= math.MaxFloat64):
		return fmt.Errorf("privacy: tau may be from %v to %v, want an interval above 0 that holds tau = %v", u.TauFrom, u.TauTo, p.Tau)
	case !(u.WeightError >= 0 && u.WeightError < 1):
		return fmt.Errorf("privacy: the weight error is %v, want a number from 0 to below 1", u.WeightError)
	case u.Alternatives < 0 || (u.Alternatives == 0) != (u.AlternativesDigest == Digest{}):
		return fmt.Errorf("privacy: %d alternative graphs do not go with the digest of them", u.Alternatives)
	}
	return nil
}

// condition says of which readings the guarantee of a measured plan speaks.
func (p *Plan) condition() string {
	if !p.Measured() {
		return ""
	}
	u := p.Uncertainty
	if !u.Any() {
		return fmt.Sprintf("On which condition: it holds for readings that obey the model, in which heat flows along the relationships "+
			"of the graph with their stated "+
			"weights for τ = %s; where the process is another, ε is, too, and can be much larger. ", short(p.Tau))
	}
	tau := "τ = " + short(p.Tau)
	if u.TauFrom > 0 {
		tau = fmt.Sprintf("any τ from %s to %s", short(u.TauFrom), short(u.TauTo))
	}
	parts := append([]string{tau}, u.errors()...)
	along, further := "the relationships of the graph", "is further from the model"
	switch {
	case u.Alternatives == 1:
		along, further = "the relationships of the graph, or of the one listed beside it and not of graphs between them,", "is another"
	case u.Alternatives > 1:
		along, further = fmt.Sprintf("the relationships of the graph, or of one of the %d listed beside it and not of graphs between them,",
			u.Alternatives), "is another"
	}
	return "On which condition: it is certified for heat that flows along " + along + " with " + strings.Join(parts, ", and with ") +
		"; where the process " + further + ", ε can be larger. "
}

// errors are those of weights in words.
func (u Uncertainty) errors() (parts []string) {
	if u.WeightError > 0 {
		parts = append(parts, fmt.Sprintf("every weight, each by itself, up to %s %% below or above what is stated",
			short(math.Round(u.WeightError*1e8)/1e6)))
	}
	return parts
}
