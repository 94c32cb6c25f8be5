// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// Alternative is a graph that the process behind measured readings may have run on instead of
// the model's: the same nodes, and what is other about the relationships. It is public.
type Alternative struct {
	Name    string         `json:"name"`
	Changes []graph.Change `json:"changes"`
}

// ErrAlternative says that a list of alternative graphs is none for this graph.
var ErrAlternative = errors.New("graphcloak: alternative graph")

// Bounds of a list of alternative graphs: changes of all of them, relationships and nodes of all of
// them, and bytes of a name.
const (
	maxChanges     = 100_000
	maxListed      = 20_000_000
	maxAlternative = 200
)

// listed is what a list of alternatives is on one graph.
type listed struct {
	graphs    []*graph.Graph
	operators []*response.Operator // or further given operators
	digest    privacy.Digest       // of these in their order; zero: none
}

func (l *listed) count() int { return len(l.graphs) + len(l.operators) }

// CheckAlternatives refuses a list that is none for any graph, with [ErrAlternative].
func CheckAlternatives(list []Alternative) error {
	if len(list) > sensitivity.MaxAlternatives {
		return fmt.Errorf("%w: there are %d, want at most %d", ErrAlternative, len(list), sensitivity.MaxAlternatives)
	}
	seen, changes := make(map[string]bool), 0
	for _, a := range list {
		changes += len(a.Changes)
		switch {
		case a.Name == "" || len(a.Name) > maxAlternative || !utf8.ValidString(a.Name) || !isPrintable(a.Name):
			return fmt.Errorf("%w: a name is empty, longer than %d bytes or not printable", ErrAlternative, maxAlternative)
		case seen[a.Name]:
			return fmt.Errorf("%w: %q is given twice", ErrAlternative, a.Name)
		case len(a.Changes) == 0:
			return fmt.Errorf("%w: %q changes nothing", ErrAlternative, a.Name)
		case changes > maxChanges:
			return fmt.Errorf("%w: there are more than %d changes", ErrAlternative, maxChanges)
		}
		seen[a.Name] = true
	}
	return nil
}

func isPrintable(text string) bool {
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// listAlternatives makes the graphs.
func listAlternatives(g *graph.Graph, list []Alternative) (*listed, error) {
	l := new(listed)
	if len(list) == 0 {
		return l, nil
	}
	if err := CheckAlternatives(list); err != nil {
		return nil, err
	}
	if size := float64(len(list)) * float64(g.Order()+g.Size()); size > maxListed {
		return nil, fmt.Errorf("%w: %d graphs of %d nodes and %d relationships are too many", ErrAlternative, len(list),
			g.Order(), g.Size())
	}
	own, h := g.Digest(), sha256.New()
	h.Write([]byte("graphcloak/alternatives/v1"))
	for _, a := range list {
		other, err := g.Changed(a.Changes)
		if err != nil {
			return nil, fmt.Errorf("%w %q: %w", ErrAlternative, a.Name, err)
		}
		digest := other.Digest()
		switch {
		case digest == own:
			return nil, fmt.Errorf("%w %q changes nothing: every relationship that it names is as in the graph", ErrAlternative, a.Name)
		case math.IsInf(laplacian.New(other, laplacian.Combinatorial).Bound(), 1):
			return nil, fmt.Errorf("%w %q: the weights at a node add up to more than double precision holds", ErrAlternative, a.Name)
		}
		l.graphs = append(l.graphs, other)
		h.Write(digest[:])
	}
	h.Sum(l.digest[:0])
	return l, nil
}
