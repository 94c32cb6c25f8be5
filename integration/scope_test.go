// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// relay passes connections on to the server from an address of its own, which it
// returns.
func relay(t *testing.T, listen string) string {
	t.Helper()
	u, err := url.Parse(Server(t).URI)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
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

// TestOneScopeUnderEveryAddress runs under a cap for two releases by seven addresses
// of one server: two are granted.
func TestOneScopeUnderEveryAddress(t *testing.T) {
	label, property := Load(t, Shipped("karate")), "risk"+token()
	Query(t, "MATCH (n:`"+label+"`) SET n.`"+property+"` = CASE n.id WHEN 16 THEN 1.0 ELSE 0.0 END", nil)
	u, err := url.Parse(Server(t).URI)
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{
		Server(t).URI, "bolt://" + u.Host, "neo4j://localhost:" + u.Port(), "bolt://localhost:" + u.Port(),
		"bolt://" + relay(t, "127.0.0.1:0"), "bolt://" + relay(t, "[::1]:0"), "neo4j://" + relay(t, "[::1]:0"),
	}
	signal := graphcloak.Signal{SourceProperty: property}
	job := graphcloak.Job{
		Settings: graphcloak.Settings{Selection: graph.Selection{NodeLabels: []string{label}}, Tau: 2}, Signal: signal, RequireCap: true,
		Plan: graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: 1, Delta: 0.1}, Alpha: 1,
			Allocation: graphcloak.Allocation{Uniform: true},
		},
	}
	// Two releases of (1, 0.1) are (1.85, 0.1)-private together, three (2.49, 0.1).
	if _, err := privacy.SetCap(t.Context(), connect(t).Ledger(), run.Scope(signal),
		privacy.Budget{Epsilon: 2, Delta: 0.1}); err != nil {
		t.Fatal(err)
	}
	granted, scopes, identities := 0, []string{}, []privacy.Identity{}
	for _, uri := range addresses {
		s := connect(t, func(o *neo4j.Options) { o.URI = uri })
		id, err := s.Ledger().Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		identities = append(identities, id)
		rep, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		switch {
		case err == nil:
			granted++
			scopes = append(scopes, rep.BudgetScope)
		case !errors.Is(err, privacy.ErrExhausted):
			t.Errorf("%s: %v", uri, err)
		}
	}
	if granted != 2 || len(slices.Compact(scopes)) != 1 || len(slices.Compact(identities)) != 1 {
		t.Errorf("%d releases were granted under the scopes %q and identities %+v, want 2, 1 and 1", granted, scopes, identities)
	}
	if id := identities[0]; id.Ledger == "" || id.Place == "" {
		t.Errorf("the identity is %+v", id)
	}
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
		if err := spend(watched(), id); err != nil {
			t.Fatal(err)
		}
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
				if _, err := privacy.Reconcile(ctx, l, scope, m); err != nil {
					t.Fatal(err)
				}
			}
			if err := spend(watched(), name); err != nil {
				t.Error(err)
			}
		})
	}
}
