// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// ExactNodes is the largest graph whose eigenpairs are all computed: 0.6 GB and some
// minutes.
const ExactNodes = 5000

// ErrEmpty says that there is no relationship: nothing diffuses.
var ErrEmpty = errors.New("inspect: the graph has no relationship")

// Options of [Inspect]. The zero value is recommended.
type Options struct {
	Sensitivity sensitivity.Options
	Progress    func(stage string, done, total int64) // nil: silent

	exactNodes int // for tests; 0: ExactNodes
}

// Inspection is the result of [Inspect]. Pointers are nil for quantities that were not
// computed; Notes says why.
type Inspection struct {
	NodeCount         int         `json:"nodeCount"`
	RelationshipCount int         `json:"relationshipCount"`
	SensorCount       int         `json:"sensorCount"`
	Components        []Component `json:"components"` // largest first
	Tau               float64     `json:"tau"`
	Laplacian         string      `json:"laplacian"`
	EntryCount        int         `json:"entryCount,omitzero"` // of a given operator, in place of τ and Laplacian
	Alpha             float64     `json:"alpha"`
	Exact             bool        `json:"exact"` // from all eigenpairs: else what they give is left out

	// Lambda2 is the algebraic connectivity, 0 for a graph of several components, to EigenvalueError.
	Lambda2 *float64 `json:"lambda2,omitempty"`
	// LambdaMax is the largest eigenvalue, to EigenvalueError; beyond ExactNodes a certified upper bound.
	LambdaMax       float64 `json:"lambdaMax"`
	EigenvalueError float64 `json:"eigenvalueError"`

	// Kappa2Log10 is log₁₀ of κ₂(M), the ratio of the singular values of M.
	Kappa2Log10 *float64 `json:"kappa2Log10,omitempty"`
	// EffectiveRank is e^H with H the entropy of the singular values in units of their
	// sum (Roy & Vetterli, EUSIPCO 2007).
	EffectiveRank *float64   `json:"effectiveRank,omitempty"`
	Coherence     *Coherence `json:"coherence,omitempty"`
	Leverage      *Leverage  `json:"leverage,omitempty"`
	// MassError is max_i |Σ_s M_si − 1|, with all sensors and L = D − W.
	MassError *float64 `json:"massError,omitempty"`

	Sensitivity Sensitivity `json:"sensitivity"`
	Bounds      []Bound     `json:"bounds"` // of the paper's lemmas, and their sharper forms
	Notes       []string    `json:"notes"`
}

// Component is a connected part.
type Component struct {
	Size int `json:"size"`
}

// Coherence is μ = max over i ≠ j of ⟨M_i, M_j⟩/(‖M_i‖‖M_j‖). The paper's formula
// leaves out i ≠ j, without which it is 1.
type Coherence struct {
	Value float64     `json:"value"`
	Nodes [2]graph.ID `json:"nodes"`
}

// Leverage holds leverage scores: squared norms of the rows of the first k
// eigenvectors of L. They add up to k.
type Leverage struct {
	Vectors int             `json:"vectors"` // k
	Top     []LeverageScore `json:"top"`
}

// LeverageScore is the score of a node.
type LeverageScore struct {
	NodeID graph.ID `json:"nodeId"`
	Score  float64  `json:"score"`
}

// Sensitivity is the bracket of Δ₂ and the relationship that attains its lower end.
type Sensitivity struct {
	Lower float64     `json:"lower"`
	Upper float64     `json:"upper"`
	Edge  [2]graph.ID `json:"edge"`
}

// Bound is an inequality for Δ₂, evaluated.
type Bound struct {
	Statement string  `json:"statement"`
	Value     float64 `json:"value"`
	Holds     bool    `json:"holds"` // as far as the bracket shows
}

func alpha(m sensitivity.Model) float64 { return cmp.Or(m.Alpha, 1) }

func (in *Inspection) note(format string, args ...any) {
	in.Notes = append(in.Notes, fmt.Sprintf(format, args...))
}

func (in *Inspection) components(g *graph.Graph) {
	_, sizes := g.Components()
	sizes = slices.Sorted(slices.Values(sizes))
	for _, n := range slices.Backward(sizes) {
		in.Components = append(in.Components, Component{n})
	}
	if len(sizes) > 1 {
		in.note("%d components: λ₂ = 0, and which of them holds a source is public", len(sizes))
	}
}

// symmetric reports whether M is, with a row for every node: its singular values are
// then the eigenvalues e^{-τλ}.
func symmetric(m sensitivity.Model) bool {
	return m.Sensors == nil && m.Laplacian.Kind() != laplacian.RandomWalk
}

func pointer(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
