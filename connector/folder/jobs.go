// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
)

// The bucket ticks has a bucket for each job, with the JSON of each tick by its nominal
// time; saved has the same keys, with what open ticks saved. The key of a job's bucket
// is a letter and its name, for bbolt allows no empty key.
var (
	ticksBucket = []byte("ticks")
	savedBucket = []byte("saved")
)

// Jobs returns where jobs, their claims and the history of runs are kept: in this
// folder, by the clock of this machine.
func (s *Store) Jobs() jobs.Store {
	d := jobStore{s}
	return struct {
		connector.Claims
		jobStore
	}{connector.Claims{Decider: d}, d}
}

// jobStore implements [jobs.Board], [jobs.History] and, in [connector.Claims], [connector.Decider].
type jobStore struct{ s *Store }

// Now implements [jobs.Claims]: the time of this machine, which has the folder.
func (d jobStore) Now(ctx context.Context) (time.Time, error) { return d.s.Ledger().Now(ctx) }

// record is a tick with its token, which [jobs.Claim] does not tell.
type record struct {
	jobs.Claim
	AttemptToken string `json:"attemptToken,omitempty"`
}

func jobKey(jobName string) []byte { return []byte("j" + jobName) }

// tickKey sorts as the times do, also before 1970.
func tickKey(nominal time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(nominal.UnixMilli())^1<<63)
}

// Decide implements [connector.Decider]. A write transaction of bbolt is exclusive, across
// processes too: its lock is held before anything is read.
func (d jobStore) Decide(ctx context.Context, jobName string, saved bool, rule connector.Rule) (next jobs.Claim, err error) {
	if err := ctx.Err(); err != nil {
		return next, err
	}
	err = d.s.update(func(tx *bolt.Tx) error {
		ticks, kept, err := jobBuckets(tx, jobName)
		if err != nil {
			return err
		}
		now, err := d.Now(ctx)
		if err != nil {
			return err
		}
		var latest jobs.Claim
		key, text := ticks.Cursor().Last()
		if key != nil {
			if latest, err = parseTick(text); err != nil {
				return err
			}
			if saved {
				latest.Saved = append([]byte(nil), kept.Get(key)...)
			}
		}
		if next, err = rule(now.UTC(), latest); err != nil {
			return err
		}
		return putTick(ticks, kept, next)
	})
	return next, err
}

// RemoveAhead implements [connector.Decider].
func (d jobStore) RemoveAhead(ctx context.Context, jobName string) error {
	return d.s.update(func(tx *bolt.Tx) error {
		ticks, _, err := jobBuckets(tx, jobName)
		if err != nil {
			return err
		}
		now, err := d.Now(ctx)
		if err != nil {
			return err
		}
		var ahead [][]byte
		all := ticks.Cursor()
		for key, text := all.Seek(tickKey(now.Add(time.Millisecond))); key != nil; key, text = all.Next() {
			if c, err := parseTick(text); err == nil && !c.Open() {
				ahead = append(ahead, key)
			}
		}
		for _, key := range ahead {
			err = errors.Join(err, ticks.Delete(key))
		}
		return err
	})
}

// jobBuckets returns the bucket of a job's ticks and that of what they saved.
func jobBuckets(tx *bolt.Tx, jobName string) (ticks, saved *bolt.Bucket, err error) {
	for _, b := range []struct {
		name []byte
		to   **bolt.Bucket
	}{{ticksBucket, &ticks}, {savedBucket, &saved}} {
		all, err := tx.CreateBucketIfNotExists(b.name)
		if err != nil {
			return nil, nil, err
		}
		if *b.to, err = all.CreateBucketIfNotExists(jobKey(jobName)); err != nil {
			return nil, nil, err
		}
	}
	return ticks, saved, nil
}

// checkFence asks the job's latest tick, where the context is that of one.
func checkFence(ctx context.Context, tx *bolt.Tx) error {
	f, ok := jobs.FenceOf(ctx)
	if !ok {
		return nil
	}
	ticks, _, err := jobBuckets(tx, f.JobName)
	if err != nil {
		return err
	}
	var latest jobs.Claim
	if key, text := ticks.Cursor().Last(); key != nil {
		if latest, err = parseTick(text); err != nil {
			return err
		}
	}
	return f.Check(latest)
}

func parseTick(text []byte) (jobs.Claim, error) {
	var r record
	if err := strictjson.Unmarshal(text, &r); err != nil {
		return jobs.Claim{}, fmt.Errorf("the record of a tick cannot be read: %w", err)
	}
	r.Token = r.AttemptToken
	return r.Claim, nil
}

func putTick(ticks, saved *bolt.Bucket, c jobs.Claim) error {
	text, err := json.Marshal(record{c, c.Token})
	if err != nil {
		return err
	}
	key := tickKey(c.NominalTime)
	switch {
	case !c.Open():
		err = saved.Delete(key)
	case c.Saved != nil:
		err = saved.Put(key, c.Saved)
	}
	if err != nil {
		return err
	}
	return ticks.Put(key, text)
}

// Ticks implements [jobs.Claims].
func (d jobStore) Ticks(_ context.Context, q jobs.TickQuery) (chosen []jobs.Claim, err error) {
	err = d.s.view(func(tx *bolt.Tx) error {
		all, err := loadTicks(tx)
		chosen = connector.SelectTicks(all, q)
		return err
	})
	return chosen, err
}

func loadTicks(tx *bolt.Tx) (all []jobs.Claim, err error) {
	if tx == nil || tx.Bucket(ticksBucket) == nil {
		return nil, nil
	}
	b := tx.Bucket(ticksBucket)
	err = b.ForEachBucket(func(job []byte) error {
		return b.Bucket(job).ForEach(func(_, text []byte) error {
			c, err := parseTick(text)
			all = append(all, c)
			return err
		})
	})
	return all, err
}
