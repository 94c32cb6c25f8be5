// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// Kept is a run that is not complete: its attempt, or the release once that was drawn, and what is needed to complete it. It
// holds public settings and values with noise only.
type Kept struct {
	Store       string           `json:"store"`    // as it was named
	Ledger      privacy.Identity `json:"ledger"`   // of that store, however it is named
	Identity    string           `json:"identity"` // the job's
	Attempt     *Attempt         `json:"attempt,omitempty"`
	Release     *Release         `json:"release,omitempty"`
	Answers     *AnswerRelease   `json:"answers,omitempty"`     // of a whisper, in place of Release
	ReleaseOnly bool             `json:"releaseOnly,omitempty"` // nothing is recovered
	Signal      plan.Signal      `json:"signal"`
	Write       WriteOptions     `json:"write"`
	Caller      json.RawMessage  `json:"caller,omitempty"` // the job's
}

// Plan is what the run was paid for, or is to be; nil for a whisper.
func (k *Kept) Plan() *privacy.Plan {
	switch {
	case k.Release != nil:
		return k.Release.Plan()
	case k.Whisper() != nil:
		return nil
	}
	return k.Attempt.Plan.Plan
}

// Whisper is the plan of a whisper; nil for heat.
func (k *Kept) Whisper() *plan.Whisper {
	switch {
	case k.Answers != nil:
		return k.Answers.Plan
	case k.Attempt != nil:
		return k.Attempt.Whisper
	}
	return nil
}

// Values is the number of values that are drawn, once they are paid for.
func (k *Kept) Values() int {
	if w := k.Whisper(); w != nil {
		return len(w.People)
	}
	return len(k.Plan().Sensors)
}

// Randomness is that of the values that are still to be drawn; the system's where there are none.
func (k *Kept) Randomness() privacy.Randomness {
	switch a := k.Attempt; {
	case a == nil || a.Release != nil || a.Answers != nil:
		return privacy.SystemRandomness
	case a.Whisper != nil:
		return a.Whisper.Randomness
	}
	return k.Plan().Randomness
}

// GraphDigest is that of the graph that the run was begun with.
func (k *Kept) GraphDigest() privacy.Digest {
	if w := k.Whisper(); w != nil {
		return w.GraphDigest
	}
	return k.Plan().GraphDigest
}

// Settings are those of the model that the run was begun with. Their queries run once [plan.Settings.Agree] was called.
func (k *Kept) Settings() *plan.Settings {
	switch {
	case k.Release != nil:
		return &k.Release.Model
	case k.Whisper() != nil:
		return &k.Whisper().Model
	}
	return &k.Attempt.Plan.Model
}

// ReleaseID is the run's own id, or that of the sensors.
func (k *Kept) ReleaseID() string {
	switch {
	case k.Release != nil:
		return k.Release.ID()
	case k.Answers != nil:
		return k.Answers.ID()
	}
	return k.Attempt.ReleaseID
}

// Paid reports whether the run was paid for. The answer is final once the process that began it has ended. It returns the
// errors of [privacy.Paid], such as [privacy.ErrReplay] where the release was given up.
func (k *Kept) Paid(ctx context.Context, l privacy.Ledger) (bool, error) {
	if k.Attempt == nil {
		return true, nil // a release is drawn once it is paid for
	}
	c, err := k.Attempt.charge()
	if err != nil {
		return false, err
	}
	return privacy.Paid(ctx, l, c)
}

// IsOn reports whether the run was begun on a store of this name and ledger.
func (k *Kept) IsOn(ctx context.Context, store string, l privacy.Ledger) (bool, error) {
	id, err := l.Identity(ctx)
	return k.Ledger.Same(id) || k.Ledger == privacy.Identity{} && k.Store == store, err
}

// check refuses what no run of ours left.
func (k *Kept) check() error {
	if k.Release == nil && k.Answers == nil && (k.Attempt == nil || (k.Attempt.Plan == nil) == (k.Attempt.Whisper == nil)) {
		return fmt.Errorf("%w: what is kept of the run holds neither an attempt nor a release", strictjson.ErrInvalid)
	}
	return nil
}

// document is the run as JSON. The plan and the release, whose texts may be long,
// are put in as they write themselves.
func (k *Kept) document() (strictjson.Pieces, error) {
	bare := *k
	bare.Attempt, bare.Release = nil, nil
	fields, err := membersOf(bare)
	if err != nil {
		return nil, err
	}
	if k.Release != nil {
		if fields["release"], err = k.Release.File(); err != nil {
			return nil, err
		}
	}
	if k.Attempt == nil {
		return strictjson.Object(fields), nil
	}
	attempt, err := k.Attempt.document()
	if err != nil {
		return nil, err
	}
	// "attempt" is before all other names.
	rest := strictjson.Object(fields)
	rest[0] = []byte{','}
	return slices.Concat(strictjson.Pieces{[]byte(`{"attempt":`)}, attempt, rest), nil
}

func (a *Attempt) document() (strictjson.Pieces, error) {
	bare := *a
	bare.Plan, bare.Release = nil, nil
	fields, err := membersOf(bare)
	if err != nil {
		return nil, err
	}
	if a.Plan != nil {
		if fields["plan"], err = a.Plan.File(); err != nil {
			return nil, err
		}
	}
	if a.Release != nil {
		if fields["release"], err = a.Release.File(); err != nil {
			return nil, err
		}
	}
	return strictjson.Object(fields), nil
}

func membersOf(v any) (map[string]strictjson.Pieces, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	members, err := strictjson.Members(data)
	return strictjson.InPieces(members), err
}

// readKept reads a document.
func readKept(data []byte) (*Kept, error) {
	var k Kept
	if err := strictjson.Unmarshal(data, &k); err != nil {
		return nil, err
	}
	return &k, k.check()
}
