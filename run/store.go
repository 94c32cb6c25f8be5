// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Sink takes what a run writes back, on the nodes of a graph that was read from the
// same store.
type Sink interface {
	// Check refuses a table whose properties would overwrite the user's, unless
	// force is set, and a store that holds an unfinished run. Nothing is written.
	Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error
	// Reserve checks as Check does and makes sure of what Write will need: rights,
	// constraints, room. It records the run, so that no other begins on the same graph
	// until this one is written, undone or cancelled.
	Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error
	// Cancel gives up a reservation for which nothing was spent. It leaves a run that
	// has come further, and one that it does not know, as they are.
	Cancel(ctx context.Context, runID string) error
	// Write writes the table. Called again with the same table it completes an
	// interrupted write.
	Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error
}

// Store is a source that takes the results too, and keeps the ledger of what was
// spent beside the graph. Each connector is one; package storetest is the contract.
type Store interface {
	plan.Source
	Sink
	Ledger() privacy.Ledger
}

// WriteOptions say whether and how a run is written back.
type WriteOptions struct {
	To      Sink   `json:"-"` // nil: the source
	Enabled bool   `json:"enabled"`
	Prefix  string `json:"prefix"` // of the property names; "": gc
	Force   bool   `json:"force"`  // replace properties that are not a run's
}

// Errors about a source that is no [Store], where the job names no other.
var (
	ErrNoLedger = errors.New("graphcloak: there is no ledger to spend from")
	ErrNoSink   = errors.New("graphcloak: there is nothing to write back to")
)

// ledgerOf returns the ledger to spend from: the given one, or else that of the source.
func ledgerOf(s plan.Source, given privacy.Ledger) (privacy.Ledger, error) {
	if given != nil {
		return given, nil
	}
	if s, ok := s.(interface{ Ledger() privacy.Ledger }); ok {
		return s.Ledger(), nil
	}
	return nil, fmt.Errorf("%w: %s keeps none", ErrNoLedger, s.Name())
}
