// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// CheckResult is one thing that a doctor looked at.
type CheckResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do where it is not OK
	Err    error  `json:"-"`             // what is wrong where it is not OK; of package connector where a kind of it fits
}

// Doctor looks at the connection, the server and the rights that the selection and
// the write-back of the properties need. It changes nothing: writes that test the rights are
// rolled back. A failed check that others depend on ends the list.
func Doctor(ctx context.Context, o Options, sel graph.Selection, properties []string) []CheckResult {
	s, err := New(ctx, o)
	if err != nil {
		return []CheckResult{{Name: "connection", Detail: err.Error(), Fix: connectionFix(err), Err: err}}
	}
	defer s.Close(ctx)
	var checks []CheckResult
	add := func(name string, err error, detail, fix string) {
		c := CheckResult{Name: name, OK: err == nil, Detail: detail}
		if err != nil {
			c.Detail, c.Fix, c.Err = err.Error(), fix, err
		}
		checks = append(checks, c)
	}
	add("connection", nil, fmt.Sprintf("%s, database %s", s.written, s.options.Database), "")
	add("version", s.server.check(), "Neo4j "+s.Version(), "upgrade to Neo4j 5.26 or later")
	n, err := s.readable(ctx, sel)
	add("read", err, report.Count(n.nodes, "node")+", "+report.Count(n.relationships, "relationship"), readFix(err))
	if sel.NodeKey != "" {
		detail, fix, err := s.keyed(ctx, sel)
		add("node key", err, detail, fix)
	}
	err = s.mayWrite(ctx, properties)
	add("write", err, "may set "+strings.Join(properties, ", ")+" and create "+connector.RunLabel, s.writeFix(err))
	raw, err := s.exposedSignals(ctx)
	detail := "no node holds a published value and what it was made from"
	if len(raw) > 0 {
		detail = strings.Join(raw, "; ") + ": who reads the one reads the other. Publish from a copy without the raw property"
	}
	add("raw values", err, detail, "run doctor again when the server is less busy")
	missing, err := s.missingConstraints(ctx, constraints)
	add("constraints", err, protection(missing), "run doctor again when the server is less busy")
	return checks
}

// protection says which constraints exist. The first run, or the first claim of a job, creates
// the missing ones before it spends, and fails where it may not.
func protection(missing []constraint) string {
	if len(missing) == 0 {
		return "runs, the ledger and the ticks of jobs are protected"
	}
	names := make([]string, len(missing))
	for i, c := range missing {
		names[i] = fmt.Sprint(c)
	}
	return "the first run makes the missing constraints, " + strings.Join(names, ", ") +
		"; where its user may not, have an administrator run graphcloak doctor --print-setup"
}

// exposedSignals returns the properties of finished runs on nodes that still hold the
// private property which the run released. It names properties, never nodes.
func (s *Store) exposedSignals(ctx context.Context) (found []string, err error) {
	runs, err := s.runs(ctx, "")
	looked := map[[2]string]bool{}
	for _, r := range runs {
		if r.Signal == "" || r.Write == nil || len(r.Write.Columns) == 0 || len(looked) == 20 {
			continue
		}
		signal, column := r.Signal, r.Write.Columns[0]
		if looked[[2]string{signal, column}] { // each a scan
			continue
		}
		looked[[2]string{signal, column}] = true
		names := naming{}
		records, err := s.readAll(ctx, "doctor", "MATCH (n) WHERE "+names.property("n", column)+" IS NOT NULL AND "+
			names.property("n", signal)+" IS NOT NULL RETURN 1 LIMIT 1", names)
		if err != nil {
			return nil, err
		}
		if len(records) > 0 {
			found = append(found, fmt.Sprintf("%s lies beside %s", signal, column))
		}
	}
	return found, err
}

