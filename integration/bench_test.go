// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/graph"
)

// BenchmarkRead reads 200,000 nodes and 1,000,000 relationships with weights: the
// whole of Store.Graph, against a bare loop of the driver that only receives the
// same columns, from the relationships by their ids, and keeps nothing.
func BenchmarkRead(b *testing.B) {
	const nodes, relationships = 200_000, 1_000_000
	label := "Bench" + token()
	Query(b, "UNWIND range(0, $n - 1) AS i CALL (i) { CREATE (:"+label+" {id: i}) } IN TRANSACTIONS OF 1000 ROWS", map[string]any{"n": nodes})
	b.Cleanup(func() {
		Query(b, "MATCH (n:"+label+") CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", nil)
	})
	lo := Query(b, "MATCH (n:"+label+") RETURN min(id(n))", nil)[0][0]
	Query(b, "UNWIND range(0, $m - 1) AS k CALL (k) { MATCH (a) WHERE id(a) = $lo + k % $n MATCH (b) WHERE id(b) = $lo + (k * 7919 + k / $n) % $n "+
		"CREATE (a)-[:"+label+" {w: 1.0 + k % 5}]->(b) } IN TRANSACTIONS OF 1000 ROWS", map[string]any{"m": relationships, "n": nodes, "lo": lo})
	b.Run("store", func(b *testing.B) {
		s := connect(b)
		for b.Loop() {
			g, err := s.Graph(b.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: "id", RelationshipTypes: []string{label}, RelationshipWeightProperty: "w"})
			if err != nil || g.Order() != nodes {
				b.Fatal(g, err)
			}
		}
		b.ReportMetric(relationships*float64(b.N)/b.Elapsed().Seconds(), "relationships/s")
	})
	b.Run("bare", func(b *testing.B) {
		n := Server(b)
		ctx := context.Background()
		driver, err := neo4j.NewDriverWithContext(n.URI, neo4j.BasicAuth(n.Username, n.Password, ""))
		if err != nil {
			b.Fatal(err)
		}
		defer driver.Close(ctx)
		ends := Query(b, "MATCH ()-[r:"+label+"]->() RETURN min(id(r)), max(id(r)) + 1", nil)[0]
		for b.Loop() {
			session := driver.NewSession(ctx, neo4j.SessionConfig{DatabaseName: n.Database, AccessMode: neo4j.AccessModeRead})
			result, err := session.Run(ctx, "UNWIND range($lo, $hi - 1, 5000) AS c CALL (c) { UNWIND range(c, c + 4999) AS i MATCH (a)-[r:"+label+"]->(b) WHERE id(r) = i "+
				"RETURN collect(id(a)) AS source, collect(id(b)) AS target, collect(r.w) AS w } RETURN source, target, w", map[string]any{"lo": ends[0], "hi": ends[1]})
			if err != nil {
				b.Fatal(err)
			}
			rows := 0
			for result.Next(ctx) {
				rows += len(result.Record().Values[0].([]any))
			}
			if rows != relationships || result.Err() != nil {
				b.Fatal(rows, result.Err())
			}
			session.Close(ctx)
		}
		b.ReportMetric(relationships*float64(b.N)/b.Elapsed().Seconds(), "relationships/s")
	})
}
