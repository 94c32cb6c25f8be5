// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/run"
)

// Store is what is tested: the interface of the root package, with what the command asks of
// a store beside it.
type Store interface {
	run.Store
	Undo(ctx context.Context, runID string) (nodes int64, err error)
	Run(ctx context.Context, runID string) (jobs.Run, error)
	Close(ctx context.Context) error
}

// Suite says how to make the store that is tested.
type Suite struct {
	// Open returns a new store that holds the two files; what it holds is removed
	// when the test ends. Select narrows a selection to that content and sets its
	// key, where the store is shared with others; nil: the store selects nothing.
	Open   func(t *testing.T, nodes, relationships string) Store
	Select func(s Store, sel graph.Selection) graph.Selection
	// Reopen returns another handle on the same content, as another process has.
	Reopen func(t *testing.T, s Store) Store
	// Alias is Reopen by another name: a link to the folder, another address.
	Alias func(t *testing.T, s Store) Store
	// History returns where the history of runs is kept; nil: the store keeps none.
	History func(s Store) jobs.History
	// Jobs returns where jobs are kept, which the store's spends and writes ask for their
	// fences; nil: the store keeps none.
	Jobs func(s Store) jobs.Store
}

// The fixture: a triangle would hide nothing, so it has two ways of writing one
// edge, a self-loop, labels in twos, ids whose order is not that of the text, and
// a column of each type with a gap.
const (
	nodesCSV = `id,labels,name,heat,club,district,mark
1,Sensor;City,n1,0.5,red,1,true
20,Village,n20,0,blue,3,true
3,Sensor;City,n3,1,red,1,
10,City,n10,0.25,,2,true
2,City,n2,,blue,2,false
`
	relationshipsCSV = `source,target,type,weight,length
1,2,ROAD,2,10
2,1,ROAD,3,5
2,3,ROAD,1,7
3,10,RAIL,0.5,2
10,10,ROAD,1,1
20,10,RAIL,4,3
`
)

func (s Suite) selection(st Store, sel graph.Selection) graph.Selection {
	if s.Select == nil {
		return sel
	}
	return s.Select(st, sel)
}

func open(t *testing.T, s Suite, st Store, sel graph.Selection) *graph.Graph {
	t.Helper()
	g, err := st.Graph(t.Context(), s.selection(st, sel))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// opened opens a store of the fixture and reads its graph.
func opened(t *testing.T, s Suite) (Store, *graph.Graph) {
	t.Helper()
	st := s.Open(t, nodesCSV, relationshipsCSV)
	return st, open(t, s, st, graph.Selection{})
}

func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func token() string { return rand.Text() }

func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
