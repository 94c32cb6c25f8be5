// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

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
