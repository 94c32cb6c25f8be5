// SPDX-License-Identifier: Apache-2.0

// Package storetest is the contract of a store, as tests. Run it on every store:
// what it says of one holds for all.
package storetest

import (
	"context"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/run"
)

// Store is what is tested: the interface of the root package, with what the command asks of
// a store beside it.
type Store interface {
	run.Store
	Undo(ctx context.Context, runID string) (nodes int64, err error)
	Run(ctx context.Context, runID string) (connector.Run, error)
	Notices() []string
	Close(ctx context.Context) error
}

// Suite says how to make the store that is tested.
type Suite struct {
	// Open returns a new store that holds the two files; what it holds is removed
	// when the test ends. Select narrows a selection to that content and sets its
	// key, where the store is shared with others.
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
	// File files a job with these properties, as its author does, and returns the id of
	// its record. The record is removed when the test ends.
	File func(t *testing.T, s Store, properties map[string]any) (id string)
}

// test is one of the contract.
type test struct {
	name string
	run  func(*testing.T, Suite)
}

func (s Suite) all(t *testing.T, tests []test) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
}

// Run runs every test of the contract that is about what the store keeps.
func Run(t *testing.T, s Suite) {
	s.all(t, []test{
		{"Graph", testGraph},
		{"Selection", testSelection},
		{"BadRelationships", testBadRelationships},
		{"BadKeys", testBadKeys},
		{"Isolated", testIsolated},
		{"Signal", testSignal},
		{"Labels", testLabels},
		{"Sensors", testSensors},
		{"Missing", testMissing},
		{"Write", testWrite},
		{"Again", testAgain},
		{"Replaced", testReplaced},
		{"Users", testUsers},
		{"Undo", testUndo},
		{"Cancelled", testCancelled},
		{"Reserve", testReserve},
		{"ReserveRace", testReserveRace},
		{"Ledger", testLedger},
		{"LedgerTogether", testLedgerTogether},
		{"LedgerIdentity", testLedgerIdentity},
	})
	if s.History != nil {
		s.all(t, []test{
			{"History", testHistory},
			{"HistoryOfStore", testHistoryOfStore},
			{"Prune", testPrune},
		})
	}
	if s.Jobs != nil {
		RunJobs(t, s)
		s.all(t, []test{
			{"PruneTicks", testPruneTicks},
			{"Fence", testFence},
		})
	}
}

// RunJobs runs the tests of ticks and of the board alone.
func RunJobs(t *testing.T, s Suite) {
	s.all(t, []test{
		{"Claim", testClaim},
		{"ClaimRace", testClaimRace},
		{"Lease", testLease},
		{"Yield", testYield},
		{"CancelTick", testCancelTick},
		{"Rewind", testRewind},
		{"Ticks", testTicks},
		{"Instances", testInstances},
		{"Board", testBoard},
		{"BoardOfSettings", testBoardOfSettings},
	})
}
