// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Release holds the kept answers of a round: the only thing that leaves the trust boundary.
// It is made by [Plan.Answer] or [Plan.Collect], or read from JSON and checked.
type Release struct {
	plan       *Plan
	id         string
	deployment string // escrow only
	epoch      uint32 // escrow only
	answers    []Answer
}

// Answer draws the answer of every person who is asked. truths runs beside p.People; escrow is
// nil for the system's randomness. Spend the plan's [Plan.Charge] first.
//
// Proof: docs/proofs/answers.md.
func (p *Plan) Answer(truths []bool, releaseID string, escrow *privacy.Escrow) (*Release, error) {
	if len(truths) != len(p.People) || (p.Randomness == privacy.EscrowRandomness) != (escrow != nil) {
		return nil, fmt.Errorf("answer: %d truths of %d people under %s randomness; a master secret goes with escrow, and only there",
			len(truths), len(p.People), p.Randomness)
	}
	r := &Release{plan: p, id: releaseID}
	if escrow != nil {
		r.deployment, r.epoch = escrow.Deployment(), escrow.Epoch()
	}
	if err := errors.Join(p.Validate(), r.validate()); err != nil {
		return nil, err
	}
	draw := func() error { return r.keyed(truths, escrow) }
	if escrow == nil {
		draw = func() error { return r.drawn(truths) }
	}
	if err := draw(); err != nil {
		return nil, err
	}
	return r, nil
}

