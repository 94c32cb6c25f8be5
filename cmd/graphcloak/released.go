// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// secret is a property whose values were released with noise, from whatever nodes.
type secret struct {
	property, runID string
	written         bool // its values stand in the store, from where they can be taken back
	undone          bool // they were taken back
}

// secrets are the properties that a store knows to be private: from the records of runs
// that wrote values, from its ledger, which knows of every release that was paid for, and from
// the history, which knows what a ledger has lost.
func secrets(ctx context.Context, s graphStore) ([]secret, error) {
	told, err := s.History().ListRuns(ctx, jobs.RunQuery{})
	if err != nil {
		return nil, err
	}
	var found []secret
	undone := map[string]bool{}
	for _, r := range told {
		undone[r.RunID] = r.WriteStatus() == jobs.Undone // its release has this id too, but for that of a file, which stands
		if r.Signal != "" && (r.Spent || r.Write != nil) {
			found = append(found, secret{r.Signal, r.RunID, r.Write != nil, undone[r.RunID]})
		}
	}
	paid, err := run.PaymentsOf(ctx, s.Ledger(), "")
	if err != nil {
		return nil, err
	}
	type release struct{ scope, id string }
	void := map[release]bool{}
	for _, e := range paid {
		if e.Kind == privacy.KindVoid {
			void[release{e.Scope, e.ReleaseID}] = true
		}
	}
	for _, e := range paid {
		if e.Kind == privacy.KindSpent && !void[release{e.Scope, e.ReleaseID}] {
			if property, ok := run.PropertyOf(e.Charge.Scope); ok {
				found = append(found, secret{property: property, runID: e.ReleaseID, undone: undone[e.ReleaseID]})
			}
		}
	}
	return found, nil
}

// checkNotReleased refuses a property that was released from the store as a signal, where it
// is named as public, or among more as private values. From which nodes it was does not
// matter: a graph that has changed is another one, and its secret may be the same.
func checkNotReleased(ctx context.Context, s graphStore, job graphcloak.Job, more ...string) error {
	known, err := secrets(ctx, s)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.undone {
			continue
		}
		job.Signal = graphcloak.Signal{SourceProperty: k.property}
		err := job.CheckSignal()
		if err == nil && slices.Contains(more, k.property) {
			err = fmt.Errorf("%w: %q holds no private values", plan.ErrSignalPublic, k.property)
		}
		if err != nil {
			f := fail(exitUsage, "%w; it is what run %s released", err, k.runID)
			if k.written {
				return f.hint("name a public property; `graphcloak run --undo %s` takes back what was released by mistake", k.runID)
			}
			return f.hint("name a public property")
		}
	}
	return nil
}

// privateNames are the properties that are released with noise, now or by a run that
// the store knows: none of them is read for a page.
func privateNames(ctx context.Context, s graphStore, signal graphcloak.Signal) ([]string, error) {
	names := []string{signal.SourceProperty, signal.MeasurementProperty, signal.AnswerProperty}
	known, err := secrets(ctx, s)
	for _, k := range known {
		names = append(names, k.property)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }), err
}
