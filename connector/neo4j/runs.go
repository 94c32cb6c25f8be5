// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
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

// The history of a run is kept on the node of its record, if it has one: as JSON, and as
// properties to query. The property outcome says how the run ended, for status is that of
// the write-back. A property that the record has too keeps the record's value.
const (
	keyHistory = "history"
	keyReport  = "report"
)

// Runs returns what is known of every run, by id. It returns the errors of [New].
func (s *Store) Runs(ctx context.Context) (runs []connector.Run, err error) {
	err = s.read(ctx, "runs", func(tx *transaction) (err error) {
		runs, err = tx.runs()
		return err
	})
	return runs, err
}

// Run returns what is known of one run, or [connector.ErrNotFound]. It returns the errors
// of [New] too.
func (s *Store) Run(ctx context.Context, runID string) (connector.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return connector.Run{}, err
	}
	return connector.FindRun(runs, runID)
}

// runs reads the records of runs that write, without the reports of their history.
func (t *transaction) runs() (runs []connector.Run, err error) {
	_, err = t.rows("MATCH (r:"+connector.RunLabel+") WHERE r.status IS NOT NULL RETURN r {.*, "+keyReport+": null} ORDER BY r.runId", nil,
		func(r *neo4j.Record) error {
			p, _ := r.Values[0].(map[string]any)
			runs = append(runs, runOf(p))
			return nil
		})
	return runs, err
}

func runOf(p map[string]any) connector.Run {
	text := func(key string) string { s, _ := p[key].(string); return s }
	run := connector.Run{
		ID: text(keyRunID), Status: text(keyStatus), RunIDColumn: text(keyColumn),
		Table: text(keyTable), Graph: text(keyGraph), Record: maps.Clone(p),
	}
	delete(run.Record, keyReport)
	delete(run.Record, keyHistory)
	delete(run.Record, keyWriter)
	delete(run.Record, keyHeld)
	run.Nodes, _ = p[keyNodes].(int64)
	columns, _ := p[keyColumns].([]any)
	for _, c := range columns {
		if name, ok := c.(string); ok {
			run.Columns = append(run.Columns, name)
		}
	}
	return connector.Recorded(run)
}

// put creates or updates the run's node. The record is set first, so that it
// cannot overwrite what the store keeps. Its start is a time, as its end will be.
func (t *transaction) put(run connector.Run, writer string) error {
	record := maps.Clone(run.Record)
	if text, ok := record[keyStart].(string); ok {
		if start, err := time.Parse(time.RFC3339, text); err == nil {
			record[keyStart] = start.UTC()
		}
	}
	return t.do("MERGE (r:"+connector.RunLabel+" {runId: $id}) SET r += $record SET r += $own", map[string]any{
		"id": run.ID, "record": record, "own": map[string]any{
			keyStatus: run.Status, keyColumn: run.RunIDColumn, keyColumns: run.Columns,
			keyTable: run.Table, keyGraph: run.Graph, keyNodes: run.Nodes, keyWriter: writer,
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
func (s *Store) settle(ctx context.Context, runID, writer, status string, when cypher, nodes int64) error {
	return s.record(ctx, "run", func(tx *transaction) error {
		if err := tx.mine(runID, writer); err != nil {
			return err
		}
		n, err := tx.count("MATCH (r:"+connector.RunLabel+" {runId: $id}) SET r.status = $status, r.nodesWritten = $nodes, r."+when+
			" = datetime({timezone: 'UTC'}) RETURN count(r)", map[string]any{"id": runID, "status": status, "nodes": nodes})
		if err == nil && n != 1 {
			err = fmt.Errorf("%w: the record of run %s is gone", connector.ErrConflict, runID)
		}
		return err
	})
}
