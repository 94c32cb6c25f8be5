// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

func TestConnectRefused(t *testing.T) {
	free := must.Get(freePort())(t)
	n := Server(t)
	for _, test := range []struct {
		name   string
		change func(*neo4j.Options)
		want   error
		says   string
	}{
		{"wrong password", func(o *neo4j.Options) { o.Password = "not this one" }, connector.ErrAuth, "user name or password is wrong"},
		{"no such database", func(o *neo4j.Options) { o.Database = "neo4jj" }, connector.ErrNotFound, `there is no database "neo4jj"`},
		{
			"server away", func(o *neo4j.Options) { o.URI = fmt.Sprintf("bolt://127.0.0.1:%d", free) }, connector.ErrTransient,
			"does not answer",
		},
		{
			"server away, with routing",
			func(o *neo4j.Options) { o.URI = fmt.Sprintf("neo4j://127.0.0.1:%d", free) }, connector.ErrTransient,
			"does not answer",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := n.Options()
			test.change(&o)
			s, err := neo4j.New(t.Context(), o)
			if err == nil {
				s.Close(context.Background())
			}
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %v that says %q", err, test.want, test.says)
			}
			if err != nil && strings.Contains(err.Error(), "not this one") {
				t.Errorf("the message shows the password: %v", err)
			}
		})
	}
}

// The server locks a user after three wrong passwords. Two connections that make
// one attempt each leave it open.
func TestWrongPasswordIsTriedOnce(t *testing.T) {
	connect(t) // a right password sets the server's count to zero
	o := Server(t).Options()
	o.Password = "wrong"
	for range 2 {
		if _, err := neo4j.New(t.Context(), o); !errors.Is(err, connector.ErrAuth) || strings.Contains(err.Error(), "too many") {
			t.Fatalf("%v, want ErrAuth without a lock", err)
		}
	}
	connect(t)
}

func TestReadOnly(t *testing.T) {
	csv := Files("id\n1\n2\n", "source,target\n1,2\n")
	label := Load(t, csv)
	s := connect(t, func(o *neo4j.Options) { o.ReadOnly = true })
	g := must.Get(s.Graph(t.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: "id"}))(t)
	table := newTable(t, g, "read-only")
	if err := s.Check(t.Context(), g, table, false); !errors.Is(err, connector.ErrReadOnly) {
		t.Errorf("Check: %v, want ErrReadOnly", err)
	}
	if err := s.Write(t.Context(), g, table, false); !errors.Is(err, connector.ErrReadOnly) {
		t.Errorf("Write: %v, want ErrReadOnly", err)
	}
	if _, err := s.Import(t.Context(), csv, neo4j.ImportOptions{NodeLabel: label + "x"}); !errors.Is(err, connector.ErrReadOnly) {
		t.Errorf("Import: %v, want ErrReadOnly", err)
	}
}

func TestName(t *testing.T) {
	n := Server(t)
	s := connect(t)
	if !strings.HasPrefix(s.Name(), "neo4j://") || strings.Contains(s.Name(), n.Password) || !strings.HasSuffix(s.Name(), "/neo4j") {
		t.Errorf("the name is %q", s.Name())
	}
	kernel := Query(t, "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0]", nil)[0][0]
	if s.Version() != kernel { // not the language's, which newer servers list too
		t.Errorf("the version is %s, want %v", s.Version(), kernel)
	}
	home := connect(t, func(o *neo4j.Options) { o.Database = "" })
	if home.Name() != s.Name() {
		t.Errorf("without a database it is %q, want the home database, %q", home.Name(), s.Name())
	}
}

func TestDoctor(t *testing.T) {
	label := Load(t, Files("id\n1\n2\n", "source,target\n1,2\n"))
	sel := graph.Selection{NodeLabels: []string{label}, NodeKey: "id"}
	properties := []string{"gcRunId", "odd`name"}
	for _, row := range Query(t, "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes[0] STARTS WITH 'GraphCloak' RETURN name",
		nil) {
		Query(t, "DROP CONSTRAINT "+neo4j.Quote(row[0].(string)), nil)
	}
	outside := Load(t, Files("id\n3\n4\n", "source,target\n3,4\n"))
	Query(t, "MATCH (a:`"+label+"` {id: 1}), (b:`"+outside+"` {id: 3}) CREATE (a)-[:CONNECTED_TO]->(b)", nil)
	sel.NodeKey = "" // which nothing keeps unique yet
	details := map[string]string{"read": "2 nodes, 1 relationship", "constraints": "the first run makes the missing constraints"}
	for _, c := range neo4j.Doctor(t.Context(), Server(t).Options(), sel, properties) {
		if !c.OK || !strings.HasPrefix(c.Detail, details[c.Name]) {
			t.Errorf("a fresh database: %s: %s (%s), want %q", c.Name, c.Detail, c.Fix, details[c.Name])
		}
	}
	sel.NodeKey = "id"
	setUp(t)
	before := Query(t, "MATCH (n) RETURN count(n), count(n.gcRunId)", nil)
	for _, c := range neo4j.Doctor(t.Context(), Server(t).Options(), sel, properties) {
		if !c.OK {
			t.Errorf("%s: %s (%s)", c.Name, c.Detail, c.Fix)
		}
	}
	if after := Query(t, "MATCH (n) RETURN count(n), count(n.gcRunId)", nil); !slices.Equal(before[0], after[0]) {
		t.Errorf("the doctor changed %v to %v", before[0], after[0])
	}
}

// Community has no roles: it refuses the administration commands as such, which
// shows that it could read them.
func TestSetupIsCypher(t *testing.T) {
	label := "Setup" + token()
	t.Cleanup(func() {
		for _, row := range Query(t, "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE $label IN labelsOrTypes RETURN name",
			map[string]any{"label": label}) {
			Query(t, "DROP CONSTRAINT "+neo4j.Quote(row[0].(string)), nil)
		}
	})
	for _, statement := range neo4j.SetupConstraints(graph.Selection{NodeLabels: []string{label}, NodeKey: `odd\u0060key`}) {
		Query(t, statement, nil)
	}
	if !connect(t).Community() {
		t.Log("this server has roles")
	}
	for _, statement := range neo4j.SetupRole(`neo4j\u0060 TO PUBLIC //`, []string{"gcSource", "odd`name", `odd\u0060name`}) {
		if _, err := Server(t).run("system", statement, nil); err == nil || strings.Contains(err.Error(), "SyntaxError") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
