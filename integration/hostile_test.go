// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// hostile are names that have ended a quotation, or look as if they could.
var hostile = []string{
	"a`b", "``", `\`, `\\`, `\u0060`, `\\u0060`, `\\\u0060`, `\\\\u0060`, `\uuu0060`, `\U00000060`, `\u005Cu0060`,
	`\u005c\u0060`, "\\`u0060",
	`x\u0060 WITH count(n) AS k CALL () { MATCH (v:Victim) DETACH DELETE v } RETURN k //`, `\u00`, `\uZZZZ`, "tail\\",
	"\u02cb\uff40\u1fef\u0060",
	"a\nb\r\tc", "\u2028\u0085\ufeff\u200b", "😀`\\u0060", "\x1b[2J", "$name0", "*/ //", "'\"", `\u000a`, `\ud83d\ude00`, `\u0000`, "\u0000",
	"\\u005Cu0060`", `\u005c\u0060\`, "`\\`u0060\\u",
}

// reader asks the server's parser what it reads.
type reader struct {
	session driver.SessionWithContext
}

func newReader(t testing.TB) reader {
	n := Server(t)
	client := must.Get(driver.NewDriverWithContext(n.URI, driver.BasicAuth(n.Username, n.Password, "")))(t)
	session := client.NewSession(t.Context(), driver.SessionConfig{DatabaseName: n.Database, AccessMode: driver.AccessModeRead})
	t.Cleanup(func() {
		session.Close(context.Background())
		client.Close(context.Background())
	})
	return reader{session}
}

// check quotes names as the keys of one map and asks for the keys; then it asks for
// the plan of a statement that has each name in four places.
func (r reader) check(t testing.TB, names []string) {
	t.Helper()
	var entries []string
	for k, name := range names {
		entries = append(entries, fmt.Sprintf("%s: %d", neo4j.Quote(name), k))
	}
	result, err := r.session.Run(t.Context(), "WITH {"+strings.Join(entries, ", ")+"} AS m UNWIND $names AS name RETURN m[name]",
		map[string]any{"names": names})
	if err != nil {
		t.Fatalf("%q: %v", names, err)
	}
	var values []any
	for result.Next(t.Context()) {
		values = append(values, result.Record().Values[0])
	}
	if result.Err() != nil || len(values) != len(names) {
		t.Fatalf("%q: %d values, %v", names, len(values), result.Err())
	}
	for k, v := range values {
		if v != int64(k) {
			t.Errorf("%q is written %s and read as another name (%v)", names[k], neo4j.Quote(names[k]), v)
		}
	}
}

func (r reader) plan(t testing.TB, name string) {
	t.Helper()
	q := neo4j.Quote(name)
	result, err := r.session.Run(t.Context(), "EXPLAIN MATCH (n:"+q+")-[r:"+q+"]->() RETURN n."+q+" AS "+q, nil)
	if err != nil {
		t.Fatalf("%q: %v", name, err)
	}
	keys, err := result.Keys()
	if err != nil || len(keys) != 1 || keys[0] != name {
		t.Errorf("%q is written %s and names the columns %q, %v", name, q, keys, err)
	}
	summary, err := result.Consume(t.Context())
	if err != nil || summary.StatementType() != driver.StatementTypeReadOnly {
		t.Errorf("%q: a statement of type %v, %v", name, summary.StatementType(), err)
	}
}

// What Quote writes is one name to the server's parser, and the right one: for the
// hostile names, and for a thousand put together from what they are made of.
func TestQuoteOnServer(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	names := slices.Clone(hostile)
	random := rand.New(rand.NewPCG(1, 2))
	atoms := []string{`\`, `\`, "u", "u", "0060", "005c", "005C", "`", "00", "a", " ", "}", "//", "\n", "é", "😀", "\u0000"}
	size := 1000
	if *campaign {
		size = 20_000
	}
	for len(names) < size {
		var name strings.Builder
		for range 1 + random.IntN(8) {
			name.WriteString(atoms[random.IntN(len(atoms))])
		}
		if !slices.Contains(names, name.String()) {
			names = append(names, name.String())
		}
	}
	for part := range slices.Chunk(names, 100) {
		r.check(t, part)
	}
	for _, name := range hostile {
		if !strings.Contains(name, "\u0000") { // in a map it may stand, as the name of a label not
			r.plan(t, name)
		}
	}
}

