// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Kept is the published answer of each person about one rumour, of the latest round in which
// they gave one.
type Kept map[graph.ID]KeptAnswer

// KeptAnswer is an answer with the round and the ε under which it was drawn.
type KeptAnswer struct {
	Yes     bool
	Round   int
	Epsilon float64
}

// Keep returns the kept answers after releases about one rumour, in any order.
// [privacy.ErrMismatch]: one is about another rumour. [privacy.ErrReplay]: somebody has two
// answers in one round, of which one was drawn again instead of kept.
func Keep(rumour string, releases ...*Release) (Kept, error) {
	kept, given := make(Kept), make(map[int]map[graph.ID]bool)
	for _, r := range releases {
		round := r.plan.Round
		if r.plan.Rumour != rumour {
			return nil, fmt.Errorf("%w: release %q is about the rumour %q, not %q", privacy.ErrMismatch, r.id, r.plan.Rumour, rumour)
		}
		if given[round] == nil {
			given[round] = make(map[graph.ID]bool)
		}
		for _, a := range r.answers {
			if given[round][a.ID] {
				return nil, fmt.Errorf("%w: %q answers twice in round %d", privacy.ErrReplay, a.ID, round)
			}
			given[round][a.ID] = true
			if kept[a.ID].Round < round {
				kept[a.ID] = KeptAnswer{a.Yes, round, r.plan.Epsilon}
			}
		}
	}
	return kept, nil
}

// Unasked returns those people who have no kept answer of the round, in their order: who is
// asked, read and charged in the next release. It looks at no truth.
func (k Kept) Unasked(people []privacy.Sensor, round int) (unasked []privacy.Sensor) {
	for _, p := range people {
		if k[p.ID].Round < round {
			unasked = append(unasked, p)
		}
	}
	return unasked
}
