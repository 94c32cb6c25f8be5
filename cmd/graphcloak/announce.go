// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// noteNewScope says, before anything is spent, that a scope is new: it has no cap.
func (a *app) noteNewScope(ctx context.Context, l privacy.Ledger, scope string) error {
	account, err := privacy.ReplayLedger(ctx, l, scope)
	if err != nil || account.Entries > 0 {
		return err
	}
	a.note("Note: scope %q is new and has no cap; `graphcloak budget set` limits what its releases may spend together", scope)
	return nil
}

// announceFirst lets a run that is about to spend note its scope, and releases that
// were not finished elsewhere, again apart: once nothing is left that would refuse it.
func (a *app) announceFirst(ctx context.Context, s graphStore, job *graphcloak.Job, again string) {
	keep, scope := job.Keep, run.Scope(job.Signal)
	job.Keep = func(k *run.Kept) error {
		if k.Attempt == nil {
			return keep(k)
		}
		if err := a.noteNewScope(ctx, s.Ledger(), scope); err != nil {
			return err
		}
		if err := a.noteElsewhere(ctx, s, scope, again); err != nil {
			return err
		}
		return keep(k)
	}
}

// noteElsewhere tells of releases of the same data that are paid for and not finished,
// and of which nothing is kept here; one that this command makes again is no such release.
func (a *app) noteElsewhere(ctx context.Context, s graphStore, scope, again string) error {
	paid, err := run.PaymentsOf(ctx, s.Ledger(), scope)
	open := slices.DeleteFunc(paid.Unfinished(time.Time{}), func(e privacy.Entry) bool {
		return e.ReleaseID == again || conditionOf(e.ReleaseID) != run.Unknown
	})
	if err != nil || len(open) == 0 {
		return err
	}
	a.note("Note: %s of the same data is paid for and unfinished, and was not started here: if its machine or its user is gone, "+
		"what it spent is lost, and this run pays again", fewRuns(open))
	return nil
}

func fewRuns(paid run.Payments) string {
	last := paid[len(paid)-1].ReleaseID
	if len(paid) == 1 {
		return "release " + last
	}
	return fmt.Sprintf("release %s and %d before it", last, len(paid)-1)
}
