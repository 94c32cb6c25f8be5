// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
)

// BenchmarkSpeed reads a graph with five relationships a node and writes a run to all of its
// nodes, on a server of its own.
//
//	go test ./integration -run '^$' -bench Speed/1e6 -benchtime 3x
func BenchmarkSpeed(b *testing.B) {
	for name, n := range map[string]int{"2e5": 200_000, "1e6": 1_000_000} {
		b.Run(name, func(b *testing.B) { measure(b, n) })
	}
}

func measure(b *testing.B, n int) {
	dir := b.TempDir()
	writeGraph(b, dir, n)
	server, err := startLocal([]string{"NEO4J_IMPORT=" + dir, "NEO4J_HEAP=3g", "NEO4J_TIER=4", "NEO4J_PAGECACHE=1g"})
	if err != nil {
		b.Fatal(err)
	}
	defer server.stop()
	s, err := neo4j.New(b.Context(), server.Options())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.Background())
	sel := graph.Selection{
		NodeLabels: []string{"Bench"}, NodeKey: "id", RelationshipTypes: []string{"BENCH"}, RelationshipWeightProperty: "w",
	}
	var read, written time.Duration
	rounds := 0
	round := func() {
		start := time.Now()
		g, err := s.Graph(b.Context(), sel)
		if err != nil || g.Order() != n {
			b.Fatal(g, err)
		}
		read += time.Since(start)
		id := fmt.Sprint("round-", rounds)
		start = time.Now()
		if err := s.Write(b.Context(), g, newTable(b, g, id, 0, 1, 2), false); err != nil {
			b.Fatal(err)
		}
		written += time.Since(start)
		if k, err := s.Undo(b.Context(), id); err != nil || k != int64(n) {
			b.Fatal(k, err)
		}
		rounds++
	}
	round() // the server compiles
	read, written = 0, 0
	for b.Loop() {
		round()
	}
	b.ReportMetric(read.Seconds()/float64(b.N), "read-s")
	b.ReportMetric(written.Seconds()/float64(b.N), "write-s")
}

// writeGraph writes the files that neo4j-admin imports.
func writeGraph(b *testing.B, dir string, n int) {
	const degree = 5
	for name, line := range map[string]func(w *bufio.Writer, i int){
		"nodes.csv": func(w *bufio.Writer, i int) {
			if i == 0 {
				fmt.Fprintln(w, "id:ID{type:int},:LABEL")
			}
			fmt.Fprintf(w, "%d,Bench\n", i)
		},
		"relationships.csv": func(w *bufio.Writer, i int) {
			if i == 0 {
				fmt.Fprintln(w, ":START_ID,:END_ID,w:double,:TYPE")
			}
			for j := range degree {
				fmt.Fprintf(w, "%d,%d,%d.5,BENCH\n", i, (i*7919+j*104729+1)%n, j+1)
			}
		},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		w := bufio.NewWriter(f)
		for i := range n {
			line(w, i)
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
