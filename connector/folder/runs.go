// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
)

// runsBucket holds the JSON of each run by its id.
var runsBucket = []byte("runs")

// kept is the JSON of a run.
type kept struct {
	jobs.Run
	Write *jobs.Write `json:"write,omitempty"`
}

func parseRun(text []byte) (jobs.Run, error) {
	var k kept
	if err := strictjson.Unmarshal(text, &k); err != nil {
		return jobs.Run{}, fmt.Errorf("the record of a run cannot be read: %w", err)
	}
	k.Run.Write = k.Write
	return k.Run, nil
}

// loadRun returns the record of one run as it is kept; without an id where there is none.
func loadRun(tx *bolt.Tx, runID string) (jobs.Run, error) {
	if b := tx.Bucket(runsBucket); b != nil {
		if text := b.Get([]byte(runID)); text != nil {
			return parseRun(text)
		}
	}
	return jobs.Run{}, nil
}

func loadRuns(tx *bolt.Tx) (runs []jobs.Run, err error) {
	if tx == nil || tx.Bucket(runsBucket) == nil {
		return nil, nil
	}
	err = tx.Bucket(runsBucket).ForEach(func(_, text []byte) error {
		r, err := parseRun(text)
		runs = append(runs, connector.Known(r))
		return err
	})
	return runs, err
}

func putRun(tx *bolt.Tx, r jobs.Run) error {
	b, err := tx.CreateBucketIfNotExists(runsBucket)
	if err != nil {
		return err
	}
	text, err := json.Marshal(kept{r, r.Write})
	if err != nil {
		return err
	}
	return b.Put([]byte(r.RunID), text)
}

// runs are all that are known, by id. It returns [connector.ErrInput] for a
// damaged state, [connector.ErrTransient] where another process holds it, and
// [connector.ErrReadOnly].
func (s *Store) runs() (runs []jobs.Run, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		runs, err = loadRuns(tx)
		return err
	})
	return runs, err
}

// Run returns what is known of a run that writes, or [connector.ErrNotFound]; [connector.ErrInput] for a
// damaged state, [connector.ErrTransient] where another process holds it, and
// [connector.ErrReadOnly].
func (s *Store) Run(_ context.Context, runID string) (jobs.Run, error) {
	runs, err := s.runs()
	if err != nil {
		return jobs.Run{}, err
	}
	return connector.FindWritten(runs, runID)
}

// settle sets how far the write of a run has come, where it stands at from, or whatever it stands at where from is "".
func (s *Store) settle(runID string, from, to jobs.Status, nodes int64) error {
	return s.update(func(tx *bolt.Tx) error {
		run, err := loadRun(tx, runID)
		switch {
		case err != nil || from != "" && run.WriteStatus() != from:
			return err
		case run.Write == nil:
			return connector.NotFound("run", runID, nil)
		}
		return putRun(tx, run.Settled(to, nodes))
	})
}