func connectionFix(err error) string {
	switch {
	case isCode(err, codeUnavailable):
		return "the database is starting, or has been stopped: SHOW DATABASES says which"
	case errors.Is(err, connector.ErrAuth) && isTLSFailure(err):
		return "check the server's certificate, and whether the scheme of NEO4J_URI fits it"
	case errors.Is(err, connector.ErrAuth):
		return "check NEO4J_USERNAME and NEO4J_PASSWORD"
	case errors.Is(err, connector.ErrNotFound):
		return "check NEO4J_DATABASE"
	case errors.Is(err, connector.ErrInput):
		return "check NEO4J_URI; it looks like neo4j://host:7687"
	}
	return "check that the server runs and that NEO4J_URI names its host and Bolt port"
}

func readFix(err error) string {
	switch {
	case errors.Is(err, connector.ErrNotFound):
		return "name a label, a type and properties that the database has"
	case errors.Is(err, connector.ErrAuth):
		return "have an administrator grant MATCH, as graphcloak doctor --print-setup shows"
	}
	return "run doctor again when the server is less busy"
}

// writeFix knows that a run cannot do without writing: its ledger is in the database.
func (s *Store) writeFix(err error) string {
	switch {
	case s.options.ReadOnly:
		return "connect with the access mode write"
	case errors.Is(err, connector.ErrReadOnly):
		return "name a database that takes writes with --database, for the ledger is kept there too; or have an administrator run " +
			"ALTER DATABASE " +
			Quote(s.options.Database) + " SET ACCESS READ WRITE, or take it out of server.databases.read_only"
	case errors.Is(err, connector.ErrAuth):
		return "have an administrator grant what graphcloak doctor --print-setup shows, or use another user or database"
	}
	return "run doctor again when the server is less busy"
}

// readable checks the names of the selection and counts what they select: of
// relationships, those with both ends among the nodes. A query of the user's is not run.
func (s *Store) readable(ctx context.Context, sel graph.Selection) (n size, err error) {
	if err := s.checkSelection(ctx, sel); err != nil {
		return n, err
	}
	if n, err = s.size(ctx, sel); err != nil || len(sel.NodeLabels) == 0 {
		return n, err
	}
	err = s.read(ctx, "count", func(tx *transaction) (err error) {
		ends := quoteAll(sel.NodeLabels)
		n.relationships, err = tx.count("MATCH (a"+ends+")-[r"+quoteAll(sel.RelationshipTypes)+"]->(b"+ends+") RETURN count(r)", nil)
		return err
	})
	return n, err
}

// keyed checks that a constraint keeps the key unique for each selected label, or that an index is there in its place.
func (s *Store) keyed(ctx context.Context, sel graph.Selection) (detail, fix string, err error) {
	const checked = "; it is checked at every reading instead"
	if len(sel.NodeLabels) == 0 {
		return "", "name the label of the nodes with --node-labels: a constraint belongs to one",
			fmt.Errorf("no constraint makes %s unique%s", sel.NodeKey, checked)
	}
	keys, err := s.missingKeys(ctx, sel)
	if err != nil {
		return "", "run doctor again when the server is less busy", err
	}
	detail = sel.NodeKey + " is unique by constraint"
	for _, k := range keys {
		switch {
		case !k.found:
			return "", "name a property that the nodes have with --node-key",
				fmt.Errorf("%w: no node of :%s has %s", connector.ErrNotFound, k.label, sel.NodeKey)
		case k.index != "":
			detail = fmt.Sprintf("%v has the index %s, and no constraint makes it unique%s", k.constraint, k.index, checked)
		default:
			return "", "run " + string(k.statement()),
				fmt.Errorf("no constraint makes %s unique%s", sel.NodeKey, checked)
		}
	}
	return detail, "", nil
}

// mayWrite tries what a run does and rolls it back.
func (s *Store) mayWrite(ctx context.Context, properties []string) error {
	err := s.write(ctx, "doctor", func(tx *transaction) error {
		if err := tx.do("CREATE (:"+connector.RunLabel+" {runId: randomUUID(), status: 'DOCTOR'})", nil); err != nil {
			return err
		}
		for _, p := range properties {
			names := naming{}
			if err := tx.do("MATCH (n) WITH n LIMIT 1 SET "+names.property("n", p)+" = 0", names); err != nil {
				return err
			}
		}
		return errNothing
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}
