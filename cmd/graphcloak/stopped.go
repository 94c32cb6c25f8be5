// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/graphcloak/graphcloak"
)

// stopped is the error of a command that a signal or --timeout ended, with what is to be done
// next, and with whether anything was spent where the command is one that spends.
func (a *app) stopped(ctx context.Context, err error) error {
	var end *failure
	switch cause := context.Cause(ctx); {
	case ctx.Err() != nil && cause != nil:
		end = fail(exitCode(cause), "%w", cause)
		if !errors.Is(err, context.Canceled) {
			end = fail(exitCode(cause), "%w (%w)", cause, err)
		}
	case errors.Is(err, context.DeadlineExceeded) && a.config != nil && a.config.Execution.Timeout > 0:
		end = fail(exitTransient, "not finished after %s", a.config.Execution.Timeout).hint("give more time by --timeout")
	default:
		return err
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
	if a.resumes {
		return "nothing more was spent"
	}
	switch ids, err := stagedRuns(); {
	case err != nil || len(ids) > 1:
		return "nothing more was spent; runs that were begun here before may be paid for, and the same command goes on with its own"
	case len(ids) == 1:
		return "nothing more was spent; run " + visible(ids[0]) +
			", which was begun here before, may be paid for, and the same command goes on with it"
	}
	return "nothing was spent"
}

// endsUnpaid reports whether the command has come to no payment, and sees to it that it comes
// to none: what does not look at its context may go on for a moment.
func (a *app) endsUnpaid() bool {
	a.holding.Lock()
	defer a.holding.Unlock()
	a.unpaid = a.held == nil && !a.paying
	return a.unpaid
}

// mayPay says that a run is about to be paid for, unless the command has ended.
func (a *app) mayPay() error {
	a.holding.Lock()
	defer a.holding.Unlock()
	if a.unpaid {
		return context.Canceled
	}
	a.paying = true
	return nil
}

// hasNotPaid says that the payment was refused.
func (a *app) hasNotPaid() {
	a.holding.Lock()
	defer a.holding.Unlock()
	a.paying = false
}
