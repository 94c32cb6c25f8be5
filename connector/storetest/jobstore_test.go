// SPDX-License-Identifier: Apache-2.0

package storetest_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/jobs"
)

// TestJobStore: the kit keeps jobs as a store does.
func TestJobStore(t *testing.T) {
	kept := storetest.NewJobStore()
	storetest.RunJobs(t, storetest.Suite{
		Open:   func(*testing.T, string, string) storetest.Store { return new(memory.Store) },
		Reopen: func(_ *testing.T, s storetest.Store) storetest.Store { return s },
		Jobs:   func(storetest.Store) jobs.Store { return kept },
	})
}
