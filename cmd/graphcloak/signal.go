// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/report"
)

const (
	signalFlag = "`FILE` with the private values; CSV of id and the property, and a last line with the number of rows, in place of the " +
		"store's property; - is standard input"
	signalHint = "the first line is id,PROPERTY, then a row a node that has a value, in any order, and the last line is the number of " +
		"these rows behind a comma"
)

// needSignal refuses --signal where no property names its column.
func (a *app) needSignal(s graphcloak.Signal) error {
	switch property := s.SourceProperty + s.MeasurementProperty; {
	case a.signal == "":
		return nil
	case property == "":
		return fail(exitUsage, "--signal gives the values of a source or measurement property, and none is named").
			hint("name its column by --source-property or --measurement-property")
	case property == "id" || property == "labels":
		return fail(exitUsage, "--signal: %s is public in every graph", property).hint("give the numbers a column of their own")
	}
	return nil
}

// readSignal returns the values of --signal as [plan.Signal].Values holds them; nil: the store has them.
func (a *app) readSignal(m *graphcloak.Model, s graphcloak.Signal) ([]float64, error) {
	if a.signal == "" {
		return nil, nil
	}
	in, err := a.open(a.signal)
	if err != nil {
		return nil, fmt.Errorf("--signal: %w", err)
	}
	defer in.Close()
	given, times := m.Operator.Given, 1
	if s.SourceProperty != "" {
		given = nil // a source is at a node, whatever is read of it
	}
	if given != nil {
		times = len(given.Times())
	}
	all, err := decodeSignal(disk.Limit(in, "the input", maxFile), m.Graph, s.Property(), times)
	if err != nil {
		return nil, fail(exitValidation, "--signal: %w", err).hint(signalHint)
	}
	if given == nil {
		return all, nil
	}
	y := make([]float64, len(given.Readings))
	for k, r := range given.Readings {
		y[k] = all[r.Node*times+slices.Index(given.Times(), r.Time)]
	}
	return y, nil
}

// decodeSignal reads the rows id,value of a property, NaN for a node without one, those of node i from i·times on. The last line
// holds no id and the number of rows: the end of a stream alone does not tell whether its writer has died, and a row that is missing
// would be taken for a node without a value. An error counts rows and names lines: it repeats nothing of them.
func decodeSignal(in io.Reader, g *graph.Graph, property string, times int) ([]float64, error) {
	lines := csv.NewReader(in)
	lines.ReuseRecord = true
	if header, err := lines.Read(); err != nil || !slices.Equal(header, []string{"id", property}) {
		return nil, fmt.Errorf("%w: the first line is not %q", connector.ErrInput, "id,"+property)
	}
	read, seen := connector.NewReadings(g, property, times), make([]bool, g.Order())
	var unknown, twice, unknownAt, twiceAt int
	for rows := 0; ; rows++ {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it ends after %s, without the line that counts them", connector.ErrInput,
				report.Count(rows, "row"))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", connector.ErrInput, err)
		}
		line, _ := lines.FieldPos(0)
		if row[0] != "" {
			switch i, ok := g.Index(graph.ID(row[0])); {
			case !ok:
				unknown, unknownAt = unknown+1, cmp.Or(unknownAt, line)
			case seen[i]:
				twice, twiceAt = twice+1, cmp.Or(twiceAt, line)
			default:
				seen[i] = true
				read.Add(i, connector.Parse(row[1]))
			}
			continue
		}
		counts := row[1] == strconv.Itoa(rows)
		_, err = lines.Read()
		switch {
		case !counts:
			return nil, fmt.Errorf("%w: line %d counts other than the %s before it", connector.ErrInput, line,
				report.Count(rows, "row"))
		case !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: there is more behind line %d, which counts the rows", connector.ErrInput, line)
		case unknown > 0:
			return nil, fmt.Errorf("%w: %s with an id that no selected node has, the first on line %d", connector.ErrInput,
				report.Count(unknown, "row"), unknownAt)
		case twice > 0:
			return nil, fmt.Errorf("%w: %s with an id that was there before, the first on line %d", connector.ErrInput,
				report.Count(twice, "row"), twiceAt)
		}
		for i, there := range seen {
			if !there {
				read.Add(i, nil)
			}
		}
		return read.Result()
	}
}
