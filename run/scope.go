// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// ErrNoCap says that a scope without a cap was to be spent from where one is
// required.
var ErrNoCap = errors.New("graphcloak: the budget scope has no cap")

// Scope names the data of a signal, to whose account every release of it is charged: the
// property, in the store that keeps the ledger. Address and selection are no part of it: the
// ledger lies with the data, and a cap that another label in the selection evades would limit
// nothing. Nobody chooses another name.
func Scope(s plan.Signal) string {
	if s.Cloaked {
		return cloakedScope
	}
	return propertyScope + s.Property()
}

// PropertyOf returns the property whose values a scope guards; false where it is not one of a property.
func PropertyOf(scope string) (property string, ok bool) {
	if property, ok = strings.CutPrefix(scope, propertyScope); !ok {
		return "", false
	}
	return property, property != ""
}

const (
	cloakedScope  = "sensors"
	propertyScope = "property="
)

// checkCap finds a scope that may not be spent from, before anything is spent, and returns its account.
func checkCap(ctx context.Context, l privacy.Ledger, scope string, required bool) (privacy.Account, error) {
	a, err := privacy.ReplayLedger(ctx, l, scope)
	if err == nil && required && a.Cap == nil {
		err = fmt.Errorf("%w: %q", ErrNoCap, a.Scope)
	}
	return a, err
}