// victims creates nodes that an injected statement would delete, and checks at the
// end that they are there.
func victims(t *testing.T) (label string) {
	t.Helper()
	label = "Victim" + token()
	Query(t, "UNWIND range(1, 3) AS i CREATE (:"+label+" {name: 'n' + i})", nil)
	t.Cleanup(func() {
		if n := Query(t, "MATCH (v:"+label+") WITH v, v.name AS name DETACH DELETE v RETURN count(name)", nil)[0][0]; n != int64(3) {
			t.Errorf("%v of 3 victims survived", n)
		}
	})
	return label
}

// Names in a folder of CSV delete nothing: they are names, to the last backslash.
func TestImportOfHostileNames(t *testing.T) {
	label := victims(t)
	kill := " CALL () { MATCH (v:" + label + ") DETACH DELETE v } RETURN k //"
	property, kind := `p\u0060 = 0 WITH count(n) AS k`+kill, `T\u0060]->(b) WITH count(*) AS k`+kill
	extra := `L\u0060 WITH count(n) AS k` + kill
	csv := Files("id,labels,"+property+"\n1,"+extra+",0.25\n2,,0.5\n", "source,target,type,"+strings.Replace(property, "(n)", "(r)", 1)+
		"\n1,2,"+kind+",3\n")
	loaded := Load(t, csv)
	row := Query(t, "MATCH (a:"+loaded+" {id: 1})-[r]->(b) RETURN a[$property], $label IN labels(a), type(r), size(keys(r))",
		map[string]any{"property": property, "label": extra})[0]
	if row[0] != 0.25 || row[1] != true || row[2] != kind || row[3] != int64(1) {
		t.Errorf("the imported relationship is %v", row)
	}
}

// trap listens, and counts who calls.
func trap(t *testing.T) (address string, calls *atomic.Int32) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	calls = &atomic.Int32{}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			c.Close()
		}
	}()
	return listener.Addr().String(), calls
}

// A type that somebody planted in the database opens no connection when a graph of
// other labels is read: without a selection of types, all of them stand in a
// statement.
func TestPlantedType(t *testing.T) {
	address, calls := trap(t)
	planted := fmt.Sprintf(`x\u0060*0..0]->() RETURN 0 AS asc LIMIT 1 } LOAD CSV FROM 'http://%s/' AS line RETURN 0, 1 //`, address)
	owner := "Planter" + token()
	Query(t, "CREATE (:"+owner+")-[:`"+strings.ReplaceAll(planted, `\`, `\u005C`)+"`]->(:"+owner+")", nil)
	t.Cleanup(func() { Query(t, "MATCH (n:"+owner+") DETACH DELETE n", nil) })
	label := Load(t, Files("id\n1\n2\n", "source,target\n1,2\n"))
	g, err := connect(t).Graph(t.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: "id"})
	if err != nil || g.Size() != 1 {
		t.Errorf("%v, %v", g, err)
	}
	if calls.Load() != 0 {
		t.Errorf("the server called the listener %d times", calls.Load())
	}
}

// A record that somebody planted removes nothing of others from the nodes that a
// later run writes, nor when it is undone, and what it holds is not run.
func TestPlantedRun(t *testing.T) {
	label := victims(t)
	loaded := Load(t, Files("id,name,salary\n1,a,5\n2,b,6\n", "source,target\n1,2\n"))
	planted := "planted-" + token()
	kill := `x\u0060 = null WITH count(n) AS k CALL () { MATCH (v:` + label + `) DETACH DELETE v } RETURN k //`
	s := connect(t)
	setUp(t)
	for k, column := range []string{"itRunId", `itRunId\u0060 = 'x' OR true DETACH DELETE n //`, "name"} {
		Query(t, "CREATE (:GraphCloakRun {runId: $id, status: 'FINISHED', runIdProperty: $column, properties: $names, tableDigest: '', "+
			"graphDigest: '', nodesWritten: 2})",
			map[string]any{"id": fmt.Sprint(planted, k), "column": column, "names": []string{"name", "salary", kill, column}})
	}
	t.Cleanup(func() {
		Query(t, "MATCH (r:GraphCloakRun) WHERE r.runId STARTS WITH $id DELETE r", map[string]any{"id": planted})
	})
	g := must.Get(s.Graph(t.Context(), graph.Selection{NodeLabels: []string{loaded}, NodeKey: "id"}))(t)
	must.Do(t, s.Write(t.Context(), g, newTable(t, g, "run-"+token()), false))
	Query(t, "MATCH (n:"+loaded+") SET n.itRunId = $id", map[string]any{"id": fmt.Sprint(planted, 0)})
	for k := range 3 {
		if _, err := s.Undo(t.Context(), fmt.Sprint(planted, k)); err != nil {
			t.Error(err)
		}
	}
	if n := Query(t, "MATCH (n:"+loaded+") RETURN count(n.name), sum(n.salary)", nil)[0]; n[0] != int64(2) || n[1] != int64(11) {
		t.Errorf("of 2 names and a sum of 11, %v are left", n)
	}
}

