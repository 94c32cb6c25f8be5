// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// The ledger lies in the bucket ledger, with a bucket for each scope: the account
// under account, the entries by number in entries, and in releases a bucket for
// each release with the numbers of its entries.
var (
	ledgerBucket   = []byte("ledger")
	accountKey     = []byte("account")
	entriesBucket  = []byte("entries")
	releasesBucket = []byte("releases")
	identityBucket = []byte("identity") // the id under idKey
	idKey          = []byte("id")
)

// Ledger returns the ledger that is kept in this folder.
func (s *Store) Ledger() privacy.Ledger { return ledger{s} }

type ledger struct{ *Store }

// Update runs in a write transaction of bbolt, which is exclusive: the lock is held
// before anything is read.
func (l ledger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var nothing, committing bool
	err := l.update(func(tx *bolt.Tx) (err error) {
		defer func() { committing = err == nil }()
		b, err := scopeBucket(tx, scope)
		if err != nil {
			return err
		}
		account, prior, err := load(b, scope, releaseID)
		if err != nil {
			return err
		}
		entry, err := rule(account, prior)
		if err != nil {
			return err
		}
		if entry == nil {
			nothing = true
			return errNothing
		}
		if err := identify(tx); err != nil {
			return err
		}
		return appendEntry(b, account, *entry)
	})
	if nothing {
		return nil
	}
	if err != nil && committing { // a commit that failed, on a full or broken disk
		return l.afterwards(scope, releaseID, rule, err)
	}
	return err
}

// afterwards finds out what became of a commit that failed. An entry that is there
// although the disk did not say that it holds it is [privacy.ErrUncertain].
func (l ledger) afterwards(scope, releaseID string, rule privacy.Rule, failed error) error {
	there := false
	err := l.view(func(tx *bolt.Tx) error {
		b := scopeKept(tx, scope)
		if b == nil {
			return nil
		}
		account, prior, err := load(b, scope, releaseID)
		if err != nil {
			return err
		}
		entry, err := rule(account, prior)
		there = err == nil && entry == nil // the rule finds its own
		return err
	})
	if there || err != nil {
		return fmt.Errorf("%w: %w", privacy.ErrUncertain, failed)
	}
	return failed
}

var errNothing = fmt.Errorf("folder: nothing to store")

func scopeBucket(tx *bolt.Tx, scope string) (*bolt.Bucket, error) {
	all, err := tx.CreateBucketIfNotExists(ledgerBucket)
	if err != nil {
		return nil, err
	}
	b, err := all.CreateBucketIfNotExists([]byte(scope))
	if err != nil {
		return nil, err
	}
	for _, name := range [][]byte{entriesBucket, releasesBucket} {
		if _, err := b.CreateBucketIfNotExists(name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// load reads the account and the entries of one release; "" is a release too.
func load(b *bolt.Bucket, scope, releaseID string) (privacy.Account, []privacy.Entry, error) {
	account := privacy.NewAccount(scope)
	if text := b.Get(accountKey); text != nil {
		if err := strictjson.Unmarshal(text, &account); err != nil {
			return account, nil, fmt.Errorf("%w: the account of scope %q cannot be read", privacy.ErrChain, scope)
		}
	}
	var prior []privacy.Entry
	prefix := releaseKey(releaseID, nil)
	for c, k := b.Bucket(releasesBucket).Cursor(), []byte(nil); ; {
		if k == nil {
			k, _ = c.Seek(prefix)
		} else {
			k, _ = c.Next()
		}
		if k == nil || !bytes.HasPrefix(k, prefix) {
			return account, prior, nil
		}
		e, err := parseEntry(b.Bucket(entriesBucket).Get(k[len(prefix):]))
		if err != nil {
			return account, nil, err
		}
		prior = append(prior, e)
	}
}

func parseEntry(text []byte) (e privacy.Entry, err error) {
	if strictjson.Unmarshal(text, &e) != nil {
		err = fmt.Errorf("%w: an entry cannot be read", privacy.ErrChain)
	}
	return e, err
}

func appendEntry(b *bolt.Bucket, account privacy.Account, e privacy.Entry) error {
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
	seq := binary.BigEndian.AppendUint64(nil, uint64(e.Seq))
	if err := b.Bucket(entriesBucket).Put(seq, text); err != nil {
		return err
	}
	if err := b.Bucket(releasesBucket).Put(releaseKey(e.ReleaseID, seq), []byte{}); err != nil {
		return err
	}
	return b.Put(accountKey, state)
}

// releaseKey is a release id behind its length, then the number of an entry.
func releaseKey(releaseID string, seq []byte) []byte {
	k := binary.BigEndian.AppendUint32(nil, uint32(len(releaseID)))
	return append(append(k, releaseID...), seq...)
}

// Entries returns the chain of a scope.
func (l ledger) Entries(ctx context.Context, scope string) (entries []privacy.Entry, err error) {
	err = l.view(func(tx *bolt.Tx) error {
		if b := scopeKept(tx, scope); b != nil {
			entries, err = chain(b)
		}
		return err
	})
	return entries, err
}

// chain reads the entries of a scope's bucket.
func chain(b *bolt.Bucket) (entries []privacy.Entry, err error) {
	err = b.Bucket(entriesBucket).ForEach(func(_, text []byte) error {
		e, err := parseEntry(text)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

// All returns the chains of all scopes.
func (l ledger) All(ctx context.Context) (map[string][]privacy.Entry, error) {
	all := make(map[string][]privacy.Entry)
	err := l.eachScope(func(scope string, b *bolt.Bucket) (err error) {
		all[scope], err = chain(b)
		return err
	})
	return all, err
}

// Scopes returns the scopes that have entries, ascending.
func (l ledger) Scopes(ctx context.Context) (scopes []string, err error) {
	err = l.eachScope(func(scope string, _ *bolt.Bucket) error {
		scopes = append(scopes, scope)
		return nil
	})
	return scopes, err
}

// eachScope calls f for the scopes that are kept, ascending.
func (l ledger) eachScope(f func(scope string, b *bolt.Bucket) error) error {
	return l.view(func(tx *bolt.Tx) error {
		if tx == nil || tx.Bucket(ledgerBucket) == nil {
			return nil
		}
		return tx.Bucket(ledgerBucket).ForEachBucket(func(scope []byte) error { return f(string(scope), scopeKept(tx, string(scope))) })
	})
}

// scopeKept is the bucket of a scope; nil: nothing of it is kept.
func scopeKept(tx *bolt.Tx, scope string) *bolt.Bucket {
	if tx == nil || tx.Bucket(ledgerBucket) == nil {
		return nil
	}
	return tx.Bucket(ledgerBucket).Bucket([]byte(scope))
}

// identify draws the id of the ledger unless it has one.
func identify(tx *bolt.Tx) error {
	b, err := tx.CreateBucketIfNotExists(identityBucket)
	if err != nil || b.Get(idKey) != nil {
		return err
	}
	return b.Put(idKey, []byte(rand.Text()))
}

// Now returns the time of this machine, which has the folder.
func (l ledger) Now(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }

// Identity returns the id that the folder got with its first entry, which goes where
// .graphcloak/ goes, and the path, which stays when that folder is lost.
func (l ledger) Identity(context.Context) (privacy.Identity, error) {
	id := privacy.Identity{Place: l.Name()}
	err := l.view(func(tx *bolt.Tx) error {
		if tx != nil && tx.Bucket(identityBucket) != nil {
			id.Ledger = string(tx.Bucket(identityBucket).Get(idKey))
		}
		return nil
	})
	return id, err
}
