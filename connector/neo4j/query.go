// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/dbtype"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// query runs a statement of the user's, in a read transaction of a session of its
// own, unless the server's plan or the text shows that it does more than read the
// graph. Start may be called again: it forgets the records.
func (s *Store) query(ctx context.Context, name, text string, start func(), each func(*neo4j.Record) error) error {
	if err := s.checkText(name, text); err != nil {
		return err
	}
	err := s.read(ctx, name, func(tx *transaction) error {
		start()
		if err := s.checkPlan(tx, name, text); err != nil {
			return err
		}
		_, err := tx.rows(cypher(text), nil, each)
		return err
	})
	if e, ok := serverError(err); ok && strings.HasPrefix(e.Code, "Neo.ClientError.Statement.") && e.Code != codeAccessMode {
		return fmt.Errorf("%w: %s", connector.ErrInput, e.Msg) // the text is to blame
	}
	return err
}

var (
	// asciiEscape is an escape that hides a character of a keyword.
	asciiEscape = regexp.MustCompile(`(?i)\\u+00[0-7][0-9a-f]`)
	// loadCSV also holds where comments stand between the words. The planner does not
	// list what subqueries in expressions do, so that the text must be asked.
	loadCSV = regexp.MustCompile(`(?is)\bload\b(?:\W|/\*.*?\*/|//[^\n\r]*)*\bcsv\b`)
	call    = regexp.MustCompile(`(?i)\bcall\b`)
	// harmless procedures only look things up in the database.
	harmless = regexp.MustCompile(`^db\.index\.(fulltext|vector)\.query(Nodes|Relationships)\s*\(`)
)

// checkText refuses what the text may hide from the plan.
func (s *Store) checkText(name, text string) error {
	switch {
	case asciiEscape.MatchString(text):
		return fmt.Errorf(`%w: the %s writes a plain character as \u and digits, which may hide what it does; write the character`,
			connector.ErrInput, name)
	case loadCSV.MatchString(text):
		return outside(name, "LOAD CSV")
	case callsProcedure(text):
		return outside(name, "a procedure")
	}
	return nil
}

// outside refuses a query that may reach beyond the database.
func outside(name, what string) error {
	return fmt.Errorf("%w: the %s uses %s, with which the server can be made to open files and addresses",
		connector.ErrInput, name, what)
}

// callsProcedure reports whether a procedure is called that is not harmless. CALL
// behind one of :|&!.$ is a name; before a parenthesis or a brace it begins a
// subquery.
func callsProcedure(text string) bool {
	for _, at := range call.FindAllStringIndex(text, -1) {
		if at[0] > 0 && strings.ContainsRune(":|&!.$", rune(text[at[0]-1])) {
			continue
		}
		rest := skipGap(text[at[1]:])
		first := strings.IndexFunc(rest, func(r rune) bool { return r > unicode.MaxASCII || r == '_' || r == '`' || unicode.IsLetter(r) })
		if first == 0 && !harmless.MatchString(rest) {
			return true
		}
	}
	return false
}

// skipGap skips white space and comments.
func skipGap(text string) string {
	for {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
		end := ""
		switch {
		case strings.HasPrefix(text, "/*"):
			end = "*/"
		case strings.HasPrefix(text, "//"):
			end = "\n"
		default:
			return text
		}
		_, text, _ = strings.Cut(text[2:], end)
	}
}

// checkPlan asks the planner what a statement would do, and refuses all but reading.
func (s *Store) checkPlan(tx *transaction, name, text string) error {
	summary, err := tx.rows("EXPLAIN "+cypher(text), nil, func(*neo4j.Record) error { return nil })
	if err != nil {
		return err
	}
	if summary.StatementType() != neo4j.StatementTypeReadOnly || summary.Plan() == nil {
		return fmt.Errorf("%w: the %s must not write, nor administer the server", connector.ErrInput, name)
	}
	if err := s.checkOperator(name, summary.Plan()); err != nil {
		return err
	}
	_, err = tx.rows("SHOW FUNCTIONS YIELD name, isBuiltIn WHERE NOT isBuiltIn RETURN name", nil, func(r *neo4j.Record) error {
		function, _ := r.Values[0].(string)
		if mentions(text, function) {
			return outside(name, "a function of a plugin")
		}
		return nil
	})
	return err
}

func (s *Store) checkOperator(name string, p neo4j.Plan) error {
	operator, _, _ := strings.Cut(p.Operator(), "@")
	details, _ := p.Arguments()["Details"].(string)
	switch {
	case strings.Contains(operator, "Transaction"):
		return fmt.Errorf("%w: the %s must not run, list or end transactions", connector.ErrInput, name)
	case strings.Contains(operator, "LoadCSV"):
		return outside(name, "LOAD CSV")
	case strings.Contains(operator, "ProcedureCall") && !harmless.MatchString(details):
		return outside(name, "a procedure")
	}
	for _, child := range p.Children() {
		if err := s.checkOperator(name, child); err != nil {
			return err
		}
	}
	return nil
}

// mentions reports whether the first and the last part of a function's name stand in
// a text, whatever stands between them there.
func mentions(text, function string) bool {
	text = strings.ToLower(text)
	parts := strings.Split(strings.ToLower(function), ".")
	return strings.Contains(text, parts[0]) && strings.Contains(text, parts[len(parts)-1])
}

// reference is how a query names a node: by its elementId, or by its key.
type reference struct {
	element string
	key     graph.ID
}

// refer reads a value of a query's column. A number would be taken for one of the
// internal ids, which any property may resemble: without a key only what nothing
// else looks like is a name.
func refer(column string, v any, nodeKey string) (reference, error) {
	if node, ok := v.(dbtype.Node); ok {
		return reference{element: node.ElementId}, nil
	}
	if nodeKey != "" {
		if key, wrong := connector.Key(v); wrong == "" {
			return reference{key: key}, nil
		}
		return reference{}, fmt.Errorf("%w: the query returns a %T as %s, want a node (RETURN n AS %[3]s) or its %s, the --node-key",
			connector.ErrInput, v, column, nodeKey)
	}
	element, ok := v.(string)
	if !ok {
		return reference{}, fmt.Errorf("%w: the query returns a %T as %s, want a node (RETURN n AS %[3]s) or its elementId(); a "+
			"property that identifies nodes needs --node-key",
			connector.ErrInput, v, column)
	}
	return reference{element: element}, nil
}
