// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/privacy"
)

// ErrNoCap says that a scope without a cap was to be spent from where one is
// required.
var ErrNoCap = errors.New("graphcloak: the budget scope has no cap")

// Scope names the data that a budget protects by default: the property of the signal, in
// the store that keeps the ledger. Address and selection are no part of it: the ledger
// lies with the data, and a cap that another label in the selection evades would limit
// nothing.
func Scope(s Signal) string {
	if s.Cloaked {
		return cloakedScope
	}
	return propertyScope + s.Property()
}

// PropertyOf returns the property whose values a scope guards by its name, as [Scope]
// made it or a version before it did; false where the name tells none.
func PropertyOf(scope string) (property string, ok bool) {
	if name, ok := strings.CutPrefix(scope, propertyScope); ok {
		return name, name != ""
	}
	if at := strings.LastIndex(scope, " "+propertyScope); at >= 0 && isLegacy(scope) {
		property = scope[at+1+len(propertyScope):]
	}
	return property, property != ""
}

// isLegacy reports whether an earlier version may have made the name.
func isLegacy(scope string) bool {
	return strings.HasPrefix(scope, "neo4j://") || strings.HasPrefix(scope, "folder:")
}

const (
	cloakedScope  = "sensors"
	propertyScope = "property="
)

// legacyScopes returns the scopes that earlier versions named for the data of scope:
//
//	neo4j://HOST:PORT/DATABASE nodes=SELECTION property=NAME
//	folder:PATH nodes=SELECTION sensors
//
// A selection may hold any text. Where it could hold the name of another property,
// nobody knows whose spends these are: [ErrScopes].
func legacyScopes(scopes []string, scope string) ([]string, error) {
	if scope != cloakedScope && !strings.HasPrefix(scope, propertyScope) {
		return nil, nil
	}
	var found []string
	for _, name := range scopes {
		where, ok := strings.CutSuffix(name, " "+scope)
		if !ok || !isLegacy(name) {
			continue
		}
		_, nodes, ok := strings.Cut(where, " nodes=")
		if !ok {
			continue
		}
		if strings.Contains(nodes, " "+propertyScope) {
			return nil, fmt.Errorf("%w: an earlier version named %q, which may be about another property", ErrScopes, name)
		}
		found = append(found, name)
	}
	return found, nil
}

// ErrScopes says that spends which an earlier version recorded in several scopes cannot be
// attributed or added up.
var ErrScopes = errors.New("graphcloak: the scopes of an earlier version cannot be continued")

// Account returns the account of a scope with what earlier versions recorded of the same
// data under other names, and those names. It stores nothing. It returns
// [ErrScopes], [privacy.ErrInput] for what is no scope, and the errors of
// [privacy.Joined].
func Account(ctx context.Context, l privacy.Ledger, scope string) (privacy.Account, []string, error) {
	names, err := pendingLegacy(ctx, l, scope)
	if err != nil {
		return privacy.Account{}, nil, err
	}
	a, err := privacy.Joined(ctx, l, scope, names)
	return a, names, joinError(err)
}

// Continue carries what earlier versions recorded under other names over into scope,
// before anything is spent from it. It returns [ErrScopes], [privacy.ErrInput] for what is no
// scope, and the errors of [privacy.Continue].
func Continue(ctx context.Context, l privacy.Ledger, scope string) error {
	names, err := pendingLegacy(ctx, l, scope)
	if err != nil || len(names) == 0 {
		return err
	}
	return joinError(privacy.Continue(ctx, l, scope, names))
}

// pendingLegacy lists the legacy scopes that scope has not continued yet.
func pendingLegacy(ctx context.Context, l privacy.Ledger, scope string) ([]string, error) {
	if err := privacy.CheckID("budget scope", scope); err != nil {
		return nil, fmt.Errorf("%w: %w", privacy.ErrInput, err)
	}
	all, err := l.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	names, err := legacyScopes(all, scope)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	a, err := privacy.ReplayLedger(ctx, l, scope)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(a.Continues, name) }), err
}

func joinError(err error) error {
	if errors.Is(err, privacy.ErrJoin) {
		return fmt.Errorf("%w: %w", ErrScopes, err)
	}
	return err
}

// scope returns the name of the data that a budget protects.
func (m *Model) scope(given string, s Signal) string {
	if given != "" {
		return given
	}
	return Scope(s)
}
