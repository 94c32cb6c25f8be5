// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
)

// degree is the number of relationships that leave each node.
const degree = 5

// BenchmarkSpeed compares the store with bare loops of the driver, in the same
// statements, records and sessions, that only receive or send and keep nothing.
// It starts a server of its own. A ratio is the bare loop's time over the store's; "graph"
// is all that [neo4j.Store.Graph] does: it also counts, checks and builds.
//
//	go test ./integration -run '^$' -bench Speed/1e6 -benchtime 3x
func BenchmarkSpeed(b *testing.B) {
	for name, n := range map[string]int{"2e5": 200_000, "1e6": 1_000_000} {
		b.Run(name, func(b *testing.B) { compare(b, n) })
	}
}

func compare(b *testing.B, n int) {
	dir := b.TempDir()
	writeGraph(b, dir, n)
	server, err := startLocal([]string{"NEO4J_IMPORT=" + dir, "NEO4J_HEAP=3g", "NEO4J_TIER=4", "NEO4J_PAGECACHE=1g"})
	if err != nil {
		b.Fatal(err)
	}
	defer server.stop()
	r := newContest(b, server, n)
	r.round(b, "warm-up") // the server compiles
	r.laps = map[string]*lap{}
	for i := 0; b.Loop(); i++ {
		r.round(b, fmt.Sprint("round-", i))
	}
	for _, stage := range []string{"nodes", "relationships", "graph", "write", "check and write"} {
		bare, ours := r.laps[stage+" bare"], r.laps[stage]
		b.Logf("%-16s bare %6.2f s (%6.2f CPU s), store %6.2f s (%6.2f CPU s), ratio %.2f (%.2f by CPU)", stage,
			bare.wall/float64(b.N), bare.cpu/float64(b.N), ours.wall/float64(b.N), ours.cpu/float64(b.N), bare.wall/ours.wall,
			bare.cpu/ours.cpu)
		b.ReportMetric(bare.cpu/ours.cpu, strings.ReplaceAll(stage, " ", "-")+"-ratio")
	}
	b.Logf("memory at its peak, above what there was: bare reading %d MB, Graph %d MB, Write %d MB", r.laps["graph bare"].peak,
		r.laps["graph"].peak, r.laps["write"].peak)
	b.ReportMetric(float64(r.laps["graph"].peak), "graph-MB")
	b.ReportMetric(float64(r.laps["write"].peak), "write-MB")
}

// writeGraph writes the files that neo4j-admin imports.
func writeGraph(b *testing.B, dir string, n int) {
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

// contest measures both ways in turn.
type contest struct {
	n      int
	server Neo4j
	driver driver.DriverWithContext
	store  *neo4j.Store
	at     string // stage of the store
	began  lap
	laps   map[string]*lap
}

// lap is what a stage has taken: seconds, CPU seconds of client and server, and the
// largest memory in MB.
type lap struct {
	wall, cpu float64
	peak      int
}

func newContest(b *testing.B, server Neo4j, n int) *contest {
	r := &contest{n: n, server: server, laps: map[string]*lap{}}
	var err error
	if r.driver, err = driver.NewDriverWithContext(server.URI, driver.BasicAuth(server.Username, server.Password, "")); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.driver.Close(context.Background()) })
	o := server.Options()
	o.Progress = func(stage string, done, total int64) {
		switch {
		case done == 0:
			r.next(stage)
		case done == total:
			r.next("rest")
		}
	}
	if r.store, err = neo4j.New(b.Context(), o); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.store.Close(context.Background()) })
	return r
}

// next ends the stage of the store and begins another.
func (r *contest) next(stage string) {
	now := lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}
	if r.at != "" {
		r.add(r.at, now, r.began)
	}
	r.at, r.began = stage, now
}

func (r *contest) add(stage string, now, began lap) {
	l := r.laps[stage]
	if l == nil {
		l = &lap{}
		r.laps[stage] = l
	}
	l.wall += now.wall - began.wall
	l.cpu += now.cpu - began.cpu
}

// measure runs f as a stage and notes its memory.
func (r *contest) measure(stage string, f func()) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // sets VmHWM to VmRSS
		panic(err)
	}
	before := status("VmRSS")
	began := lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}
	f()
	r.add(stage, lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}, began)
	r.laps[stage].peak = max(r.laps[stage].peak, (status("VmHWM")-before)>>10)
}

// status reads a number of kilobytes of this process.
func status(name string) (kB int) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(text) {
		if value, ok := strings.CutPrefix(string(line), name+":"); ok {
			kB, _ = strconv.Atoi(strings.Fields(value)[0])
		}
	}
	return kB
}

// cpu is the time that client and server have taken.
func (r *contest) cpu() float64 {
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		panic(err)
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.server.pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return float64(self.Utime.Nano()+self.Stime.Nano())/1e9 + float64(user+system)/100 // in ticks of 10 ms
}

