// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
)

// The history of runs: the JSON of each, and its report, by its id.
var (
	historyBucket = []byte("history")
	reportsBucket = []byte("reports")
)

// History returns where the history of runs is kept: in this folder.
func (s *Store) History() jobs.History { return history{s} }

type history struct{ s *Store }

// PutRun implements [jobs.History].
func (h history) PutRun(ctx context.Context, r jobs.Run) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return h.s.update(func(tx *bolt.Tx) error {
		entries, err := tx.CreateBucketIfNotExists(historyBucket)
		if err != nil {
			return err
		}
		reports, err := tx.CreateBucketIfNotExists(reportsBucket)
		if err != nil {
			return err
		}
		if r.Report == nil {
			err = reports.Delete([]byte(r.RunID))
		} else {
			err = reports.Put([]byte(r.RunID), r.Report)
		}
		if err != nil {
			return err
		}
		return entries.Put([]byte(r.RunID), text)
	})
}

func loadHistory(tx *bolt.Tx) (all []jobs.Run, known []connector.Run, err error) {
	if known, err = loadRuns(tx); err != nil {
		return nil, nil, err
	}
	entries := map[string]jobs.Run{}
	if tx != nil && tx.Bucket(historyBucket) != nil {
		err = tx.Bucket(historyBucket).ForEach(func(id, text []byte) error {
			var r jobs.Run
			if err := strictjson.Unmarshal(text, &r); err != nil {
				return fmt.Errorf("the history of a run cannot be read: %w", err)
			}
			entries[string(id)] = r
			return nil
		})
	}
	return connector.History(entries, known), known, err
}

// ListRuns implements [jobs.History].
func (h history) ListRuns(_ context.Context, q jobs.RunQuery) (chosen []jobs.Run, err error) {
	err = h.s.view(func(tx *bolt.Tx) error {
		all, _, err := loadHistory(tx)
		chosen = connector.SelectRuns(all, q)
		return err
	})
	return chosen, err
}

// GetRun implements [jobs.History].
func (h history) GetRun(_ context.Context, runID string) (r jobs.Run, err error) {
	err = h.s.view(func(tx *bolt.Tx) error {
		all, _, err := loadHistory(tx)
		if err != nil {
			return err
		}
		k := slices.IndexFunc(all, func(r jobs.Run) bool { return r.RunID == runID })
		if k < 0 {
			return fmt.Errorf("%w: run %q", jobs.ErrNoJob, runID)
		}
		r = all[k]
		if b := tx.Bucket(reportsBucket); b != nil {
			r.Report = slices.Clone(b.Get([]byte(runID)))
		}
		return nil
	})
	return r, err
}

// PruneRuns implements [jobs.History].
func (h history) PruneRuns(ctx context.Context, before time.Time) (int64, error) {
	var ids []string
	var known []connector.Run
	err := h.s.view(func(tx *bolt.Tx) error {
		all, runs, err := loadHistory(tx)
		ids, known = connector.Prunable(all, runs, before), runs
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, run := range known {
		if slices.Contains(ids, run.ID) {
			if _, err := h.s.Undo(ctx, run.ID); err != nil {
				return 0, err
			}
		}
	}
	return int64(len(ids)), h.s.update(func(tx *bolt.Tx) error {
		return forget(tx, ids)
	})
}

// forget removes the history, the reports and the records of runs, but nothing of the ledger.
func forget(tx *bolt.Tx, ids []string) error {
	for _, bucket := range [][]byte{historyBucket, reportsBucket, runsBucket} {
		b := tx.Bucket(bucket)
		for _, id := range ids {
			if b == nil {
				break
			}
			if err := b.Delete([]byte(id)); err != nil {
				return err
			}
		}
	}
	return nil
}
