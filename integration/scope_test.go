// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

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

// memory is a witness for as long as a test runs.
type memory map[string]privacy.Mark

func (m memory) Marks(names []string, scope string) (marks []privacy.Mark, err error) {
	for _, name := range names {
		if mark, ok := m[name+scope]; ok {
			marks = append(marks, mark)
		}
	}
	return marks, nil
}

func (m memory) Scopes([]string) (scopes []string, err error) {
	for _, mark := range m {
		scopes = append(scopes, mark.Account.Scope)
	}
	return scopes, nil
}

func (m memory) Put(names []string, scope string, mark privacy.Mark) error {
	for _, name := range names {
		m[name+scope] = mark
	}
	return nil
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
	kept := memory{}
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
			for _, m := range kept {
				must.Get(privacy.Reconcile(ctx, l, scope, m))(t)
			}
			if err := spend(watched(), name); err != nil {
				t.Error(err)
			}
		})
	}
}
