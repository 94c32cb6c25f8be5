// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// runsBucket holds the JSON of each run by its id.
var runsBucket = []byte("runs")

// Runs returns what is known of every run, by id. It returns [connector.ErrInput] for a
// damaged state, [connector.ErrTransient] where another process holds it, and
// [connector.ErrReadOnly].
func (s *Store) Runs(ctx context.Context) (runs []connector.Run, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		runs, err = loadRuns(tx)
		return err
	})
	return runs, err
}

// Run returns what is known of one run, or [connector.ErrNotFound]. It returns the errors
// of [Store.Runs] too.
func (s *Store) Run(ctx context.Context, runID string) (connector.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return connector.Run{}, err
	}
	return connector.FindRun(runs, runID)
}

func loadRuns(tx *bolt.Tx) (runs []connector.Run, err error) {
	if tx == nil || tx.Bucket(runsBucket) == nil {
		return nil, nil
	}
	err = tx.Bucket(runsBucket).ForEach(func(_, text []byte) error {
		var r connector.Run
		if err := strictjson.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("the record of a run cannot be read: %w", err)
		}
		runs = append(runs, connector.Recorded(r))
		return nil
	})
	return runs, err
}

func putRun(tx *bolt.Tx, r connector.Run) error {
	b, err := tx.CreateBucketIfNotExists(runsBucket)
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return b.Put([]byte(r.ID), text)
}

// settle sets the status of a run, and the time under a name such as finishedAt.
func (s *Store) settle(runID, status, when string, nodes int64) error {
	return s.update(func(tx *bolt.Tx) error {
		runs, err := loadRuns(tx)
		if err != nil {
			return err
		}
		run, err := connector.FindRun(runs, runID)
		if err != nil {
			return err
		}
		run.Status, run.Nodes = status, nodes
		if run.Record == nil {
			run.Record = map[string]any{}
		}
		run.Record[when] = time.Now().UTC().Format(time.RFC3339)
		return putRun(tx, run)
	})
}
