// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/database"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// record is the durable state of a sensor. Its σ_min is that of the first package, and
// its limit can only decrease.
type record struct {
	Sensor      graph.ID         `json:"sensor"`
	GraphDigest privacy.Digest   `json:"graphDigest"`
	SigmaMin    float64          `json:"sigmaMin"`
	Limit       privacy.Cost     `json:"limit"` // 0: none
	Cost        privacy.Cost     `json:"cost"`  // of a release under the first package: the least charge of any
	Steps       int64            `json:"steps"` // S of the first package
	Clip        privacy.Interval `json:"clip"`
	Spent       privacy.Cost     `json:"spent"`
	Releases    int64            `json:"releases"`
	Last        string           `json:"lastReleaseId"`
}

// state keeps a record in an embedded database, which locks its file against a
// second process and syncs it before a transaction ends.
type state struct {
	db     *database.DB
	record record
}

var (
	bucket    = []byte("sensor")
	recordKey = []byte("record")
)

// openDatabase opens a database of a state directory, or makes both.
func openDatabase(dir, name string) (*database.DB, error) {
	if dir == "" {
		return nil, errors.New("sensor: no state directory is named; the counter and the budget need one")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sensor: state: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("sensor: state: %w", err)
	}
	defer root.Close()
	db, err := database.Open(root, name, database.Options{Wait: time.Second})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, fmt.Errorf("sensor: %s is in use by another process", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("sensor: open the state in %s: %w", dir, err)
	}
	return db, nil
}

// openState opens the record of the package's sensor, or starts one.
func openState(dir string, p Package) (*state, error) {
	db, err := openDatabase(dir, "state.db")
	if err != nil {
		return nil, err
	}
	s := &state{db: db}
	if err := db.View(s.load); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.adopt(p); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *state) load(tx *bbolt.Tx) error {
	b := tx.Bucket(bucket)
	if b == nil {
		return nil
	}
	if err := strictjson.Unmarshal(b.Get(recordKey), &s.record); err != nil {
		return fmt.Errorf("sensor: the state is damaged; nothing is released from it: %w", err)
	}
	return nil
}

// adopt refuses a package whose terms are weaker than those of the first.
func (s *state) adopt(p Package) error {
	r := &s.record
	if r.Sensor == "" {
		*r = record{
			Sensor: p.Sensor.ID, GraphDigest: p.GraphDigest, SigmaMin: p.SigmaMin, Limit: p.Limit,
			Cost: p.Cost, Steps: p.Sensor.Steps, Clip: p.Clip,
		}
		return nil
	}
	switch {
	case r.Sensor != p.Sensor.ID:
		return fmt.Errorf("sensor: the state is of sensor %q, the package of %q", r.Sensor, p.Sensor.ID)
	case r.GraphDigest != p.GraphDigest:
		return fmt.Errorf("%w: the package is for another graph than the sensor's releases so far", privacy.ErrMismatch)
	case p.Sensor.Sigma() < r.SigmaMin:
		return fmt.Errorf("sensor: the package's σ = %v is below the sensor's minimum %v", p.Sensor.Sigma(), r.SigmaMin)
	case p.Sensor.Steps < r.Steps/2: // S of one rule varies by a factor of two
		return fmt.Errorf("sensor: the package's lattice has %d steps in σ, the sensor's first one %d: too coarse", p.Sensor.Steps, r.Steps)
	case p.Clip != r.Clip:
		return fmt.Errorf("sensor: the package clips to [%v, %v], the sensor to [%v, %v]", p.Clip.Lo, p.Clip.Hi, r.Clip.Lo, r.Clip.Hi)
	case r.Limit > 0 && (p.Limit == 0 || p.Limit > r.Limit):
		return fmt.Errorf("%w: the package raises the sensor's limit from ρ = %v to %v", privacy.ErrExhausted, r.Limit.Rho(), p.Limit.Rho())
	}
	if p.Limit > 0 {
		r.Limit = p.Limit
	}
	return nil
}

// spend records one release durably.
func (s *state) spend(p Package, releaseID string) error {
	if err := privacy.CheckID("release id", releaseID); err != nil {
		return err
	}
	next := s.record
	if next.Releases > 0 && shortlex(releaseID, next.Last) <= 0 {
		return fmt.Errorf("%w: release id %q does not come after %q", privacy.ErrReplay, releaseID, next.Last)
	}
	cost := max(p.Cost, next.Cost)
	if next.Limit > 0 && cost > next.Limit-next.Spent {
		return fmt.Errorf("%w: the sensor has ρ = %.4g of %.4g left, a release costs %.4g",
			privacy.ErrExhausted, (next.Limit - next.Spent).Rho(), next.Limit.Rho(), cost.Rho())
	}
	if next.Spent += cost; next.Spent < 0 {
		return fmt.Errorf("%w: the sensor's spend overflows", privacy.ErrExhausted)
	}
	next.Releases++
	next.Last = releaseID
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("sensor: state: %w", err)
	}
	err = s.db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		return b.Put(recordKey, data)
	})
	if err != nil {
		return fmt.Errorf("sensor: record the release: %w", err)
	}
	s.record = next
	return nil
}

func (s *state) close() error { return s.db.Close() }

// shortlex orders ids by length, then bytewise.
func shortlex(a, b string) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}
