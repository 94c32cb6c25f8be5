// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestSnapshot: a plan on the snapshot of a folder is that on the folder; a run writes to the folder and spends from its budget; nodes
// that are others, another selection and an altered file are refused, and nothing is spent.
func TestSnapshot(t *testing.T) {
	kit(t)
	ok := func(args string) map[string]any {
		t.Helper()
		exit, stdout, stderr := called(t, strings.Fields(args)...)
		var result map[string]any
		if err := json.Unmarshal([]byte(stdout), &result); exit != 0 || err != nil {
			t.Fatalf("%s: exit %d, %v: %s", args, exit, err, stderr)
		}
		return result
	}
	ok("graph generate sbm,n=120,k=3,in=0.2,out=0.01,seed=1 town")
	ok("graph snapshot --from folder:town --isolated drop town/graph.snapshot")
	const chosen = " --isolated drop --tau 2 --epsilon 10 --delta 1e-4 --community-property community --format json"
	of := func(from string) map[string]any {
		p := ok("plan --trials 0 --from " + from + chosen)
		for _, key := range []string{"documentDigest", "sensitivitySeed"} {
			delete(p, key)
		}
		return p
	}
	read, mapped := of("folder:town"), of("snapshot:town/graph.snapshot")
	if len(read) < 10 || !reflect.DeepEqual(read, mapped) {
		t.Errorf("the plans differ: %v and %v", read["sensors"], mapped["sensors"])
	}
	run := ok("run --from snapshot:town/graph.snapshot --source-property source --mode write --spend-at-chance" + chosen)
	if run["nodePropertiesWritten"].(float64) < 120 || !strings.HasPrefix(run["store"].(string), "folder:") {
		t.Errorf("%v of %v", run["nodePropertiesWritten"], run["store"])
	}
	header, _, _ := strings.Cut(string(must.Get(os.ReadFile(filepath.Join("town", "nodes.csv")))(t)), "\n")
	if !strings.Contains(header, "gcRunId") {
		t.Errorf("nodes.csv has the columns %s", header)
	}
	refused := func(exit int, args string) {
		t.Helper()
		got, _, stderr := called(t, strings.Fields(args)...)
		if got != exit || !strings.Contains(stderr, "snapshot") {
			t.Errorf("%s: exit %d: %s", args, got, stderr)
		}
	}
	refused(exitConflict, "graph snapshot --from folder:town town/graph.snapshot")
	refused(exitConflict, "plan --from snapshot:town/graph.snapshot --tau 2")
	data := must.Get(os.ReadFile(filepath.Join("town", "graph.snapshot")))(t)
	data[len(data)-200] ^= 1
	must.Do(t, os.WriteFile(filepath.Join("town", "altered"), data, 0o600))
	refused(exitValidation, "plan --from snapshot:town/altered"+chosen)
	nodes := must.Get(os.OpenFile(filepath.Join("town", "nodes.csv"), os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Get(nodes.WriteString("stranger" + strings.Repeat(",", strings.Count(header, ",")) + "\n"))(t)
	must.Do(t, nodes.Close())
	refused(exitConflict, "plan --from snapshot:town/graph.snapshot"+chosen)
}

// TestParquetFolder: a folder with relationships.parquet gives the snapshot and the plan of relationships.csv, and takes what a run
// writes; both files, and a column of times as weights, are refused.
func TestParquetFolder(t *testing.T) {
	kit(t)
	ok := func(args string) string {
		t.Helper()
		exit, stdout, stderr := called(t, strings.Fields(args)...)
		if exit != 0 {
			t.Fatalf("%s: exit %d: %s", args, exit, stderr)
		}
		return stdout
	}
	ok("graph generate road-like,n=60,seed=1 town")
	ok("graph snapshot --from folder:town csv.snapshot")
	const chosen = "plan --from folder:town --tau 2 --trials 0 --epsilon 10 --delta 1e-4"
	of := func() (plan map[string]any) {
		must.Do(t, json.Unmarshal([]byte(ok(chosen)), &plan))
		for _, key := range []string{"documentDigest", "sensitivitySeed"} {
			delete(plan, key)
		}
		return plan
	}
	plan := of()
	path := filepath.Join("town", "relationships.csv")
	text := string(must.Get(os.ReadFile(path))(t))
	type row struct {
		When   time.Time `parquet:"when"`
		Target string    `parquet:"target"`
		Source string    `parquet:"source,dict"`
	}
	var rows []row
	for _, fields := range must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)[1:] {
		rows = append(rows, row{time.Now(), fields[1], fields[0]})
	}
	must.Do(t, parquet.WriteFile(filepath.Join("town", "relationships.parquet"), rows))
	refused := func(args, says string) {
		t.Helper()
		if exit, _, stderr := called(t, strings.Fields(args)...); exit != exitValidation || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s", args, exit, stderr)
		}
	}
	refused(chosen, "relationships.csv and relationships.parquet")
	must.Do(t, os.Remove(path))
	refused(chosen+" --relationship-weight-property when", `in the column "when"`)
	if got := of(); len(got) < 10 || !reflect.DeepEqual(got, plan) {
		t.Errorf("the plans differ: %v\n%v", got, plan)
	}
	ok("graph snapshot --from folder:town parquet.snapshot")
	if string(must.Get(os.ReadFile("csv.snapshot"))(t)) != string(must.Get(os.ReadFile("parquet.snapshot"))(t)) {
		t.Error("the snapshots differ")
	}
	ok("run --from folder:town --source-property source --tau 2 --epsilon 10 --delta 1e-4 --mode write --spend-at-chance")
	if header := must.Get(os.ReadFile(filepath.Join("town", "nodes.csv")))(t); !strings.Contains(string(header), "gcRunId") {
		t.Error("the run wrote no columns")
	}
	rows[1].Target = "\xff"
	must.Do(t, parquet.WriteFile(filepath.Join("town", "relationships.parquet"), rows))
	refused(chosen, `relationships.parquet row 2: the field of "target" is not UTF-8`)
}
