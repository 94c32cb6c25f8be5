// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/document"
	"github.com/graphcloak/graphcloak/recovery/whisper"
)

// Asking says how people are asked whether they have heard a rumour, and how their answers are read. All of it is public.
type Asking struct {
	Rumour     string // what is asked, by a name; answers about one rumour add up
	Round      int    // 0: 1
	Epsilon    float64
	Randomness privacy.Randomness
	Reach      int // how many have heard, where that is known; 0: unknown
}

// AtRound is the round that is asked.
func (a Asking) AtRound() int { return cmp.Or(a.Round, 1) }

// Whisper is all that is public about a release of answers of yes or no before it is made: who is asked what, and how the
// analyst reads the answers. Its JSON form is a plan file.
type Whisper struct {
	*answer.Plan
	Model            Settings
	Reach            int
	Tempering        whisper.Tempering
	Communities      *PlannedCommunities
	PublicProperties []string
}

// temperSeed draws the simulated cascades of a plan: the same graph and question give the same plan.
const temperSeed = 1

// PlanWhisper makes a plan that asks the given people; one that asks nobody serves to read answers that are kept. answering says whose
// answers are read, those that are kept from before included. Cascades are simulated on the graph, and nothing private enters. It
// returns [ErrEmpty] where the graph has no relationship, [whisper.ErrInvalid], and the errors of [Model.Partition] and
// [answer.Plan.Validate].
func (m *Model) PlanWhisper(ctx context.Context, a Asking, people []int, answering []bool) (*Whisper, error) {
	if m.Graph.Size() == 0 {
		return nil, fmt.Errorf("%w: the graph has no relationship, so nothing spreads on it", ErrEmpty)
	}
	p := &Whisper{
		Plan: &answer.Plan{
			Question:    answer.Question{Rumour: a.Rumour, Round: a.AtRound(), Epsilon: a.Epsilon, Randomness: a.Randomness},
			GraphDigest: m.Graph.Digest(),
		},
		Model: m.Settings, Reach: a.Reach, PublicProperties: m.PublicProperties(),
	}
	for _, i := range people {
		p.People = append(p.People, privacy.Sensor{Node: i, ID: m.Graph.ID(i)})
	}
	check := p.Validate
	if len(people) == 0 {
		check = p.Question.Validate
	}
	if err := check(); err != nil {
		return nil, err
	}
	likelihood, err := m.AnswerLikelihood(ctx, p, answering)
	if err != nil {
		return nil, err
	}
	if p.Tempering, err = likelihood.Temper(ctx, temperSeed, 0); err != nil {
		return nil, fmt.Errorf("simulate cascades: %w", err)
	}
	p.Communities, err = m.PlannedCommunities(ctx)
	return p, err
}

// AnswerLikelihood returns the likelihood of the answers of those who answer.
func (m *Model) AnswerLikelihood(ctx context.Context, p *Whisper, answering []bool) (*whisper.Model, error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	return whisper.New(m.Graph, whisper.Options{Flip: p.Flip(), Labels: part.Labels, Reach: p.Reach, Asked: answering})
}

// Nodes returns the nodes of those who are asked.
func (p *Whisper) Nodes() []int {
	nodes := make([]int, len(p.People))
	for k, s := range p.People {
		nodes[k] = s.Node
	}
	return nodes
}

// MatchesWhisper reports whether a plan was made for this graph, and asks people of it. It returns [ErrGraphChanged] or [ErrPlan].
func (m *Model) MatchesWhisper(p *Whisper) error {
	if p.GraphDigest != m.Graph.Digest() {
		return fmt.Errorf("%w: the plan is for a graph with the digest %.12s…, the store has %.12s…", ErrGraphChanged, p.GraphDigest,
			privacy.Digest(m.Graph.Digest()))
	}
	for _, s := range p.People {
		if _, selected := slices.BinarySearch(m.Sensors, s.Node); !selected || s.ID != m.Graph.ID(s.Node) {
			return fmt.Errorf("%w: %q, node %d, is not among those who may be asked", ErrPlan, s.ID, s.Node)
		}
	}
	return nil
}

// whisperDocument is a plan file.
type whisperDocument struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Digest        privacy.Digest      `json:"documentDigest"`
	Question      *answer.Plan        `json:"question"`
	Model         Settings            `json:"model"`
	Reach         int                 `json:"reach,omitempty"`
	Tempering     whisper.Tempering   `json:"tempering"`
	Communities   *PlannedCommunities `json:"communities,omitempty"`
	Public        []string            `json:"publicProperties"`
}

// MarshalJSON writes the plan file.
func (p *Whisper) MarshalJSON() ([]byte, error) { return document.Joined(p.File()) }

// File is the plan file in pieces.
func (p *Whisper) File() (strictjson.Pieces, error) {
	fields := make(map[string]json.RawMessage)
	if err := document.Merge(fields, whisperDocument{
		Question: p.Plan, Model: p.Model, Reach: p.Reach, Tempering: p.Tempering, Communities: p.Communities,
		Public: p.PublicProperties,
	}); err != nil {
		return nil, err
	}
	return document.Seal(fields)
}

// UnmarshalJSON reads a plan file and checks all that does not need the graph, which [Model.MatchesWhisper] does.
func (p *Whisper) UnmarshalJSON(data []byte) error {
	if err := p.unmarshal(data); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	return nil
}

func (p *Whisper) unmarshal(data []byte) error {
	var d whisperDocument
	if err := document.Read(data, "plan file of answers", &d); err != nil {
		return err
	}
	if d.Question == nil {
		return fmt.Errorf("%w: there is no question in it", strictjson.ErrInvalid)
	}
	q := Whisper{
		Plan: d.Question, Model: d.Model, Reach: d.Reach, Tempering: d.Tempering, Communities: d.Communities,
		PublicProperties: d.Public,
	}
	if q.Reach < 0 {
		return fmt.Errorf("%w: reach is %d", strictjson.ErrInvalid, q.Reach)
	}
	if err := q.Tempering.Check(q.Flip()); err != nil {
		return fmt.Errorf("%w: %w", strictjson.ErrInvalid, err)
	}
	if err := document.CheckRoundTrip(data, &q); err != nil {
		return err
	}
	*p = q
	return nil
}
