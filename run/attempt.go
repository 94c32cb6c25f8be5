// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// Attempt is a release before its budget is spent. From an attempt on disk an
// interrupted run can be resumed. It holds no private value in the clear: only
// names, the plan, and values to which sensors added noise themselves.
type Attempt struct {
	ReleaseID string      `json:"releaseId"`
	Token     string      `json:"attempt"`
	Signal    plan.Signal `json:"signal"`
	// Exactly one of the two plans is set.
	Plan    *plan.Plan    `json:"plan,omitempty"`
	Whisper *plan.Whisper `json:"whisper,omitempty"`
	Release *Release      `json:"release,omitempty"` // of sensors; nil: its noise is drawn once it is paid for
	// Answers are those that people drew themselves; nil: they are drawn once they are paid for.
	Answers *AnswerRelease `json:"answers,omitempty"`
}

func (a *Attempt) charge() (privacy.Charge, error) {
	if w := a.Whisper; w != nil {
		c, err := w.Charge(Scope(a.Signal), a.ReleaseID, a.Token)
		c.NodeKey, c.PublicProperties = nodeKey(w.Model.Selection), w.PublicProperties
		return c, err
	}
	c, err := a.Plan.Charge(Scope(a.Signal), a.ReleaseID, a.Token)
	if c.Guarantee == privacy.PerSensor {
		c.NodeKey = nodeKey(a.Plan.Model.Selection)
	}
	c.PublicProperties = a.Plan.PublicProperties
	return c, err
}

// nodeKey says what names a node, never "".
func nodeKey(s graph.Selection) string {
	if s.NodeKey == "" {
		return "the store's own id"
	}
	return "property=" + s.NodeKey
}

// Spent says how much is known of a payment.
type Spent int

const (
	NotSpent Spent = iota // nothing was spent
	MaySpent              // the answer was lost
	IsSpent               // it is in the ledger
)

func (s Spent) String() string {
	switch s {
	case NotSpent:
		return "nothing was spent"
	case MaySpent:
		return "its budget may be spent"
	case IsSpent:
		return "its budget is spent"
	}
	return fmt.Sprintf("Spent(%d)", int(s))
}

// UnfinishedError says that a run stopped between its reservation and its end. Its
// attempt or its release is kept where the job has Keep.
type UnfinishedError struct {
	RunID string
	Spent Spent // NotSpent: only the reservation stands
	Err   error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("run %s is unfinished, %v: %v", e.RunID, e.Spent, e.Err)
}

func (e *UnfinishedError) Unwrap() error { return e.Err }
