// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Origin says which release an answer belongs to.
type Origin struct {
	SchemaVersion int            `json:"schemaVersion"`
	Plan          privacy.Digest `json:"plan"`
	ReleaseID     string         `json:"releaseId"`
	Deployment    string         `json:"deployment,omitempty"` // escrow only
	Epoch         uint32         `json:"epoch,omitempty"`      // escrow only
}

// Package is what a person needs to know to answer by themselves: all of it is public.
type Package struct {
	Origin
	Question
	Person    graph.ID     `json:"person"`
	Limit     privacy.Cost `json:"limit"`     // ε of all rounds of the rumour, in units of 2⁻⁴⁰
	Guarantee string       `json:"guarantee"` // the plan's sentence
}

// Value is what a person sends.
type Value struct {
	Origin
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
	origin := Origin{privacy.SchemaVersion, plan, releaseID, deployment, epoch}
	sentence, packages := p.Sentence(), make([]Package, len(p.People))
	for i, person := range p.People {
		packages[i] = Package{origin, p.Question, person.ID, limit, sentence}
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
	v := Value{Origin: k.Origin}
	err := k.Validate()
	if err == nil && (k.Randomness == privacy.EscrowRandomness) != (key != nil) {
		err = fmt.Errorf("answer: the package asks for %s randomness; a key goes with escrow, and only there", k.Randomness)
	}
	if err != nil {
		return Value{}, err
	}
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
	if len(values) == 0 {
		return nil, fmt.Errorf("answer: nobody sent an answer; the plan asks %d people", len(p.People))
	}
	origin := values[0].Origin
	origin.SchemaVersion, origin.Plan = privacy.SchemaVersion, plan
	sent := make(map[graph.ID]Answer, len(values))
	for _, v := range values {
		if v.Origin != origin {
			return nil, fmt.Errorf("%w: %q answers for %+v, want %+v", privacy.ErrMismatch, v.ID, v.Origin, origin)
		}
		sent[v.ID] = v.Answer
	}
	r := &Release{plan: p, id: origin.ReleaseID, deployment: origin.Deployment, epoch: origin.Epoch}
	for _, person := range p.People {
		if a, ok := sent[person.ID]; ok {
			r.answers = append(r.answers, a)
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
