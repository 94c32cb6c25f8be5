// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestLedgerSurvivesKills kills the server with SIGKILL, once or as a campaign ten
// times, while 16 writers spend. What was acknowledged is there, nothing is there twice, and exactly the
// cap was granted.
func TestLedgerSurvivesKills(t *testing.T) {
	t.Parallel()
	const writers = 16
	kills, granted := int64(1), int64(40)
	if *campaign {
		kills, granted = 10, 300
	}
	n, err := startLocal([]string{"NEO4J_HEAP=512m"}) // its own: the other tests go on
	if err != nil {
		t.Fatal(err)
	}
	defer n.stop()
	ctx := t.Context()
	s := must.Get(neo4j.New(ctx, n.Options()))(t)
	defer s.Close(context.Background())
	l, scope, budget := s.Ledger(), "kills "+token(), privacy.Budget{Epsilon: 1, Delta: 1e-5}
	must.Get(privacy.SetCap(ctx, l, scope, budget))(t)
	account := must.Get(privacy.ReadAccount(ctx, l, scope))(t)
	room, _ := account.Remaining()
	var acknowledged sync.Map
	var count atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for k := 0; ; k++ {
				release := fmt.Sprintf("%d of writer %d", k, w)
				c := privacy.Charge{
					Scope: scope, ReleaseID: release, Attempt: token(), Guarantee: privacy.Joint, Budget: budget,
					Cost: room / privacy.Cost(granted),
				}
				_, err := privacy.Spend(ctx, l, c)
				for errors.Is(err, connector.ErrTransient) { // the same attempt: it pays once, whether or not the lost answer was yes
					time.Sleep(50 * time.Millisecond)
					_, err = privacy.Spend(ctx, l, c)
				}
				if errors.Is(err, privacy.ErrExhausted) {
					return
				}
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				acknowledged.Store(release, true)
				count.Add(1)
			}
		})
	}
	for k := range kills {
		for count.Load() < granted*(k+1)/(kills+2) && !t.Failed() {
			time.Sleep(5 * time.Millisecond)
		}
		if err := n.restart(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	entries := must.Get(l.Entries(ctx, scope))(t)
	if _, err := privacy.VerifyLedger(ctx, l, scope); err != nil {
		t.Error(err)
	}
	spent := int64(0)
	for _, e := range entries {
		if e.Kind == privacy.KindSpent {
			spent++
			if _, ok := acknowledged.Load(e.ReleaseID); !ok {
				t.Errorf("release %s was paid for and never acknowledged", e.ReleaseID)
			}
		}
	}
	if spent != granted || count.Load() != granted {
		t.Errorf("%d releases are paid for, %d were acknowledged, want %d", spent, count.Load(), granted)
	}
}
