// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"fmt"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/document"
)

// AnswerRelease is a release of answers with its plan. Its JSON form is a release file.
type AnswerRelease struct {
	*answer.Release               // nil: nobody was asked, and kept answers are read
	Plan            *plan.Whisper // whose people are those of the release
	Signal          plan.Signal
}

func (r *AnswerRelease) scope() string { return Scope(r.Signal) }

func (r *AnswerRelease) paidBy(e privacy.Entry) error { return answer.VerifyEntry(r.Release, e) }

type answerDocument struct {
	SchemaVersion int             `json:"schemaVersion"`
	Digest        privacy.Digest  `json:"documentDigest"`
	Plan          *plan.Whisper   `json:"plan"`
	Signal        plan.Signal     `json:"signal"`
	Release       *answer.Release `json:"answers"`
}

// MarshalJSON writes the release file.
func (r *AnswerRelease) MarshalJSON() ([]byte, error) { return document.Joined(r.File()) }

// File is the release file in pieces.
func (r *AnswerRelease) File() (strictjson.Pieces, error) {
	fields := make(map[string]json.RawMessage)
	if err := document.Merge(fields, answerDocument{Plan: r.Plan, Signal: r.Signal, Release: r.Release}); err != nil {
		return nil, err
	}
	return document.Seal(fields)
}

// UnmarshalJSON reads a release file, and checks release and plan, and that they belong together.
func (r *AnswerRelease) UnmarshalJSON(data []byte) error {
	if err := r.unmarshal(data); err != nil {
		return fmt.Errorf("read release: %w", err)
	}
	return nil
}

func (r *AnswerRelease) unmarshal(data []byte) error {
	var d answerDocument
	if err := document.Read(data, "release file of answers", &d); err != nil {
		return err
	}
	if d.Plan == nil || d.Release == nil || d.Signal.AnswerProperty == "" {
		return fmt.Errorf("%w: there is no plan, no release or no answer property in it", strictjson.ErrInvalid)
	}
	if err := answer.Verify(d.Release, d.Plan.Plan); err != nil {
		return err
	}
	if err := d.Signal.CheckPrivate(d.Plan.PublicProperties); err != nil {
		return err
	}
	q := AnswerRelease{Release: d.Release, Plan: d.Plan, Signal: d.Signal}
	if err := document.CheckRoundTrip(data, &q); err != nil {
		return err
	}
	*r = q
	return nil
}
