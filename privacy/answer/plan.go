// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Plan holds everything about a release of answers but the truths and the coins. All of it is
// public, and nothing in it may depend on a truth.
type Plan struct {
	Question
	GraphDigest privacy.Digest   `json:"graphDigest"`
	People      []privacy.Sensor `json:"people"` // who is asked, each once
}

// Validate refuses a plan whose question is not valid, or that asks nobody, or somebody twice.
func (p *Plan) Validate() error {
	if err := p.Question.Validate(); err != nil {
		return err
	}
	if len(p.People) == 0 {
		return fmt.Errorf("answer: nobody is asked about %q", p.Rumour)
	}
	ids, nodes := make(map[graph.ID]bool, len(p.People)), make(map[int]bool, len(p.People))
	for _, person := range p.People {
		if err := privacy.CheckID("person's id", string(person.ID)); err != nil {
			return err
		}
		if ids[person.ID] || nodes[person.Node] || person.Node < 0 {
			return fmt.Errorf("answer: person %q, node %d, is asked twice or is no node", person.ID, person.Node)
		}
		ids[person.ID], nodes[person.Node] = true, true
	}
	return nil
}

// Sentence states the guarantee in words: what is protected, by how much, against whom, for
// what, and what is not.
func (p *Plan) Sentence() string {
	against := "."
	if p.Randomness == privacy.EscrowRandomness {
		against = ", unless they hold the master secret, which turns every answer back, or can break HMAC-SHA-256 or ChaCha20 " +
			"(computational differential privacy)."
	}
	factor := ""
	if p.Epsilon <= 20 {
		factor = fmt.Sprintf(" (e^ε is at most %.4g)", math.Exp(p.Epsilon)*1.0006)
	}
	return fmt.Sprintf("What is protected: what each person answers about the rumour %q. What you answer changes the odds of anything "+
		"that anybody concludes about you by a factor of at most e^ε, where ε = %v%s: pure ε-differential privacy of each person's "+
		"answer, δ = 0, however the rumour spread and whatever the graph is. You can always say that the coin lied: it turns an answer "+
		"round with probability %.4g. "+
		"Against whom: anyone who sees what is published, whatever else they know%s "+
		"For what: round %d. The answer of a round is kept: it is given again at no cost, also where your truth has changed since. Each "+
		"round of the rumour adds ε for you, and the ledger counts them. "+
		"What is not protected: the graph; who was asked, and who answered; and what the answers of others say about you: if everybody "+
		"around you says yes, you have probably heard it. Nothing is promised about where the rumour began.",
		p.Rumour, p.Epsilon, factor, p.Flip(), against, p.Round)
}

// Charge returns what the ledger is asked for before the plan's answers are drawn: ε of each
// person who is asked, also of those who then say nothing.
func (p *Plan) Charge(scope, releaseID, attempt string) (privacy.Charge, error) {
	digest, err := p.Digest()
	if err != nil {
		return privacy.Charge{}, err
	}
	each := make(map[string]privacy.Cost, len(p.People))
	for _, person := range p.People {
		each[string(person.ID)] = p.cost()
	}
	return privacy.Charge{
		Scope: scope, ReleaseID: releaseID, Attempt: attempt, Plan: digest, Guarantee: privacy.PerPerson,
		Budget: privacy.Budget{Epsilon: p.Epsilon}, Cost: p.cost(), Sensors: each,
	}, nil
}

// planFields is a Plan without its methods.
type planFields Plan

// planDocument is a plan as JSON. What is not of [Plan] is for readers, and is computed again.
type planDocument struct {
	SchemaVersion int               `json:"schemaVersion"`
	Mechanism     string            `json:"mechanism"`
	GuaranteeKind privacy.Guarantee `json:"guaranteeKind"`
	Flip          float64           `json:"flip"`
	Guarantee     string            `json:"guarantee"`
	planFields
}

// MarshalJSON writes the plan; the same plan gives the same bytes.
func (p *Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(planDocument{
		privacy.SchemaVersion, "randomizedResponse", privacy.PerPerson, p.Flip(), p.Sentence(), planFields(*p),
	})
}

// UnmarshalJSON reads a plan, and refuses a file that says anything that the plan in it does not.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var d planDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("answer: read plan: %w", err)
	}
	q := Plan(d.planFields)
	if err := q.Validate(); err != nil {
		return err
	}
	if err := compare(data, &q); err != nil {
		return fmt.Errorf("answer: read plan: %w", err)
	}
	*p = q
	return nil
}

// compare refuses data that are not what v gives.
func compare(data []byte, v json.Marshaler) error {
	again, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	return strictjson.Compare(data, again, "")
}

// Digest returns SHA-256 of the plan's JSON behind a label.
func (p *Plan) Digest() (privacy.Digest, error) { return digest("graphcloak/v1/answer plan\n", p) }

func digest(label string, v any) (privacy.Digest, error) {
	data, err := json.Marshal(v)
	return sha256.Sum256(append([]byte(label), data...)), err
}
