// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
)

// Schema returns the labels and types that the two files name, and the properties of the
// first rows of each. Columns that mean something to a folder, such as labels and source,
// are no properties; the column id is one. It returns the errors of [CSV.Columns].
func (c *CSV) Schema(ctx context.Context) (schema connector.Schema, err error) {
	of := make(map[string]string) // the labels of each node
	nodes, err := c.survey(ctx, nodesFile, labelsColumn, func(_ *kindSurvey, t *table, fields []string) {
		if k := t.column(labelsColumn); k >= 0 {
			of[strings.Clone(fields[t.column(idColumn)])] = strings.Clone(fields[k])
		}
	})
	if err != nil {
		return schema, err
	}
	relationships, err := c.survey(ctx, relationshipsFile, typeColumn, func(k *kindSurvey, t *table, fields []string) {
		if k.kind.Count <= connector.SchemaSample {
			k.ends[[2]string{of[fields[t.column(sourceColumn)]], of[fields[t.column(targetColumn)]]}]++
		}
	})
	if err != nil {
		return schema, err
	}
	var cut [2]bool
	schema.Labels, cut[0] = settle(nodes)
	schema.Types, cut[1] = settle(relationships)
	schema.Cut = cut[0] || cut[1]
	return schema, nil
}

// kindSurvey is what is found of a label or type.
type kindSurvey struct {
	kind   connector.Kind
	sample int
	seen   []columnSurvey
	ends   map[[2]string]int // by the labels of both ends, as they stand in nodes.csv
}

// columnSurvey is what is found of a column in the sample of a kind.
type columnSurvey struct {
	count    int
	kind     connector.PropertyType
	values   map[string]bool
	positive bool
}

// survey reads a file and calls also for each row, with every kind that it is of.
func (c *CSV) survey(ctx context.Context, file, column string, also func(*kindSurvey, *table, []string)) (map[string]*kindSurvey, error) {
	t, err := c.open(file, needs[file]...)
	if err != nil {
		return nil, err
	}
	t.readable()
	kinds := make(map[string]*kindSurvey)
	named := t.column(column)
	err = t.each(ctx, c.Progress, func(_ int, fields []string) error {
		names := []string{""}
		if named >= 0 {
			names = strings.Split(fields[named], ";")
		}
		for _, name := range names {
			k := kinds[name]
			if k == nil && len(kinds) > connector.SchemaKinds {
				continue
			}
			if k == nil {
				k = &kindSurvey{
					kind: connector.Kind{Name: strings.Clone(name)},
					seen: make([]columnSurvey, min(len(t.header), connector.SchemaProperties)), ends: make(map[[2]string]int),
				}
				kinds[k.kind.Name] = k
			}
			k.kind.Count++
			k.look(fields)
			also(k, t, fields)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		k.properties(t)
	}
	return kinds, nil
}

// look takes a row into the sample, while it is one of the first.
func (k *kindSurvey) look(fields []string) {
	if k.sample == connector.SchemaSample {
		return
	}
	k.sample++
	for i := range k.seen {
		v := connector.Parse(fields[i])
		if v == nil {
			continue
		}
		s := &k.seen[i]
		if s.values == nil {
			s.values, s.positive = make(map[string]bool), true
		}
		s.count++
		s.kind = s.kind.Merge(typeOf(v))
		s.values[strings.Clone(fields[i])] = true
		_, wrong := connector.Positive(v)
		s.positive = s.positive && wrong == ""
	}
}

// typeOf is the type of a field, "" of an empty one. Text beside numbers is a column of text.
func typeOf(v any) connector.PropertyType {
	switch v.(type) {
	case nil:
		return ""
	case int64:
		return connector.IntegerType
	case float64:
		return connector.NumberType
	case bool:
		return connector.BooleanType
	}
	return connector.TextType
}

// properties describes the columns of the sample.
func (k *kindSurvey) properties(t *table) {
	for i, s := range k.seen {
		if s.count == 0 || t.header[i] == "" ||
			slices.Contains([]string{labelsColumn, sourceColumn, targetColumn, typeColumn}, t.header[i]) && !t.ordinary(i) {
			continue
		}
		p := connector.Property{Name: t.header[i], Type: s.kind, Share: float64(s.count) / float64(k.sample), Distinct: len(s.values)}
		if p.Type == connector.OtherType {
			p.Type = connector.TextType
		}
		p.Positive = t.name != nodesFile && s.positive
		p.Unique = t.name == nodesFile && t.header[i] == idColumn
		k.kind.Properties = append(k.kind.Properties, p)
	}
}

// ordinary reports whether a column is a property of its file though the other file gives
// its name a meaning.
func (t *table) ordinary(column int) bool {
	name := t.header[column]
	if t.name == nodesFile {
		return name != labelsColumn
	}
	return name == labelsColumn
}

// settle returns the kinds that were found by their names.
func settle(found map[string]*kindSurvey) (kinds []connector.Kind, cut bool) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		k := found[name]
		for _, pair := range slices.SortedFunc(maps.Keys(k.ends), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
			k.kind.Ends = append(k.kind.Ends, connector.Ends{From: labelsOf(pair[0]), To: labelsOf(pair[1]), Count: k.ends[pair]})
		}
		kinds = append(kinds, k.kind)
	}
	if len(kinds) > connector.SchemaKinds {
		return kinds[:connector.SchemaKinds], true
	}
	return kinds, false
}

func labelsOf(field string) []string {
	if field == "" {
		return nil
	}
	return strings.Split(field, ";")
}

// Properties returns the properties that the columns name, each once and ascending. It
// returns the errors of [CSV.Columns].
func (c *CSV) Properties(context.Context) ([]string, error) {
	nodes, relationships, err := c.Columns()
	names := slices.DeleteFunc(nodes, func(name string) bool { return name == labelsColumn })
	names = append(names, slices.DeleteFunc(relationships, func(name string) bool {
		return slices.Contains([]string{sourceColumn, targetColumn, typeColumn}, name)
	})...)
	slices.Sort(names)
	return slices.Compact(names), err
}
