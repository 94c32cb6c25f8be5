// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
)

// maxKeys bounds the properties of a node that are looked at: a sample takes no longer
// than maxKeys × connector.SchemaSample of them.
const maxKeys = 500

// Schema returns labels and types with the database's own counts, and the properties of a
// sample of each. It reads no value: the server counts and compares them. It returns the
// errors of [New].
func (s *Store) Schema(ctx context.Context) (connector.Schema, error) {
	var out connector.Schema
	uniques, err := s.uniques(ctx)
	if err != nil {
		return out, err
	}
	for _, k := range []struct {
		kind    names
		pattern func(name cypher) cypher
		list    *[]connector.Kind
	}{
		{labelNames, func(name cypher) cypher { return "(x:" + name + ")" }, &out.Labels},
		{typeNames, func(name cypher) cypher { return "()-[x:" + name + "]->()" }, &out.Types},
	} {
		have, err := s.known(ctx, k.kind)
		if err != nil {
			return out, err
		}
		slices.Sort(have)
		have = slices.DeleteFunc(have, func(name string) bool { return slices.Contains(ownLabels, name) })
		if len(have) > connector.SchemaKinds {
			have, out.Cut = have[:connector.SchemaKinds], true
		}
		for _, name := range have {
			kind, cut, err := s.explore(ctx, name, k.pattern(quote(name)), k.kind == typeNames)
			if err != nil {
				return out, err
			}
			for i, p := range kind.Properties {
				kind.Properties[i].Unique = k.kind == labelNames && slices.ContainsFunc(uniques, func(c constraint) bool {
					return c.label == name && slices.Equal(c.properties, []string{p.Name})
				})
			}
			out.Cut = out.Cut || cut
			if kind.Count > 0 { // a name that is in use no more stays known
				*k.list = append(*k.list, kind)
			}
		}
	}
	return out, nil
}

// Kinds returns the types with these names, all where none is named, as [Store.Schema] does.
// Of labels it returns none.
func (s *Store) Kinds(ctx context.Context, types []string) (out []connector.Kind, err error) {
	if len(types) == 0 {
		if types, err = s.known(ctx, typeNames); err != nil {
			return nil, err
		}
	}
	for _, name := range types[:min(len(types), connector.SchemaKinds)] {
		kind, _, err := s.explore(ctx, name, "()-[x:"+quote(name)+"]->()", true)
		if err != nil {
			return nil, err
		}
		if kind.Count > 0 {
			out = append(out, kind)
		}
	}
	return out, nil
}

// explore looks at a sample of a label or type.
func (s *Store) explore(ctx context.Context, name string, pattern cypher, ends bool) (kind connector.Kind, cut bool, err error) {
	params := map[string]any{"sample": connector.SchemaSample, "keys": maxKeys, "most": connector.SchemaProperties + 1}
	positive := cypher("false")
	if ends { // what stands on relationships is public
		positive = "all(v IN collect(x[k]) WHERE coalesce(v > 0, false))"
	}
	err = s.read(ctx, "schema", func(tx *transaction) (err error) {
		kind = connector.Kind{Name: name}
		if kind.Count, err = tx.count("MATCH "+pattern+" RETURN count(x)", nil); err != nil || kind.Count == 0 {
			return err
		}
		sample := float64(min(kind.Count, connector.SchemaSample))
		_, err = tx.rows("MATCH "+pattern+" WITH x LIMIT $sample UNWIND keys(x)[0..$keys] AS k "+
			"RETURN k, count(*), count(DISTINCT x[k]), collect(DISTINCT valueType(x[k])), "+positive+" AS positive "+
			"ORDER BY count(*) DESC, k LIMIT $most", params, func(r *neo4j.Record) error {
			p := connector.Property{Type: typeOf(list(r, 3))}
			p.Name, _ = r.Values[0].(string)
			count, _ := r.Values[1].(int64)
			distinct, _ := r.Values[2].(int64)
			positive, _ := r.Values[4].(bool)
			p.Share, p.Distinct, p.Positive = float64(count)/sample, int(distinct), positive && p.Type.Numeric()
			kind.Properties = append(kind.Properties, p)
			return nil
		})
		if err != nil || !ends {
			return err
		}
		kind.Ends, err = tx.ends(pattern, params)
		return err
	})
	if len(kind.Properties) > connector.SchemaProperties {
		kind.Properties, cut = kind.Properties[:connector.SchemaProperties], true
	}
	return kind, cut, err
}

// ends returns between which labels a sample of the relationships of a pattern runs.
func (t *transaction) ends(pattern cypher, params map[string]any) (found []connector.Ends, err error) {
	_, err = t.rows("MATCH "+pattern+" WITH x LIMIT $sample RETURN labels(startNode(x)), labels(endNode(x)), count(*) ORDER BY count(*) "+
		"DESC LIMIT $keys",
		params, func(r *neo4j.Record) error {
			e := connector.Ends{From: texts(list(r, 0)), To: texts(list(r, 1))}
			n, _ := r.Values[2].(int64)
			e.Count = int(n)
			found = append(found, e)
			return nil
		})
	return found, err
}

// typeOf joins Cypher's names of types, such as INTEGER NOT NULL.
func typeOf(values []any) (t connector.PropertyType) {
	for _, name := range texts(values) {
		u := connector.OtherType
		switch strings.TrimSuffix(name, " NOT NULL") {
		case "INTEGER":
			u = connector.IntegerType
		case "FLOAT":
			u = connector.NumberType
		case "STRING":
			u = connector.TextType
		case "BOOLEAN":
			u = connector.BooleanType
		case "POINT":
			u = connector.PointType
		}
		t = t.Merge(u)
	}
	return t
}

// Properties returns the properties that the database knows. It returns the errors of [New].
func (s *Store) Properties(ctx context.Context) ([]string, error) { return s.known(ctx, propertyNames) }