// The statements of the bare loops, which are those of the store.
const (
	bareNodes = "UNWIND range(0, size($at) - 2) AS k CALL (k) { MATCH (n) WHERE id(n) IN range($at[k], $at[k + 1] - 1) WITH n " +
		"WHERE n:Bench " +
		"RETURN collect(id(n)) AS a, collect(elementId(n)) AS b, collect(n.id) AS c } RETURN a, b, c"
	bareRelationships = "UNWIND range(0, size($at) - 2) AS k CALL (k) { MATCH (a)-[r]->(b) WHERE id(r) IN range($at[k], $at[k + 1] - 1) " +
		"WITH a, r, b WHERE r:BENCH " +
		"RETURN collect(id(a)) AS a, collect(id(b)) AS b, collect(r.w) AS c } RETURN a, b, c"
	bareWrite = "UNWIND range(0, size($e) - 1) AS i MATCH (n) WHERE elementId(n) = $e[i] SET n.bareHeat = $a[i], n.bareSource = $b[i], " +
		"n.bareProbability = $c[i], n.bareCommunity = $d[i], n.bareShare = $f[i], n.bareRunId = $run RETURN count(n)"
	bareRemove = "MATCH (n:Bench) CALL (n) { REMOVE n.bareHeat, n.bareSource, n.bareProbability, n.bareCommunity, n.bareShare, " +
		"n.bareRunId } IN TRANSACTIONS OF 10000 ROWS"
)

func (r *contest) round(b *testing.B, id string) {
	var elements []string
	r.measure("graph bare", func() {
		began := lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}
		elements = r.receive(b, bareNodes, "(n:Bench)", "n", r.n)
		now := lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}
		r.add("nodes bare", now, began)
		r.receive(b, bareRelationships, "()-[n:BENCH]->()", "n", degree*r.n)
		r.add("relationships bare", lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}, now)
	})
	var g *graph.Graph
	r.measure("graph", func() {
		var err error
		g, err = r.store.Graph(b.Context(),
			graph.Selection{
				NodeLabels: []string{"Bench"}, NodeKey: "id", RelationshipTypes: []string{"BENCH"},
				RelationshipWeightProperty: "w",
			})
		r.next("")
		if err != nil || g.Order() != r.n {
			b.Fatal(g, err)
		}
	})
	r.measure("check and write bare", func() {
		began := lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}
		r.send(b, elements)
		r.add("write bare", lap{float64(time.Now().UnixNano()) / 1e9, r.cpu(), 0}, began)
	})
	if _, err := r.server.run(r.server.Database, bareRemove, nil); err != nil {
		b.Fatal(err)
	}
	elements = nil
	table := newTable(b, g, id, 0, 1, 2)
	r.measure("check and write", func() {
		if err := r.store.Write(b.Context(), g, table, false); err != nil {
			b.Fatal(err)
		}
		r.next("")
	})
	if k, err := r.store.Undo(b.Context(), id); err != nil || k != int64(r.n) {
		b.Fatal(k, err)
	}
	r.next("")
}

// receive runs a statement over a range of ids in two sessions and returns the
// texts of its second column.
func (r *contest) receive(b *testing.B, cypher, pattern, x string, want int) (texts []string) {
	ends, err := r.server.run(r.server.Database, fmt.Sprintf("CALL () { MATCH %s RETURN id(%[2]s) AS lo ORDER BY %[2]s LIMIT 1 } "+
		"CALL () { MATCH %[1]s RETURN id(%[2]s) + 1 AS hi ORDER BY %[2]s DESC LIMIT 1 } RETURN lo, hi", pattern, x), nil)
	if err != nil {
		b.Fatal(err)
	}
	lo, hi := ends[0][0].(int64), ends[0][1].(int64)
	rows, kept := [2]int{}, [2][]string{}
	r.inTwo(b, func(ctx context.Context, k int64, session driver.SessionWithContext) error {
		var at []int64
		for c := lo + (hi-lo)*k/2; c < lo+(hi-lo)*(k+1)/2; c += 5000 {
			at = append(at, c)
		}
		result, err := session.Run(ctx, cypher, map[string]any{"at": append(at, lo+(hi-lo)*(k+1)/2)})
		if err != nil {
			return err
		}
		for result.Next(ctx) {
			for _, v := range result.Record().Values[1].([]any) {
				if text, ok := v.(string); ok {
					kept[k] = append(kept[k], text)
				}
				rows[k]++
			}
		}
		return result.Err()
	})
	if rows[0]+rows[1] != want {
		b.Fatalf("%d rows, want %d", rows[0]+rows[1], want)
	}
	return append(kept[0], kept[1]...)
}

// send writes six properties of each element in two sessions.
func (r *contest) send(b *testing.B, elements []string) {
	values, whole, some := make([]float64, len(elements)), make([]int64, len(elements)), make([]any, len(elements))
	for i := range values {
		values[i], whole[i] = 1/float64(i+1), int64(i%3)
	}
	r.inTwo(b, func(ctx context.Context, k int64, session driver.SessionWithContext) error {
		half := int64(len(elements)) / 2
		for lo := half * k; lo < half*(k+1); lo += 10_000 {
			hi := min(lo+10_000, half*(k+1))
			_, err := session.ExecuteWrite(ctx, func(tx driver.ManagedTransaction) (any, error) {
				result, err := tx.Run(ctx, bareWrite, map[string]any{
					"e": elements[lo:hi], "a": some[lo:hi], "b": values[lo:hi], "c": values[lo:hi], "d": whole[lo:hi],
					"f": values[lo:hi], "run": "bare",
				})
				if err != nil {
					return nil, err
				}
				return result.Consume(ctx)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *contest) inTwo(b *testing.B, work func(ctx context.Context, k int64, session driver.SessionWithContext) error) {
	ctx := b.Context()
	var both sync.WaitGroup
	for k := range int64(2) {
		both.Go(func() {
			session := r.driver.NewSession(ctx, driver.SessionConfig{DatabaseName: r.server.Database})
			defer session.Close(ctx)
			if err := work(ctx, k, session); err != nil {
				b.Error(err)
			}
		})
	}
	both.Wait()
}
