// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Ledger returns the ledger that is kept in this database.
func (s *Store) Ledger() privacy.Ledger { return ledger{s} }

type ledger struct{ *Store }

// Update locks the account by a statement of its own and lets the rule decide on
// what stands there then. Reading before the lock is held, or deciding within the
// statement that locks, lets two clients spend the same budget.
func (l ledger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	if err := l.constrainOnce(ctx); err != nil {
		return err
	}
	var refused error
	err := l.record(ctx, "ledger", func(tx *transaction) error {
		refused = nil
		if err := tx.do("MERGE (b:"+budgetLabel+" {scope: $scope}) SET b.held = coalesce(b.held, 0) + 1",
			map[string]any{"scope": scope}); err != nil {
			return err
		}
		account, err := tx.account(scope)
		if err != nil {
			return err
		}
		var prior []privacy.Entry
		if err := tx.entries("WHERE e.key STARTS WITH $key AND e.release = $release",
			map[string]any{"key": keyOf(scope, ""), "release": digest(scope, releaseID)}, func(_ string, e privacy.Entry) {
				prior = append(prior, e)
			}); err != nil {
			return err
		}
		entry, err := rule(account, prior)
		if err != nil || entry == nil {
			refused = err
			return errNothing
		}
		if refused = tx.append(account, *entry); errors.Is(refused, privacy.ErrChain) {
			return errNothing
		}
		return refused
	})
	if errors.Is(err, errNothing) {
		return refused
	}
	return err
}

// account reads the account of a scope, which is locked.
func (t *transaction) account(scope string) (privacy.Account, error) {
	account := privacy.NewAccount(scope)
	r, err := t.one("MATCH (b:"+budgetLabel+" {scope: $scope}) RETURN b.account", map[string]any{"scope": scope})
	if err != nil {
		return account, err
	}
	if text, ok := r.Values[0].(string); ok {
		if err := strictjson.Unmarshal([]byte(text), &account); err != nil {
			return account, fmt.Errorf("%w: the account of scope %q cannot be read", privacy.ErrChain, scope)
		}
	}
	return account, nil
}

// entries reads entries, each with the scope of its node, in order of their number.
func (t *transaction) entries(where cypher, params map[string]any, each func(scope string, e privacy.Entry)) error {
	_, err := t.rows("MATCH (e:"+entryLabel+") "+where+" RETURN e.json, e.scope ORDER BY e.seq", params, func(r *neo4j.Record) error {
		var e privacy.Entry
		text, _ := r.Values[0].(string)
		if strictjson.Unmarshal([]byte(text), &e) != nil {
			return fmt.Errorf("%w: an entry cannot be read", privacy.ErrChain)
		}
		scope, _ := r.Values[1].(string)
		each(scope, e)
		return nil
	})
	return err
}

// keyOf is the unique key of an entry: that of its scope and its number.
func keyOf(scope string, seq any) string { return fmt.Sprintf("%s-%v", digest(scope), seq) }

// append stores an entry and the account after it. The unique key of the entry
// makes a second entry with the same number fail, whatever went wrong before.
func (t *transaction) append(account privacy.Account, e privacy.Entry) error {
	after, err := account.Append(e)
	if err != nil {
		return err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	state, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return t.do("MERGE (l:"+lockLabel+" {name: $identity}) ON CREATE SET l.id = randomUUID() "+
		"WITH l MATCH (b:"+budgetLabel+" {scope: $scope}) SET b.account = $account "+
		"CREATE (:"+entryLabel+" {key: $key, scope: $scope, seq: $seq, kind: $kind, releaseId: $releaseId, release: $release, "+
		"json: $json})",
		map[string]any{
			"identity": identityName, "scope": e.Scope, "account": string(state),
			"key": keyOf(e.Scope, e.Seq), "seq": e.Seq,
			"kind": string(e.Kind), "releaseId": e.ReleaseID, "release": digest(e.Scope, e.ReleaseID), "json": string(text),
		})
}

// Entries returns the chain of a scope.
func (l ledger) Entries(ctx context.Context, scope string) (entries []privacy.Entry, err error) {
	err = l.read(ctx, "ledger", func(tx *transaction) (err error) {
		entries = nil
		return tx.entries("WHERE e.key STARTS WITH $key", map[string]any{"key": keyOf(scope, "")}, func(_ string, e privacy.Entry) {
			entries = append(entries, e)
		})
	})
	return entries, err
}

// All returns the chains of all scopes.
func (l ledger) All(ctx context.Context) (all map[string][]privacy.Entry, err error) {
	err = l.read(ctx, "ledger", func(tx *transaction) error {
		all = make(map[string][]privacy.Entry)
		return tx.entries("", nil, func(scope string, e privacy.Entry) { all[scope] = append(all[scope], e) })
	})
	return all, err
}

// Scopes returns the scopes that have entries, ascending.
func (l ledger) Scopes(ctx context.Context) (scopes []string, err error) {
	err = l.read(ctx, "ledger", func(tx *transaction) error {
		scopes = nil
		_, err := tx.rows("MATCH (e:"+entryLabel+") RETURN DISTINCT e.scope AS scope ORDER BY scope", nil, func(r *neo4j.Record) error {
			scope, _ := r.Values[0].(string)
			scopes = append(scopes, scope)
			return nil
		})
		return err
	})
	return scopes, err
}

// Now returns the time of the server: those of the clients may differ.
func (l ledger) Now(ctx context.Context) (now time.Time, err error) {
	err = l.read(ctx, "ledger", func(tx *transaction) error {
		r, err := tx.one("RETURN datetime.realtime().epochMillis", nil)
		if err != nil {
			return err
		}
		millis, ok := r.Values[0].(int64)
		if !ok {
			return fmt.Errorf("connector: the server's time is %T, want a number", r.Values[0])
		}
		now = time.UnixMilli(millis)
		return nil
	})
	return now, err
}

// identityName is the name of the node that bears the id of the ledger; it lies among
// the locks, so that it needs no constraint and no right of its own.
const identityName = "identity"

// Identity returns the id that the database got with its first entry, which a dump, a
// copy or a backup carries along, and the server's own id of the database, which is
// there without any entry. Neither depends on the address.
func (l ledger) Identity(ctx context.Context) (id privacy.Identity, err error) {
	err = l.read(ctx, "ledger", func(tx *transaction) error {
		_, err := tx.rows("MATCH (l:"+lockLabel+" {name: $identity}) RETURN l.id", map[string]any{"identity": identityName},
			func(r *neo4j.Record) error {
				id.Ledger, _ = r.Values[0].(string)
				return nil
			})
		return err
	})
	if err != nil {
		return id, err
	}
	err = l.read(ctx, "ledger", func(tx *transaction) error {
		r, err := tx.one("CALL db.info() YIELD id RETURN id", nil)
		if err == nil {
			id.Place, _ = r.Values[0].(string)
		}
		return err
	})
	if errors.Is(err, connector.ErrAuth) { // a role without the right to call procedures: the id alone has to do
		err = nil
	}
	return id, err
}

// digest is a key of fixed length for names of any.
func digest(parts ...string) string {
	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
