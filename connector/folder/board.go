// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
)

// boardBucket holds the JSON of each record of a job by its number.
var boardBucket = []byte("jobs")

// filed is a record as it is kept: its properties with the types that they have.
type filed map[string]typed

// typed is a value of one of the types of a property.
type typed struct {
	Bool  *bool      `json:"bool,omitempty"`
	Int   *int64     `json:"int,omitempty"`
	Float *float64   `json:"float,omitempty"`
	Text  *string    `json:"text,omitempty"`
	Time  *time.Time `json:"time,omitempty"`
	List  []typed    `json:"list,omitempty"`
}

func typedOf(v any) typed {
	switch x := v.(type) {
	case bool:
		return typed{Bool: &x}
	case int64:
		return typed{Int: &x}
	case float64:
		return typed{Float: &x}
	case string:
		return typed{Text: &x}
	case time.Time:
		return typed{Time: &x}
	case []any:
		list := make([]typed, len(x))
		for i, e := range x {
			list[i] = typedOf(e)
		}
		return typed{List: list}
	}
	text := fmt.Sprint(v)
	return typed{Text: &text}
}

func (t typed) value() any {
	switch {
	case t.Bool != nil:
		return *t.Bool
	case t.Int != nil:
		return *t.Int
	case t.Float != nil:
		return *t.Float
	case t.Text != nil:
		return *t.Text
	case t.Time != nil:
		return *t.Time
	}
	list := make([]any, len(t.List))
	for i, e := range t.List {
		list[i] = e.value()
	}
	return list
}

// File files a job and returns the id of its record. The fields are those that
// [jobs.Define] reads; paused and origin count too. It returns [connector.ErrInput] for a
// damaged state, [connector.ErrTransient] where another process holds it, and
// [connector.ErrReadOnly].
func (s *Store) File(ctx context.Context, fields map[string]any) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	err = s.update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(boardBucket)
		if err != nil {
			return err
		}
		id, err = putNew(b, fields)
		return err
	})
	return id, err
}

func putNew(b *bolt.Bucket, properties map[string]any) (id string, err error) {
	number, err := b.NextSequence()
	if err != nil {
		return "", err
	}
	id = strconv.FormatUint(number, 10)
	return id, putFiled(b, id, properties)
}

func filedKey(id string) []byte {
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, number)
}

func putFiled(b *bolt.Bucket, id string, properties map[string]any) error {
	f := filed{}
	for name, v := range properties {
		if v != nil {
			f[name] = typedOf(v)
		}
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return b.Put(filedKey(id), text)
}

// Jobs implements [jobs.Board].
func (d jobStore) Jobs(context.Context) (board []jobs.Filed, err error) {
	err = d.s.view(func(tx *bolt.Tx) error {
		if tx == nil || tx.Bucket(boardBucket) == nil {
			return nil
		}
		return tx.Bucket(boardBucket).ForEach(func(key, text []byte) error {
			properties, err := parseFiled(text)
			f := connector.FiledOf(properties)
			f.ID = strconv.FormatUint(binary.BigEndian.Uint64(key), 10)
			board = append(board, f)
			return err
		})
	})
	return connector.SortFiled(board), err
}

func parseFiled(text []byte) (map[string]any, error) {
	var f filed
	if err := strictjson.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("the record of a job cannot be read: %w", err)
	}
	properties := make(map[string]any, len(f))
	for name, v := range f {
		properties[name] = v.value()
	}
	return properties, nil
}

// SetState implements [jobs.Board].
func (d jobStore) SetState(ctx context.Context, t jobs.Target, s jobs.State) error {
	return d.set(ctx, t, connector.StateOf(s))
}

// SetPaused implements [jobs.Board].
func (d jobStore) SetPaused(ctx context.Context, t jobs.Target, paused bool) error {
	return d.set(ctx, t, map[string]any{connector.PausedKey: paused})
}

// set replaces properties of a record, in one transaction.
func (d jobStore) set(ctx context.Context, t jobs.Target, properties map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.s.update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(boardBucket)
		if err != nil {
			return err
		}
		id, there, err := find(b, t)
		switch {
		case err != nil:
			return err
		case there != nil:
		case t.ID != "":
			return fmt.Errorf("%w: job %q", jobs.ErrNoJob, t.Name)
		default:
			there = map[string]any{"name": t.Name, connector.OriginKey: jobs.OriginSettings}
			if id, err = putNew(b, there); err != nil {
				return err
			}
		}
		for name, v := range properties {
			there[name] = v
		}
		return putFiled(b, id, there)
	})
}

// find returns the record that is meant; nil where it is not there.
func find(b *bolt.Bucket, t jobs.Target) (id string, properties map[string]any, err error) {
	if t.ID != "" {
		key := filedKey(t.ID)
		if key == nil || b.Get(key) == nil {
			return "", nil, nil
		}
		properties, err = parseFiled(b.Get(key))
		return t.ID, properties, err
	}
	err = b.ForEach(func(key, text []byte) error {
		p, err := parseFiled(text)
		if err == nil && connector.IsTarget(connector.FiledOf(p), t) {
			id, properties = strconv.FormatUint(binary.BigEndian.Uint64(key), 10), p
		}
		return err
	})
	return id, properties, err
}
