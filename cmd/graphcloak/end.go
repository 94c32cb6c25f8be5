// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/run"
)

// finish reports how the command ended and returns its exit code.
func (a *app) finish(ctx context.Context, err error) int {
	if err == nil {
		if a.config != nil && a.config.Execution.Strict && len(a.warnings) > 0 {
			return exitWarnings
		}
		return exitOK
	}
	err = a.withRun(a.stopped(ctx, err), err)
	p := describe(err)
	lines := messages(err)
	if a.format() == "json" || a.format() == "ndjson" {
		if !a.rendered { // one document on standard output
			a.printProblem(p)
		}
		lines = []string{strings.Join(lines, "; ")}
	}
	a.printError(lines, p)
	return p.ExitCode
}

// withRun adds how to go on where a run was begun and not ended, and where another
// run is in the way. A signal keeps its exit code. why is the error before a signal
// took its place.
func (a *app) withRun(err, why error) error {
	begun, ours := errors.AsType[*graphcloak.UnfinishedError](why)
	if e, ok := errors.AsType[*connector.UnfinishedError](why); ok && !ours {
		return fail(exitConflict, "%w", err).about("run", e.RunID).
			hint("%s; `graphcloak run --undo %s` gives it up, and another run pays again; nothing was spent by this command",
				openMessage(e.RunID), e.RunID)
	}
	id := a.unfinishedRun()
	if f, ok := errors.AsType[*failure](err); id == "" || ok && f.resourceType == "run" {
		return err
	}
	spent := run.MaySpent
	if ours {
		spent = begun.Spent
	}
	if _, said := errors.AsType[*graphcloak.UnfinishedError](err); !said {
		err = fmt.Errorf("run %s is unfinished, %v: %w", id, spent, err)
	}
	exit, hint := exitUnfinished, "the same command again, or `graphcloak run --resume %s` with "+a.sameStore()+
		", goes on with it; nothing is spent twice"
	if code := exitCode(err); code == exitInterrupt || code == exitTerminated {
		exit = code
	}
	if spent == run.NotSpent {
		exit, hint = exitCode(err), "`graphcloak run --resume %s` with "+a.sameStore()+" takes its reservation back"
	}
	return fail(exit, "%w", err).hint(hint, id).about("run", id)
}

// sameStore says what --resume must be given again: where the graph is, and the queries,
// which no file may bring along.
func (a *app) sameStore() string {
	if a.config != nil && a.config.Projection.NodeQuery != "" {
		return "the same --from or --uri, --node-query and --relationship-query"
	}
	return "the same --from or --uri"
}

// stopped is the error of a command that a signal ended, with what is to be done
// next, and with whether anything was spent where the command is one that spends.
func (a *app) stopped(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil {
		return err
	}
	end := fail(exitCode(cause), "%w", cause)
	if !errors.Is(err, context.Canceled) {
		end = fail(exitCode(cause), "%w (%w)", cause, err)
	}
	if _, begun := errors.AsType[*graphcloak.UnfinishedError](err); !begun && a.pays && a.endsUnpaid() {
		end = fail(end.exit, "%w; %s", end.err, a.spentNothing()).hint("%s", end.suggestion)
	}
	if f, ok := errors.AsType[*failure](err); ok && f.suggestion != "" {
		end.suggestion, end.resourceType, end.resourceID = f.suggestion, f.resourceType, f.resourceID
	}
	return end
}

// spentNothing says of a command that has come to no payment what that means for the data: a run that it names, or one that
// was interrupted here before and that it would have gone on with, may be paid for.
func (a *app) spentNothing() string {
	if ids, err := stagedRuns(); a.resumes || err != nil || len(ids) > 0 {
		return "nothing more was spent; a run that was begun before may be paid for, and the same command goes on with it"
	}
	return "nothing was spent"
}
