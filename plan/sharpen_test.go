// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// oneCommunity makes a search judge τ by the distance from the source.
type oneCommunity struct{}

func (oneCommunity) Detect(_ context.Context, g *graph.Graph) (community.Partition, error) {
	return community.FromLabels(g, make([]int, g.Order()))
}

// searched is a search for τ on the water network that has tried what it tries. From the first
// call of arm on, the next distance that a simulation asks for calls interrupt, once.
func searched(ctx context.Context, t *testing.T, interrupt func(*tauSearch)) (s *tauSearch, arm func()) {
	t.Helper()
	source := must.Get(builtin.Example("net3"))(t)
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, source))
	store := must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
	t.Cleanup(func() { store.Close(context.Background()) })
	m, err := Load(t.Context(), store, Settings{Public: Public{Communities: community.Options{Detector: oneCommunity{}}}}, LoadOptions{})
	must.Do(t, err)
	opts := Options{Budget: privacy.Budget{Epsilon: 4, Delta: 1e-5}, Alpha: 1}
	s = must.Get(m.newTauSearch(ctx, opts))(t)
	interrupted := sync.OnceFunc(func() { interrupt(s) })
	armed, lengths := false, s.sketch.Distances
	s.sketch.Distances = func(i int) []float64 {
		if armed {
			interrupted()
		}
		return lengths(i)
	}
	must.Do(t, s.run())
	return s, func() { armed = true }
}

// values are the points of a search as they are.
func (s *tauSearch) values() map[int]TauPoint {
	v := make(map[int]TauPoint)
	for k, p := range s.tried {
		v[k] = *p
	}
	return v
}

// A context that ends within the longer simulation ends the search with its error: sums over a part
// of the releases choose no τ, and a later plan searches again.
func TestEndWithinLongSimulation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, arm := searched(ctx, t, func(*tauSearch) { cancel() })
	before := s.values()
	arm()
	if err := s.sharpen(); !errors.Is(err, context.Canceled) {
		t.Errorf("the search ends with %v", err)
	}
	if !maps.Equal(s.values(), before) {
		t.Errorf("values are %+v, before %+v", s.values(), before)
	}
	if c, err := s.m.ChooseTau(ctx, s.opts); c != nil || !errors.Is(err, context.Canceled) || !s.m.Open {
		t.Errorf("an ended context chooses %+v, with %v", c, err)
	}
}

// Beyond 10,000 nodes a try is of allocated noise, whose work is counted and ends the search.
func TestTauSearchDraftsBeyondRows(t *testing.T) {
	made := must.Get(builtin.Parse("grid,rows=2,cols=5001"))(t)
	source := must.Get(made.Folder())(t)
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, source))
	store := must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
	t.Cleanup(func() { store.Close(context.Background()) })
	m := must.Get(Load(t.Context(), store, Settings{}, LoadOptions{}))(t)
	opts := Options{Budget: privacy.Budget{Epsilon: 4, Delta: 1e-5}, Alpha: 1}
	s := must.Get(m.newTauSearch(t.Context(), opts))(t)
	err := s.try(s.first)
	if p := s.tried[s.first]; err != nil || p == nil || !p.Allocated || !(s.spent > 0) || s.cut || s.otherNoise() != "" {
		t.Errorf("%+v, %v seconds, cut %v, %q, %v", p, s.spent, s.cut, s.otherNoise(), err)
	}
	s.spent = searchWork
	if err := s.try(s.first + 2); len(s.tried) != 1 || err != nil || !s.cut {
		t.Errorf("without work left: %+v, cut %v, %v", s.tried, s.cut, err)
	}
	s.tried[s.first].Accuracy = s.chance // no better than chance
	if _, err := s.decide(); err != nil || !strings.HasPrefix(s.note, "the search for τ was cut short after 1 value") ||
		!strings.Contains(s.note, "; at no τ that was tried") {
		t.Errorf("%q, %v", s.note, err)
	}
}
