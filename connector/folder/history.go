// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// reportsBucket holds the report of each run by its id.
var reportsBucket = []byte("reports")

// History returns where the history of runs is kept: in this folder.
func (s *Store) History() jobs.History { return history{s} }

type history struct{ s *Store }

// PutRun implements [jobs.History].
func (h history) PutRun(ctx context.Context, r jobs.Run) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.s.update(func(tx *bolt.Tx) error {
		known, err := loadRun(tx, r.RunID)
		if err != nil {
			return err
		}
		r.Write = known.Write
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
		return putRun(tx, r)
	})
}

// ListRuns implements [jobs.History].
func (h history) ListRuns(_ context.Context, q jobs.RunQuery) ([]jobs.Run, error) {
	all, err := h.s.runs()
	return connector.SelectRuns(all, q), err
}

// GetRun implements [jobs.History].
func (h history) GetRun(_ context.Context, runID string) (r jobs.Run, err error) {
	err = h.s.view(func(tx *bolt.Tx) error {
		all, err := loadRuns(tx)
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
	all, err := h.s.runs()
	if err != nil {
		return 0, err
	}
	old := connector.Prunable(all, before)
	for _, run := range old {
		if run.Write == nil {
			continue
		}
		if _, err := h.s.Undo(ctx, run.RunID); err != nil {
			return 0, err
		}
	}
	return int64(len(old)), h.s.update(func(tx *bolt.Tx) error {
		return forget(tx, old)
	})
}

// forget removes what is known of runs and their reports, but nothing of the ledger.
func forget(tx *bolt.Tx, runs []jobs.Run) error {
	for _, bucket := range [][]byte{reportsBucket, runsBucket} {
		b := tx.Bucket(bucket)
		for _, r := range runs {
			if b == nil {
				break
			}
			if err := b.Delete([]byte(r.RunID)); err != nil {
				return err
			}
		}
	}
	return nil
}
