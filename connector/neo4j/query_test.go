// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
)

// What the text of a query may hide from its plan is found in the text.
func TestCheckText(t *testing.T) {
	for text, allowed := range map[string]bool{
		"MATCH (n) RETURN n AS id": true,
		"MATCH (n:CALL|CALLS)-[:CALL]->(m) WHERE n.call = $call RETURN n AS id":                      true,
		"MATCH (n) CALL (n) { RETURN 1 AS x } CALL /* x */ // y\n { RETURN 2 AS z } RETURN n AS id":  true,
		"CALL db.index.fulltext.queryNodes('t', 'heat') YIELD node RETURN node AS id":                true,
		"MATCH (n) WHERE n.csv = 1 RETURN n.load AS id":                                              true,
		"MATCH (n) WHERE n.name = '\\u00fc' RETURN n AS id":                                          true,
		"LOAD CSV FROM 'x' AS l RETURN l":                                                            false,
		"load//x\r\n/* y */csv WITH HEADERS FROM 'x' AS l RETURN l":                                  false,
		"LOAD\u00a0CSV FROM 'x' AS l RETURN l":                                                       false,
		"MATCH (n) WITH n AS `x`CALL apoc.load.json('x') YIELD value RETURN n AS id":                 false,
		"CALL/**/`apoc`.load.json('x') YIELD value RETURN value AS id":                               false,
		"OPTIONAL CALL\u2003apoc.load.json('x') YIELD value RETURN value AS id":                      false,
		"CALL // db.index.fulltext.queryNodes(\n apoc.load.json('x') YIELD value RETURN value AS id": false,
		"CALL db.index.fulltext.queryNodesEvil('x') YIELD node RETURN node AS id":                    false,
		`MATCH (n) RETURN \u0061poc.cypher.runFirstColumnSingle('x', {}) AS id`:                      false,
		`MATCH (n) RETURN n AS id \uu004c`:                                                           false,
	} {
		if err := new(Store).checkText("node query", text); (err == nil) != allowed || err != nil && !errors.Is(err, connector.ErrInput) {
			t.Errorf("%s: %v, want it allowed: %v", text, err, allowed)
		}
	}
}

// A function of a plugin is found however its name is written.
func TestMentions(t *testing.T) {
	const function = "apoc.cypher.runFirstColumnSingle"
	for text, want := range map[string]bool{
		"RETURN apoc.cypher.runFirstColumnSingle('x', {})":            true,
		"RETURN `apoc` . cypher./**/`runFirstColumnSingle` ('x', {})": true,
		"RETURN APOC.CYPHER.RUNFIRSTCOLUMNSINGLE('x', {})":            true,
		"RETURN apoc.text.join(['x'], '')":                            false,
		"MATCH (n) RETURN n":                                          false,
	} {
		if got := mentions(text, function); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
