// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/highwater"
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
	n := must.Get(startLocal([]string{"NEO4J_HEAP=512m"}, "dbms.memory.transaction.total.max=10m"))(t) // its own: the other tests go on
	defer n.stop()
	t.Run("memory pool", func(t *testing.T) { testMemoryPool(t, n) })
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

// TestOneNight starts the same run of a scheduler four times at once, each on a machine
// of its own: one pays, the others are in its way or find it done, and nothing is spent
// twice. Then a cap that slides, by the server's clock.
func TestOneNight(t *testing.T) {
	t.Parallel()
	c, label, suffix := newCLI(t), Load(t, Shipped("karate"), ownType), token()
	source(t, label, 16)
	property := secret(t, label)
	scope := "property=" + property
	args := func(more ...string) []string {
		return append([]string{
			"run", "--node-labels", label, "--relationship-types", label, "--node-key", "id", "--source-property", property, "--epsilon",
			"1", "--delta", "0.1",
			"--allocation", "uniform", "--property-prefix", "nt",
		}, more...)
	}
	const machines = 4
	results := make([]result, machines)
	var wg sync.WaitGroup
	for k := range machines {
		own := cli{c.path, slices.Concat(c.env, []string{"XDG_STATE_HOME=" + t.TempDir()})}
		wg.Go(func() { results[k] = own.run(t, args("--release-id", "night-"+suffix)...) })
	}
	wg.Wait()
	paid := 0
	for _, r := range results {
		switch {
		case r.exit == 0 && !strings.Contains(r.stdout, `"skipped"`):
			paid++
		case r.exit != 0 && r.exit != 8:
			t.Errorf("exit %d: %s", r.exit, r.stderr)
		}
	}
	account, err := privacy.VerifyLedger(t.Context(), connect(t).Ledger(), scope)
	if err != nil || account.Releases != 1 || paid != 1 {
		t.Errorf("%d releases in the ledger, %d paid, want one: %v", account.Releases, paid, err)
	}
	if v := c.ok(t, args("--release-id", "night-"+suffix)...); v["skipped"] != true || v["run"] == nil {
		t.Errorf("once more: %v", v)
	}
	if v := c.ok(t, args("--once-per", "20h", "--mode", "stats")...); v["skipped"] != true {
		t.Errorf("once per 20 hours: %v", v)
	}

	c.ok(t, "budget", "set", "--budget-scope", scope, "--epsilon", "1", "--delta", "0.1", "--per", "30d")
	c.refused(t, 9, "it has room for it from 20", args()...)
}

// relay passes connections on to the server from an address of its own, which it
// returns.
func relay(t *testing.T, listen string) string {
	t.Helper()
	u := must.Get(url.Parse(Server(t).URI))(t)
	l := must.Get(net.Listen("tcp", listen))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", u.Host)
			if err != nil {
				in.Close()
				continue
			}
			pass := func(to, from net.Conn) { io.Copy(to, from); to.Close(); from.Close() }
			go pass(out, in)
			go pass(in, out)
		}
	}()
	return l.Addr().String()
}

// TestLedgerThatWentBack takes the newest entry away as a restored backup does, and
// then all of them and the identity, as a database does that is wiped.
func TestLedgerThatWentBack(t *testing.T) {
	ctx, l, scope := t.Context(), connect(t).Ledger(), "back "+token()
	spend := func(l privacy.Ledger, id string) error {
		_, err := privacy.Spend(ctx, l, privacy.Charge{
			Scope: scope, ReleaseID: id, Attempt: token(), Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Cost: 1 << 30,
		})
		return err
	}
	kept := highwater.Folder(t.TempDir())
	watched := func() privacy.Ledger { return privacy.Watch(l, kept, func(err error) { t.Error(err) }) }
	var account any
	for _, id := range []string{"1", "2", "3"} {
		account = nil
		if rows := Query(t, "MATCH (b:GraphCloakBudget {scope: $scope}) RETURN b.account", map[string]any{"scope": scope}); len(rows) > 0 {
			account = rows[0][0]
		}
		must.Do(t, spend(watched(), id))
	}
	Query(t, "MATCH (e:GraphCloakEntry {scope: $scope, seq: 3}) DELETE e", map[string]any{"scope": scope})
	Query(t, "MATCH (b:GraphCloakBudget {scope: $scope}) SET b.account = $account", map[string]any{"scope": scope, "account": account})
	for _, name := range []string{"restored", "wiped"} {
		t.Run(name, func(t *testing.T) {
			if name == "wiped" {
				Query(t, "MATCH (n:GraphCloakBudget|GraphCloakEntry {scope: $scope}) DELETE n", map[string]any{"scope": scope})
				Query(t, "MATCH (n:GraphCloakLock {name: 'identity'}) DELETE n", nil)
			}
			if err := spend(watched(), name); !errors.Is(err, privacy.ErrRollback) {
				t.Fatalf("a spend: %v, want ErrRollback", err)
			}
			must.Get(kept.Reconcile(ctx, l, false))(t)
			if err := spend(watched(), name); err != nil {
				t.Error(err)
			}
		})
	}
}