// A query of the user's that reaches out of the database, or changes something, is
// refused before it runs, wherever it hides that.
func TestHostileQueries(t *testing.T) {
	address, calls := trap(t)
	label := Load(t, Files("id\n1\n2\n", "source,target\n1,2\n"))
	load := "LOAD CSV FROM 'http://" + address + "/' AS line"
	match := "MATCH (n:" + label + ") "
	s := connect(t)
	refused := map[string]string{
		match + load + " RETURN n AS id": "LOAD CSV",
		match + strings.Replace(load, "LOAD CSV", "lOaD/* */ // x\n\tcsv", 1) + " RETURN n AS id":                  "LOAD CSV",
		match + strings.Replace(load, "LOAD", `L\u004FAD`, 1) + " RETURN n AS id":                                  `\u`,
		match + strings.Replace(load, "CSV", `\u0043S\u0056`, 1) + " RETURN n AS id":                               `\u`,
		match + "RETURN CASE WHEN size(COLLECT { " + load + " RETURN line }) = 0 THEN n ELSE n END AS id":          "LOAD CSV",
		match + "WHERE n.id = 1 OR EXISTS { " + load + " RETURN line } RETURN n AS id":                             "LOAD CSV",
		match + "CALL (n) { " + load + " RETURN line } RETURN n AS id":                                             "LOAD CSV",
		"CYPHER 5 " + match + load + " RETURN n AS id":                                                             "LOAD CSV",
		"EXPLAIN " + match + load + " RETURN n AS id":                                                              "LOAD CSV",
		"PROFILE " + match + "RETURN n AS id":                                                                      "execution mode",
		match + "CALL (n) { RETURN 1 AS x } IN TRANSACTIONS RETURN n AS id":                                        "must not run",
		match + "CALL (n) { SET n.x = 1 } IN TRANSACTIONS RETURN n AS id":                                          "must not write",
		match + "CALL db.labels() YIELD label RETURN n AS id":                                                      "a procedure",
		match + "OPTIONAL CALL/**/`db`.labels() YIELD label RETURN n AS id":                                        "a procedure",
		match + "RETURN CASE WHEN COUNT { CALL db.labels() YIELD label RETURN label } > 0 THEN n ELSE n END AS id": "a procedure",
		"CALL dbms.listConnections() YIELD connectionId AS id RETURN id":                                           "a procedure",
		"CALL db.createLabel('Injected') RETURN 1 AS id":                                                           "a procedure",
		"TERMINATE TRANSACTION 'neo4j-transaction-0' YIELD message AS id RETURN id":                                "must not run",
		"SHOW TRANSACTIONS YIELD transactionId AS id RETURN id":                                                    "must not run",
		"SHOW USERS YIELD user AS id RETURN id":                                                                    "must not write",
		"CREATE USER injected SET PASSWORD 'abcdefgh'":                                                             "must not write",
		"CREATE CONSTRAINT injected FOR (n:" + label + ") REQUIRE n.x IS UNIQUE":                                   "must not write",
		match + "RETURN n AS id; MATCH (n) DETACH DELETE n":                                                        "exactly one statement",
	}
	for query, says := range refused {
		for _, sel := range []graph.Selection{{NodeQuery: query}, {NodeLabels: []string{label}, RelationshipQuery: query}} {
			if _, err := s.Graph(t.Context(), sel); !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want ErrInput that says %q", query, err, says)
			}
		}
	}
	if calls.Load() != 0 {
		t.Errorf("the server called the listener %d times", calls.Load())
	}
	for _, query := range []string{ // what looks like it and is not
		match + "WHERE n.load IS NULL AND n.csv IS NULL OPTIONAL MATCH (n)-[:CALL|RECALL]->() RETURN n AS id",
		match + "CALL (n) { RETURN 1 AS x } CALL { RETURN 2 AS y } RETURN n AS id // LOAD",
		match + "WHERE n.call IS NULL RETURN n AS id",
		match + "WHERE coalesce(n.name, '\u00e9') <> 'x' RETURN n AS id",
	} {
		if g, err := s.Graph(t.Context(), graph.Selection{NodeQuery: query}); err != nil || g.Order() != 2 {
			t.Errorf("%s: %v", query, err)
		}
	}
}
