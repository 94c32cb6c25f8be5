// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Package is what a person needs to know to answer by themselves: all of it is public.
type Package struct {
	Question
	SchemaVersion int            `json:"schemaVersion"`
	Plan          privacy.Digest `json:"plan"`
	ReleaseID     string         `json:"releaseId"`
	Person        graph.ID       `json:"person"`
	Deployment    string         `json:"deployment,omitempty"` // escrow only
	Epoch         uint32         `json:"epoch,omitempty"`      // escrow only
	Limit         privacy.Cost   `json:"limit"`                // ε of all rounds of the rumour, in units of 2⁻⁴⁰
	Guarantee     string         `json:"guarantee"`            // the plan's sentence
}

// Value is what a person sends.
type Value struct {
	SchemaVersion int            `json:"schemaVersion"`
	Plan          privacy.Digest `json:"plan"`
	ReleaseID     string         `json:"releaseId"`
	Deployment    string         `json:"deployment,omitempty"`
	Epoch         uint32         `json:"epoch,omitempty"`
	Answer
}

// Packages returns a package for each person of the plan, in its order. epsilon is what all
// rounds of the rumour may cost a person; deployment and epoch are of escrow.
func (p *Plan) Packages(releaseID string, epsilon float64, deployment string, epoch uint32) ([]Package, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	plan, err := p.Digest()
	if err != nil {
		return nil, err
	}
	limit, err := privacy.PureCost(epsilon)
	if err != nil {
		return nil, err
	}
	sentence, packages := p.Sentence(), make([]Package, len(p.People))
	for i, person := range p.People {
		packages[i] = Package{p.Question, privacy.SchemaVersion, plan, releaseID, person.ID, deployment, epoch, limit, sentence}
	}
	return packages, packages[0].Validate()
}

// Validate refuses a package that no plan could have made, or whose limit allows no answer.
func (k Package) Validate() error {
	if err := k.Question.Validate(); err != nil {
		return err
	}
	if k.SchemaVersion != privacy.SchemaVersion || k.Limit < k.cost() ||
		(k.Randomness == privacy.EscrowRandomness) != (k.Deployment != "") {
		return fmt.Errorf("answer: schema version %d, limit ε = %v, %s randomness of deployment %q; want version %d, a limit of at least "+
			"ε = %v, and a deployment with escrow only",
			k.SchemaVersion, k.Limit.PureEpsilon(), k.Randomness, k.Deployment, privacy.SchemaVersion, k.Epsilon)
	}
	if err := privacy.CheckID("person's id", string(k.Person)); err != nil {
		return err
	}
	return privacy.CheckID("release id", k.ReleaseID)
}

// Draw answers with fresh coins. key is the person's escrow key, or nil for the system's
// randomness. Keep the value before anybody sees it, and give it again when the round asks
// again: a second draw is a second cost.
//
// Proof: docs/proofs/answers.md.
func (k Package) Draw(truth bool, key *privacy.SensorKey) (Value, error) {
	v := Value{SchemaVersion: k.SchemaVersion, Plan: k.Plan, ReleaseID: k.ReleaseID, Deployment: k.Deployment, Epoch: k.Epoch}
	if err := k.Validate(); err != nil {
		return Value{}, err
	}
	if (k.Randomness == privacy.EscrowRandomness) != (key != nil) {
		return Value{}, fmt.Errorf("answer: the package asks for %s randomness; a key goes with escrow, and only there", k.Randomness)
	}
	var err error
	c := newCoin(k.cost())
	if key != nil {
		v.Answer, err = k.keyed(c, key, k.ReleaseID, truth)
	} else {
		err = privacy.SystemBits(func(next func() uint64) error {
			flip, err := c.flip(next)
			v.Yes = flip != truth
			return err
		})
	}
	v.ID = k.Person
	return v, err
}

// Collect assembles a release from what people sent, in any order. A person who sent nothing is
// left out. [privacy.ErrMismatch]: a value is of another plan, release, deployment or epoch, is
// of somebody who was not asked, or is given twice.
func (p *Plan) Collect(values []Value) (*Release, error) {
	plan, err := p.Digest()
	if err != nil {
		return nil, err
	}
	sent := make(map[graph.ID]Value, len(values))
	for _, v := range values {
		first := values[0]
		first.Answer, first.Plan, first.SchemaVersion = v.Answer, plan, privacy.SchemaVersion
		if v != first {
			return nil, fmt.Errorf("%w: %q answers release %q under plan %s, others %q under %s", privacy.ErrMismatch, v.ID, v.ReleaseID,
				v.Plan, first.ReleaseID, plan)
		}
		sent[v.ID] = v
	}
	r := &Release{plan: p}
	for _, person := range p.People {
		if v, ok := sent[person.ID]; ok {
			r.id, r.deployment, r.epoch = v.ReleaseID, v.Deployment, v.Epoch
			r.answers = append(r.answers, v.Answer)
		}
	}
	if len(r.answers) < len(values) {
		return nil, fmt.Errorf("%w: %d of %d answers are of people who were not asked, or given twice", privacy.ErrMismatch,
			len(values)-len(r.answers), len(values))
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return r, r.validate()
}