// drawn tosses all coins before it looks at a truth.
func (r *Release) drawn(truths []bool) error {
	c := newCoin(r.plan.cost())
	err := privacy.SystemBits(func(next func() uint64) error {
		for _, person := range r.plan.People {
			flip, err := c.flip(next)
			if err != nil {
				return err
			}
			r.answers = append(r.answers, Answer{ID: person.ID, Yes: flip})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, truth := range truths {
		r.answers[i].Yes = r.answers[i].Yes != truth
	}
	return nil
}

func (r *Release) keyed(truths []bool, escrow *privacy.Escrow) error {
	c := newCoin(r.plan.cost())
	for i, person := range r.plan.People {
		key, err := escrow.SensorKey(string(person.ID))
		if err != nil {
			return err
		}
		a, err := r.plan.keyed(c, key, r.id, truths[i])
		if err != nil {
			return err
		}
		a.ID = person.ID
		r.answers = append(r.answers, a)
	}
	return nil
}

// Reveal turns the answers of an escrowed release back: it returns the truths beside
// [Release.Answers]. [privacy.ErrReveal] where a nonce is not that of the truth, and then
// nothing is returned. The caller records it with [privacy.MarkRevealed].
func (r *Release) Reveal(escrow *privacy.Escrow) ([]bool, error) {
	if r.deployment == "" || r.deployment != escrow.Deployment() || r.epoch != escrow.Epoch() {
		return nil, fmt.Errorf("%w: release %q is of deployment %q, epoch %d; the key is of %v", privacy.ErrReveal, r.id, r.deployment,
			r.epoch, escrow)
	}
	truths, c := make([]bool, len(r.answers)), newCoin(r.plan.cost())
	for i, a := range r.answers {
		key, err := escrow.SensorKey(string(a.ID))
		if err != nil {
			return nil, err
		}
		flip, err := r.plan.keyedFlip(c, key, r.id, *a.Nonce)
		if err != nil {
			return nil, err
		}
		truths[i] = a.Yes != flip
		if r.plan.nonce(key, r.id, truths[i]) != *a.Nonce {
			return nil, fmt.Errorf("%w: person %q of release %q", privacy.ErrReveal, a.ID, r.id)
		}
	}
	return truths, nil
}

// Plan returns the plan that the release was made under.
func (r *Release) Plan() *Plan { return r.plan }

// ID returns the release id.
func (r *Release) ID() string { return r.id }

// Escrow returns the deployment and the epoch of the keys; "" and 0: the system's randomness.
func (r *Release) Escrow() (deployment string, epoch uint32) { return r.deployment, r.epoch }

// Answers returns the answers in the order of the plan's people, without those who gave none.
func (r *Release) Answers() []Answer { return slices.Clone(r.answers) }

// releaseDocument is a release as JSON.
type releaseDocument struct {
	SchemaVersion int            `json:"schemaVersion"`
	ReleaseID     string         `json:"releaseId"`
	PlanDigest    privacy.Digest `json:"planDigest"`
	Digest        privacy.Digest `json:"digest"`
	Deployment    string         `json:"deployment,omitempty"`
	Epoch         uint32         `json:"epoch,omitempty"`
	Answers       []Answer       `json:"answers"`
	Plan          *Plan          `json:"plan"`
}

// document returns the release as JSON holds it. Its digest covers all but the plan's own text,
// which has one of its own.
func (r *Release) document() (d releaseDocument, err error) {
	d = releaseDocument{
		SchemaVersion: privacy.SchemaVersion, ReleaseID: r.id, Deployment: r.deployment, Epoch: r.epoch, Answers: r.answers,
	}
	if d.PlanDigest, err = r.plan.Digest(); err != nil {
		return d, err
	}
	d.Digest, err = digest("graphcloak/v1/answer release\n", d)
	d.Plan = r.plan
	return d, err
}

// Digest returns the hash of everything that is published. The ledger records it.
func (r *Release) Digest() (privacy.Digest, error) {
	d, err := r.document()
	return d.Digest, err
}

// MarshalJSON writes the release with its plan.
func (r *Release) MarshalJSON() ([]byte, error) {
	d, err := r.document()
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads a release, and checks its plan, who answers and both digests.
func (r *Release) UnmarshalJSON(data []byte) error {
	var d releaseDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("answer: read release: %w", err)
	}
	if d.Plan == nil {
		return errors.New("answer: the release has no plan")
	}
	q := Release{plan: d.Plan, id: d.ReleaseID, deployment: d.Deployment, epoch: d.Epoch, answers: d.Answers}
	if err := q.validate(); err != nil {
		return err
	}
	if err := compare(data, &q); err != nil {
		return fmt.Errorf("answer: read release: %w", err)
	}
	*r = q
	return nil
}

// validate refuses answers of people who were not asked, or in another order than the plan's.
func (r *Release) validate() error {
	escrow := r.plan.Randomness == privacy.EscrowRandomness
	if escrow != (r.deployment != "") || !escrow && r.epoch != 0 {
		return errors.New("answer: a deployment and an epoch belong to escrow randomness, and only there")
	}
	rest := r.plan.People
	for _, a := range r.answers {
		at := slices.IndexFunc(rest, func(p privacy.Sensor) bool { return p.ID == a.ID })
		if at < 0 || escrow != (a.Nonce != nil) {
			return fmt.Errorf("answer: %q was not asked, is out of order, or has a nonce without escrow or none with it", a.ID)
		}
		rest = rest[at+1:]
	}
	return privacy.CheckID("release id", r.id)
}

// Verify checks without any secret that a release is of a plan; each was checked when it was
// read. It cannot show that coins were tossed as stated. [privacy.ErrMismatch]: it is of another plan.
func Verify(r *Release, p *Plan) error {
	want, err := p.Digest()
	if err != nil {
		return err
	}
	if got, err := r.plan.Digest(); err != nil || got != want {
		return fmt.Errorf("%w: release %q has plan %s, want %s", privacy.ErrMismatch, r.id, got, want)
	}
	return p.Validate()
}

// VerifyEntry checks that a ledger's entry paid ε for every person of the release. It returns
// [privacy.ErrMismatch] where it did not.
func VerifyEntry(r *Release, e privacy.Entry) error { return e.PaysFor(r.id, r.plan.Charge) }
