// SPDX-License-Identifier: Apache-2.0

// Package storetest is the contract of a store, as tests. Run it on every store:
// what it says of one holds for all.
package storetest

import "testing"

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
	if s.Select != nil {
		s.all(t, []test{
			{"Graph", testGraph},
			{"Selection", testSelection},
			{"BadRelationships", testBadRelationships},
			{"BadKeys", testBadKeys},
			{"Isolated", testIsolated},
		})
	}
	s.all(t, []test{
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
	})
}
