// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// Properties of the run's node that the store keeps; startedAt and all others are
// the record's.
const (
	keyRunID   = "runId"
	keyStatus  = "status"
	keyColumn  = "runIdProperty"
	keyColumns = "properties"
	keyTable   = "tableDigest"
	keyGraph   = "graphDigest"
	keyNodes   = "nodesWritten"
	keyStart   = "startedAt"
	keyWriter  = "writer" // token of who may change the run's values
	keyHeld    = "held"   // changed to take the node's lock
)

// A run is one node: its JSON, what its table says of it, and properties to query. The property outcome
// says how the run ended, for status is that of its write. A property that its table has too keeps the table's value.
const (
	keyHistory = "history"
	keyReport  = "report"
)

// Run returns what is known of a run that writes, or [connector.ErrNotFound]. It returns the errors
// of [New] too.
func (s *Store) Run(ctx context.Context, runID string) (jobs.Run, error) {
	runs, err := s.runs(ctx, runID)
	if err != nil {
		return jobs.Run{}, err
	}
	return connector.FindWritten(runs, runID)
}

// runs are what is known of all runs, without their reports, or of one with its report.
func (s *Store) runs(ctx context.Context, runID string) (runs []jobs.Run, err error) {
	err = s.read(ctx, "runs", func(tx *transaction) (err error) {
		runs, err = tx.runs(runID)
		return err
	})
	return runs, err
}

func (t *transaction) runs(runID string) (runs []jobs.Run, err error) {
	_, err = t.rows("MATCH (r:"+connector.RunLabel+") WHERE $id = '' OR r.runId = $id RETURN r {.*, report: CASE WHEN $id = '' "+
		"THEN null ELSE r.report END} ORDER BY r.runId", map[string]any{"id": runID}, func(r *neo4j.Record) error {
		p, _ := r.Values[0].(map[string]any)
		if run, ok := runOf(p); ok {
			runs = append(runs, run)
		}
		return nil
	})
	return runs, err
}

// runOf reads the node of a run. What another wrote on a node of this label is no run, unless it has the status of one.
func runOf(p properties) (r jobs.Run, ok bool) {
	id := p.text(keyRunID)
	if ok = strictjson.Unmarshal([]byte(p.text(keyHistory)), &r) == nil && r.RunID == id; !ok {
		r = jobs.Run{RunID: id, Mode: "write"}
	}
	if text := p.text(keyReport); text != "" && ok {
		r.Report = []byte(text)
	}
	if status := p.text(keyStatus); status != "" {
		w := &jobs.Write{
			Status: jobs.Status(status), RunIDColumn: p.text(keyColumn), Table: p.text(keyTable), Graph: p.text(keyGraph),
		}
		w.Nodes, _ = p[keyNodes].(int64)
		columns, _ := p[keyColumns].([]any)
		for _, c := range columns {
			if name, ok := c.(string); ok {
				w.Columns = append(w.Columns, name)
			}
		}
		r.Write, ok = w, true
	}
	return connector.Known(r), ok
}

// put creates or updates the run's node. The properties of its table are set first, so that they
// cannot overwrite what the store keeps. Its start is a time, as its end will be.
func (t *transaction) put(run jobs.Run, table report.Table, writer string) error {
	entry, err := json.Marshal(run)
	if err != nil {
		return err
	}
	record := map[string]any{}
	for _, p := range table.Record() {
		record[p.Name] = p.Value
	}
	if start, ok := record[keyStart].(string); ok {
		if at, err := time.Parse(time.RFC3339, start); err == nil {
			record[keyStart] = at.UTC()
		}
	}
	w := run.Write
	return t.do("MERGE (r:"+connector.RunLabel+" {runId: $id}) SET r += $record SET r += $own", map[string]any{
		"id": run.RunID, "record": record, "own": map[string]any{
			keyStatus: string(w.Status), keyColumn: w.RunIDColumn, keyColumns: w.Columns,
			keyTable: w.Table, keyGraph: w.Graph, keyNodes: w.Nodes, keyWriter: writer, keyHistory: string(entry),
		},
	})
}

// mine locks the run's node until the transaction is committed, and refuses to commit
// where another process has begun to write, to finish or to undo the run since, or holds the
// tick for which the transaction is: values of a process that was suspended would stand over
// newer ones.
func (t *transaction) mine(runID, writer string) error {
	run := map[string]any{"id": runID}
	if err := t.do("MATCH (r:"+connector.RunLabel+" {runId: $id}) SET r."+keyHeld+" = coalesce(r."+keyHeld+", 0) + 1", run); err != nil {
		return err
	}
	mine := false
	_, err := t.rows("MATCH (r:"+connector.RunLabel+" {runId: $id}) RETURN r."+keyWriter, run, func(r *neo4j.Record) error {
		mine = r.Values[0] == writer
		return nil
	})
	if err == nil && !mine {
		err = fmt.Errorf("%w: another process went on with run %s, ended it or removed it: this one writes nothing more",
			connector.ErrConflict, runID)
	}
	if f, ok := jobs.FenceOf(t.ctx); ok && err == nil {
		err = t.fenced(f)
	}
	return err
}

// settle sets the status of a run, and the time under a property such as finishedAt.
func (s *Store) settle(ctx context.Context, runID, writer string, status jobs.Status, when cypher, nodes int64) error {
	return s.record(ctx, "run", func(tx *transaction) error {
		if err := tx.mine(runID, writer); err != nil {
			return err
		}
		n, err := tx.count("MATCH (r:"+connector.RunLabel+" {runId: $id}) SET r.status = $status, r.nodesWritten = $nodes, r."+when+
			" = datetime({timezone: 'UTC'}) RETURN count(r)", map[string]any{"id": runID, "status": string(status), "nodes": nodes})
		if err == nil && n != 1 {
			err = fmt.Errorf("%w: the record of run %s is gone", connector.ErrConflict, runID)
		}
		return err
	})
}
