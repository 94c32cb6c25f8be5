// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
)

// Settings define the diffusion operator, the neighbour relation, and what is read
// without noise. They are public and stand in every plan file, which rebuilds the model
// from them.
type Settings struct {
	Selection graph.Selection `json:"selection"`
	Public
	// Tau of zero is chosen by [Model.Plan], where GraphCloak diffuses. A range is what τ may be where sensors measure: the guarantee
	// is certified for all of it. A plan file holds one number, that of its noise.
	Tau       tau.Range      `json:"tau"`
	Laplacian laplacian.Kind `json:"laplacian"`
	Method    expm.Method    `json:"kernelMethod"`
	// Alternatives are further graphs that the process may have run on, where sensors measure: the
	// guarantee is certified for each of them, on at most [sensitivity.MaxUncertain] nodes and where the guarantee is joint.
	Alternatives []Alternative `json:"alternatives,omitempty"`
	// Operators are given in place of e^{-τL}: the first is the plan's, and the guarantee is certified for each of them.
	// Tau, Laplacian and Method then count nothing.
	Operators []NamedOperator `json:"operators,omitempty"`
	// Answers says that people answer yes or no: there is no e^{-τL}, and of what follows τ nothing counts.
	Answers bool `json:"answers,omitempty"`

	fromFile bool // read from a file, whose queries nobody has agreed to
}

// Public says what is read of the nodes without noise: it shapes plan and report, and
// no property in it can be the signal. [Load] reads it once. The sensors are a part of
// the model, and stand in files; communities and prior are chosen again by who reads one.
type Public struct {
	Sensors       graph.SensorSelection `json:"sensors"`
	Communities   community.Options     `json:"-"` // that allocation tells apart and a report ranks
	PriorProperty string                `json:"-"` // node property proportional to the prior of a source; "": flat
}

// PublicProperties lists the properties that are read without noise, ascending: those
// that the model is made from, those of Public, and more. Names are compared exactly;
// a property that a query of the user's reads cannot be seen.
func (s Settings) PublicProperties(more ...string) []string {
	names := append([]string{
		s.Selection.NodeKey, s.Selection.RelationshipWeightProperty, s.Selection.LengthProperty,
		s.Public.Sensors.Property, s.Public.Communities.Property, s.Public.Communities.Caption, s.Public.PriorProperty,
	}, more...)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// Metric names the distance of the neighbour relation.
func (s Settings) Metric() string {
	if s.Selection.LengthProperty == "" {
		return "hops"
	}
	return s.Selection.LengthProperty
}

// isUncertain reports whether the process may be another than that of one τ on the graph itself.
func (s Settings) isUncertain() bool {
	if len(s.Operators) > 0 {
		return len(s.Operators) > 1
	}
	return s.Tau.IsWide() || len(s.Alternatives) > 0
}

// CheckPlan refuses settings that are not those of the plan beside them.
func (s Settings) CheckPlan(p privacy.Public) error {
	if s.Metric() != p.Metric || s.matrix() != matrixOf(p) {
		return fmt.Errorf("%w: its model is another than its plan's, in tau, laplacian, operator or metric", strictjson.ErrInvalid)
	}
	return nil
}

// matrix is what M is: a given operator, or τ and the Laplacian.
type matrix struct {
	tau       float64
	laplacian string
	operator  privacy.Digest
}

func (s Settings) matrix() matrix {
	if len(s.Operators) > 0 {
		return matrix{operator: s.Operators[0].Digest}
	}
	return matrix{tau: s.Tau.Value(), laplacian: s.Laplacian.String()}
}

func (m matrix) String() string {
	if m.operator != (privacy.Digest{}) {
		return fmt.Sprintf("the given operator %.12s…", m.operator)
	}
	return fmt.Sprintf("τ = %v, the %s Laplacian", m.tau, m.laplacian)
}

func matrixOf(p privacy.Public) matrix { return matrix{p.Tau, p.Laplacian, p.OperatorDigest} }

// ErrForeignQuery says that settings from a file hold a query that nobody has agreed
// to. It would run with the rights of anyone who opens the file.
var ErrForeignQuery = errors.New("graphcloak: the file holds a query of its own")

// UnmarshalJSON reads settings from a file. Their queries do not run until
// [Settings.Agree]. It returns [ErrAlternative] and [ErrOperator] for what is no list of graphs or operators.
func (s *Settings) UnmarshalJSON(data []byte) error {
	type plain Settings
	var p plain
	if err := strictjson.Unmarshal(data, &p); err != nil {
		return err
	}
	if err := errors.Join(CheckAlternatives(p.Alternatives), checkOperators(p.Operators)); err != nil {
		return fmt.Errorf("%w: %w", strictjson.ErrInvalid, err)
	}
	p.fromFile = true
	*s = Settings(p)
	return nil
}

// Agree permits the queries of settings from a file if they equal these, which the user
// gave.
func (s *Settings) Agree(nodeQuery, relationshipQuery string) {
	sel := s.Selection
	if (sel.NodeQuery == "" || sel.NodeQuery == nodeQuery) && (sel.RelationshipQuery == "" || sel.RelationshipQuery == relationshipQuery) {
		s.fromFile = false
	}
}

// CheckQueries refuses queries of a file that nobody has agreed to, with
// [ErrForeignQuery], and shows them.
func (s Settings) CheckQueries() error {
	sel := s.Selection
	if !s.fromFile || sel.NodeQuery == "" && sel.RelationshipQuery == "" {
		return nil
	}
	var shown []string
	if sel.NodeQuery != "" {
		shown = append(shown, "nodeQuery: "+printable(sel.NodeQuery))
	}
	if sel.RelationshipQuery != "" {
		shown = append(shown, "relationshipQuery: "+printable(sel.RelationshipQuery))
	}
	return fmt.Errorf("%w: %s", ErrForeignQuery, strings.Join(shown, "; "))
}

// printable makes one line of a text: without control characters, and cut at 2,000.
func printable(text string) string {
	const longest = 2000
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if runes := []rune(text); len(runes) > longest {
		return fmt.Sprintf("%s … (%d characters)", string(runes[:longest]), len(runes))
	}
	return text
}
