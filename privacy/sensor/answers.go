// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
)

// keptAnswer is what a person's machine keeps of one rumour. It holds nothing that was not
// sent: no truth, and so nothing that says whether the truth has changed.
type keptAnswer struct {
	Person graph.ID     `json:"person"`
	Round  int          `json:"round"`
	Limit  privacy.Cost `json:"limit"` // ε of all rounds, in units of 2⁻⁴⁰
	Spent  privacy.Cost `json:"spent"`
	Value  answer.Value `json:"value"`
}

// AnswerOptions are options of [Answer].
type AnswerOptions struct {
	StateDir   string             // holds the kept answers; created with mode 0700
	Key        *privacy.SensorKey // escrow only
	EpsilonMax float64            // the person's own limit of all rounds of a rumour; 0: the package's
}

var answersBucket = []byte("answers")

// Answer is a person's side of a round: the truth in, the answer out. The answer of a round is
// drawn once and given again whatever the truth has become; only a new round draws again. The
// answer and what it cost are on disk before they are returned.
//
// privacy.ErrExhausted past the limit, which a later package can lower and not raise,
// privacy.ErrMismatch for a package of another person or of a round before the last.
//
// Proof: docs/proofs/answers.md.
func Answer(p answer.Package, truth bool, opts AnswerOptions) (v answer.Value, err error) {
	if err := p.Validate(); err != nil {
		return v, err
	}
	if opts.EpsilonMax != 0 {
		limit, err := privacy.PureCost(opts.EpsilonMax)
		if err != nil {
			return v, err
		}
		p.Limit = min(p.Limit, limit)
	}
	db, err := openDatabase(opts.StateDir, "answers.db")
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists(answersBucket)
		if err != nil {
			return err
		}
		kept := keptAnswer{Person: p.Person, Limit: p.Limit}
		if data := bucket.Get([]byte(p.Rumour)); data != nil {
			if err := strictjson.Unmarshal(data, &kept); err != nil {
				return fmt.Errorf("sensor: the state is damaged; nothing is answered from it: %w", err)
			}
		}
		if v, err = kept.answer(p, truth, opts.Key); err != nil {
			return err
		}
		data, err := json.Marshal(kept)
		if err != nil {
			return fmt.Errorf("sensor: state: %w", err)
		}
		return bucket.Put([]byte(p.Rumour), data)
	})
	if err != nil {
		return answer.Value{}, err
	}
	return v, nil
}

// answer returns the kept answer of the package's round, or draws that of a later one.
func (k *keptAnswer) answer(p answer.Package, truth bool, key *privacy.SensorKey) (answer.Value, error) {
	switch {
	case p.Person != k.Person:
		return answer.Value{}, fmt.Errorf("%w: the state is of %q, the package of %q", privacy.ErrMismatch, k.Person, p.Person)
	case p.Round == k.Round:
		return k.Value, nil
	case p.Round < k.Round:
		return answer.Value{}, fmt.Errorf("%w: round %d of %q was answered, the package is of round %d", privacy.ErrMismatch, k.Round,
			p.Rumour, p.Round)
	}
	cost, err := privacy.PureCost(p.Epsilon)
	if err != nil {
		return answer.Value{}, err
	}
	k.Limit = min(k.Limit, p.Limit)
	if cost > k.Limit-k.Spent {
		return answer.Value{}, fmt.Errorf("%w: about %q you have ε = %.4g of %.4g left, an answer costs %.4g", privacy.ErrExhausted,
			p.Rumour, (k.Limit - k.Spent).PureEpsilon(), k.Limit.PureEpsilon(), p.Epsilon)
	}
	k.Round, k.Spent = p.Round, k.Spent+cost
	k.Value, err = p.Draw(truth, key)
	return k.Value, err
}

// ReadAnswerFile reads the package of a person in a file, and checks it.
func ReadAnswerFile(path string) (p answer.Package, err error) {
	data, err := disk.Read(path, 1<<20)
	if err != nil {
		return p, fmt.Errorf("sensor: read package: %w", err)
	}
	if err := strictjson.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("sensor: read package: %w", err)
	}
	stated, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("sensor: read package: %w", err)
	}
	if err := strictjson.Compare(data, stated, ""); err != nil {
		return p, fmt.Errorf("sensor: read package: %w", err)
	}
	return p, p.Validate()
}

// CloakAnswer reads the truth from in, {"truth": true} or {"truth": false}, and writes the
// answer of [Answer] to out. The error for what is no truth repeats nothing of it.
func CloakAnswer(p answer.Package, in io.Reader, out io.Writer, opts AnswerOptions) error {
	data, err := disk.All(in, "a truth", maxLine)
	if err != nil {
		return fmt.Errorf("sensor: read the truth: %w", err)
	}
	var given struct {
		Truth *bool `json:"truth"`
	}
	if strictjson.Unmarshal(data, &given) != nil || given.Truth == nil { // the cause would quote it
		return errors.New("sensor: what was read is neither {\"truth\": true} nor {\"truth\": false}")
	}
	v, err := Answer(p, *given.Truth, opts)
	if err != nil {
		return err
	}
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("sensor: answer: %w", err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("sensor: write answer: %w", err)
	}
	return nil
}
