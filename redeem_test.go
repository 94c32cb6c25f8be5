// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// TestRedeemOnce: an attempt whose release was written is not drawn again, as from a
// copy of the folder that kept it.
func TestRedeemOnce(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &watched{Store: store}
	job := paperJob()
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	job.Write.Enabled = false
	var kept *graphcloak.Attempt
	job.Begin = func(a *graphcloak.Attempt) error { kept = a; return nil }
	job.Stage = func(*graphcloak.Release) error { return nil }
	m, _ := testkit.Planned(t, s, job)
	if _, err := m.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Redeem(t.Context(), kept, job); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("%v for a release that was written, want %v", err, privacy.ErrReplay)
	}
}

// reserving keeps the record of the run that was reserved last.
type reserving struct {
	graphcloak.Store
	record []report.Property
}

func (r *reserving) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	r.record = t.Record()
	return r.Store.Reserve(ctx, g, t, force)
}

// TestStartHasMilliseconds: runs are compared by their starts, and what one says when it
// reserves is what it says when it is written.
func TestStartHasMilliseconds(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &reserving{Store: store}
	job := paperJob()
	m, _ := testkit.Planned(t, s, job)
	rep, err := m.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	want := rep.StartedAt.Format(report.TimeLayout)
	if !slices.Contains(s.record, report.Property{Name: "startedAt", Value: want}) {
		t.Errorf("reserved with %v, want startedAt %s", s.record, want)
	}
}
