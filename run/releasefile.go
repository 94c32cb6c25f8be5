// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"fmt"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/document"
	"github.com/graphcloak/graphcloak/report"
)

// Release is a private measurement with the model that it belongs to. Its JSON
// form is a release file: recovery needs nothing else but the graph.
type Release struct {
	*privacy.Release
	Model     plan.Settings
	Signal    plan.Signal     // what was released, by name
	Allocated *plan.Allocated // nil: uniform noise
	// Communities are those of the plan: nil where nothing rests on any, or the file does not say.
	Communities *plan.PlannedCommunities
}

// releaseDocument is a release file. Guarantee and NotProtected are for the
// reader; they follow from the plan.
type releaseDocument struct {
	releaseHead
	Release *privacy.Release `json:"release"`
}

// releaseHead is a release file without the release.
type releaseHead struct {
	SchemaVersion int             `json:"schemaVersion"`
	Digest        privacy.Digest  `json:"documentDigest"`
	Guarantee     string          `json:"guarantee"`
	NotProtected  []string        `json:"notProtected"`
	Model         *plan.Settings  `json:"model"`
	Signal        plan.Signal     `json:"signal"`
	Allocated     *plan.Allocated `json:"allocation,omitempty"`

	Communities *plan.PlannedCommunities `json:"communities,omitempty"`
}

// MarshalJSON writes the release file.
func (r *Release) MarshalJSON() ([]byte, error) { return document.Joined(r.File()) }

// File is the release file in pieces.
func (r *Release) File() (strictjson.Pieces, error) {
	p := r.Plan()
	fields := make(map[string]json.RawMessage)
	if err := document.Merge(fields, releaseHead{
		Guarantee: p.Sentence(), NotProtected: report.Exposed(p.ComponentCount),
		Model: &r.Model, Signal: r.Signal, Allocated: r.Allocated, Communities: r.Communities,
	}); err != nil {
		return nil, err
	}
	var err error
	if fields["release"], err = r.Release.MarshalJSON(); err != nil {
		return nil, err
	}
	return document.Seal(fields)
}

// UnmarshalJSON reads a release file and checks the release and its plan. What
// follows from other parts of the file is computed again and compared. It returns
// [plan.ErrNoSignal] or [plan.ErrSignalPublic] for a signal that no release has.
func (r *Release) UnmarshalJSON(data []byte) error {
	if err := r.unmarshal(data); err != nil {
		return fmt.Errorf("read release: %w", err)
	}
	return nil
}

func (r *Release) unmarshal(data []byte) error {
	var d releaseDocument
	if err := document.Read(data, "release file", &d); err != nil {
		return err
	}
	if d.Model == nil || d.Release == nil {
		return fmt.Errorf("%w: there is no model or no release in it; is this a release file?", strictjson.ErrInvalid)
	}
	if err := d.Signal.Validate(); err != nil {
		return err
	}
	if err := d.Signal.CheckPrivate(d.Model.PublicProperties()); err != nil {
		return err
	}
	q := Release{Release: d.Release, Model: *d.Model, Signal: d.Signal, Allocated: d.Allocated, Communities: d.Communities}
	if err := q.Model.CheckPlan(q.Plan().Public); err != nil {
		return err
	}
	if c := q.Communities; c != nil {
		if err := c.Check(q.Plan().NodeCount, []string{c.Property}); err != nil {
			return err
		}
		if err := q.Signal.CheckPrivate(d.Model.PublicProperties(c.Property)); err != nil {
			return err
		}
	}
	if q.Allocated != nil && q.Allocated.Uniform.Accuracy != nil && !q.Allocated.Uniform.Accuracy.Possible() {
		return fmt.Errorf("%w: expectedAccuracy is not what so many trials can give", strictjson.ErrInvalid)
	}
	if p := q.Plan(); q.Signal.SourceProperty != "" && p.NormError == 0 && p.EntryError == 0 {
		return fmt.Errorf("%w: computed values were released, and the error of computing them is not charged", strictjson.ErrInvalid)
	}
	if err := document.CheckRoundTrip(data, &q); err != nil {
		return err
	}
	*r = q
	return nil
}
