// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// Check decides whether the table may be written and writes nothing.
// [connector.ErrConflict]: a property that no known run has written stands on a selected
// node under one of the table's names (force overwrites it), or a run is unfinished on
// this graph. It returns the errors of [New] too, and [connector.ErrReadOnly].
func (s *Store) Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: the access mode is read", connector.ErrReadOnly)
	}
	runs, err := s.runs(ctx, "")
	if err != nil {
		return err
	}
	run := connector.NewRun(g.Digest(), t, jobs.Running)
	touched, err := s.obstacles(ctx, g, run, runs, force)
	if err == nil {
		_, _, err = connector.Admit(run, runs, touched)
	}
	return err
}

// obstacles looks at the selected nodes for properties under the run's names.
// It returns the ids of the runs that wrote them, and refuses those that none wrote.
func (s *Store) obstacles(ctx context.Context, g *graph.Graph, run jobs.Run, runs []jobs.Run, force bool) ([]string, error) {
	nodes, err := s.nodes.Get(g)
	if err != nil {
		return nil, err
	}
	o := connector.NewObstacles(run, runs)
	used, err := s.used(ctx, run.Write.Columns)
	if err != nil || len(used) == 0 {
		return nil, err
	}
	names, present, owner := naming{}, make([]cypher, len(used)), none
	for k, name := range used {
		property := names.property("n", name)
		present[k] = property + " IS NOT NULL"
		if name == run.Write.RunIDColumn {
			owner = property
		}
	}
	text := nodes.match() + " WITH n, i WHERE " + join(present, " OR ") +
		" WITH " + owner + " AS owner, [" + join(present, ", ") + "] AS present, count(*) AS nodes RETURN owner, present, nodes"
	t := each("check", len(nodes.ids))
	err = inChunks(ctx, s, t, int64(s.options.BatchSize), func(ctx context.Context, at span) ([]*neo4j.Record, error) {
		params := nodes.params(at.each())
		maps.Copy(params, names)
		return s.readAll(ctx, t.stage, text, params)
	}, func(_ span, groups []*neo4j.Record) error {
		for _, group := range groups {
			found := only(used, list(group, 1))
			count, _ := group.Values[2].(int64)
			o.Add(group.Values[0], found, int(count))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o.Result(force)
}

// used returns the names under which any node or relationship may have a property:
// on the first run there is none, and nothing to look at.
func (s *Store) used(ctx context.Context, names []string) (used []string, err error) {
	have, err := s.known(ctx, propertyNames)
	for _, name := range names {
		if slices.Contains(have, name) {
			used = append(used, name)
		}
	}
	return used, err
}

// only keeps the names that are marked true.
func only(names []string, marks []any) (kept []any) {
	for k, mark := range marks {
		if mark == true && k < len(names) {
			kept = append(kept, names[k])
		}
	}
	return kept
}

var errOutline = errors.New("neo4j: the table has no values")

// Write writes the table in batches by elementId and keeps the run's node: its status is
// RUNNING from before the first value until after the last, then FINISHED. Called again
// with the same table it completes an interrupted write. Values that an earlier run left
// under other names of the same run-id property are removed from the nodes that this one
// writes. It returns the errors of [Store.Check], [connector.ErrConflict] once another has
// gone on with the run or undone it.
func (s *Store) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	start := time.Now()
	if !connector.HasValues(t) {
		return errOutline
	}
	all, err := s.nodes.Get(g)
	if err != nil {
		return err
	}
	if err := s.constrainOnce(ctx); err != nil {
		return err
	}
	id, writer := t.RunID(), rand.Text()
	stale, err := s.begin(ctx, g, t, jobs.Running, writer, force)
	if err != nil {
		return err
	}
	nodes := connector.Covered(t, g.Order())
	batch := newBatch(t, nodes, all, stale)
	written := int64(0)
	err = inChunks(ctx, s, each("write", len(nodes)), int64(s.options.BatchSize), func(ctx context.Context, at span) (n int64, err error) {
		params := batch.params(at)
		err = s.write(ctx, "write", func(tx *transaction) error {
			if n, err = tx.count(batch.text, params); err != nil {
				return err
			}
			return tx.mine(id, writer)
		})
		return n, err
	}, func(_ span, n int64) error {
		written += n
		return nil
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if gone := int64(len(nodes)) - written; gone != 0 {
		return fmt.Errorf("%w: %d of %d nodes are gone since the graph was read, or are others now; run %s stays unfinished, remove it "+
			"with --undo %s",
			connector.ErrConflict, gone, len(nodes), id, id)
	}
	if err := s.settle(ctx, id, writer, jobs.Finished, "finishedAt", written); err != nil {
		return err
	}
	s.options.Logger.InfoContext(ctx, "run written", "runId", id, "nodeCount", written, "durationMillis",
		time.Since(start).Milliseconds())
	return nil
}

// Reserve makes sure that the table can be written, and records that its run is about to
// spend, unless something is in its way: ErrConflict as from Check. What it writes to
// learn whether it may is rolled back. It returns the errors of [Store.Check].
func (s *Store) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: the access mode is read", connector.ErrReadOnly)
	}
	if err := s.constrainOnce(ctx); err != nil {
		return err
	}
	if _, err := s.begin(ctx, g, t, jobs.Reserved, "", force); err != nil {
		return err
	}
	err := s.try(ctx, g, t)
	if err != nil {
		hangUp(ctx, func(ctx context.Context) error { return s.Cancel(ctx, t.RunID()) })
	}
	return err
}

// Cancel gives up a reservation for which nothing was spent. A run that has come further
// is left as it is. It returns the errors of [New], and [connector.ErrReadOnly].
func (s *Store) Cancel(ctx context.Context, runID string) error {
	return s.record(ctx, "run", func(tx *transaction) error {
		return tx.do("MATCH (r:"+connector.RunLabel+" {runId: $id}) WHERE r.status = $from SET r.status = $to, r.cancelledAt = "+
			"datetime({timezone: 'UTC'})",
			map[string]any{"id": runID, "from": string(jobs.Reserved), "to": string(jobs.Canceled)})
	})
}

// tried is the number of nodes, spread over all, on which a write is tried.
const tried = 1000

// try writes values of the table's types to some of its nodes and rolls back: rights
// and constraints that are in the way show before anything is spent.
func (s *Store) try(ctx context.Context, g *graph.Graph, t report.Table) error {
	all, err := s.nodes.Get(g)
	if err != nil {
		return err
	}
	nodes := connector.Covered(t, g.Order())
	var some []int
	for k := 0; k < len(nodes); k += (len(nodes) + tried - 1) / tried {
		some = append(some, nodes[k])
	}
	var set []cypher
	names, params := naming{}, all.params(slices.Values(some))
	for k, c := range t.Columns() {
		parameter := numbered("c", k)
		name := string(parameter)
		set = append(set, names.property("n", c.Name)+" = $"+parameter)
		switch {
		case c.Floats != nil:
			params[name] = 0.5
		case c.Ints != nil:
			params[name] = int64(1)
		default:
			params[name] = t.RunID()
		}
	}
	maps.Copy(params, names)
	err = s.record(ctx, "try", func(tx *transaction) error {
		n, err := tx.count(all.match()+" SET "+join(set, ", ")+" RETURN count(n)", params)
		if err == nil && n != int64(len(some)) {
			err = fmt.Errorf("%w: nodes are gone since the graph was read, or are others now; run again", connector.ErrConflict)
		}
		return cmp.Or(err, errNothing)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return fmt.Errorf("try to write: %w", err)
	}
	return nil
}

// begin records that the run is reserved or being written, unless something is in its
// way. The decision and the record are one transaction behind a lock, so that of two
// runs that start together one sees the other.
func (s *Store) begin(ctx context.Context, g *graph.Graph, t report.Table, status jobs.Status, writer string, force bool) (
	stale []string, err error,
) {
	runs, err := s.runs(ctx, "")
	if err != nil {
		return nil, err
	}
	run := connector.NewRun(g.Digest(), t, status)
	touched, err := s.obstacles(ctx, g, run, runs, force)
	if err != nil {
		return nil, err
	}
	err = s.record(ctx, "run", func(tx *transaction) error {
		if err := tx.lock("write"); err != nil {
			return err
		}
		known, err := tx.runs("")
		if err != nil {
			return err
		}
		record, old, err := connector.Admit(run, known, touched)
		if err != nil {
			return err
		}
		stale = old
		return tx.put(record, t, writer)
	})
	return stale, err
}

// batch prepares the parameters of a write, of nodes in the order of the database.
type batch struct {
	text    cypher
	names   naming
	runID   string
	nodes   *nodeSet
	order   []int
	columns []report.Column
}

func newBatch(t report.Table, nodes []int, all *nodeSet, stale []string) *batch {
	order := nodes
	if compare := func(i, j int) int { return cmp.Compare(all.internal[i], all.internal[j]) }; !slices.IsSortedFunc(order, compare) {
		order = slices.Clone(nodes)
		slices.SortFunc(order, compare)
	}
	b := &batch{names: naming{}, runID: t.RunID(), nodes: all, order: order}
	var set []cypher
	for _, c := range t.Columns() {
		if c.Name == t.RunIDColumn() {
			set = append(set, b.names.property("n", c.Name)+" = $run")
			continue
		}
		set = append(set, b.names.property("n", c.Name)+" = "+numbered("$c", len(b.columns))+"[i]")
		b.columns = append(b.columns, c)
	}
	for _, name := range stale {
		set = append(set, b.names.property("n", name)+" = null")
	}
	b.text = all.match() + " SET " + join(set, ", ") + " RETURN count(n)"
	return b
}

func (b *batch) params(at span) map[string]any {
	nodes := b.order[at.lo:at.hi]
	p := b.nodes.params(slices.Values(nodes))
	maps.Copy(p, b.names)
	p["run"] = b.runID
	for k, c := range b.columns {
		values := make([]any, len(nodes)) // nil removes the property
		for j, node := range nodes {
			at, ok := node, true
			if c.Nodes != nil {
				at, ok = slices.BinarySearch(c.Nodes, node)
			}
			if ok {
				values[j] = connector.Cell(c, at)
			}
		}
		p[fmt.Sprintf("c%d", k)] = values
	}
	return p
}
