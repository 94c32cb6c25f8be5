// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
)

// alternativeColumns are the columns of a file of alternative graphs, in any order.
var alternativeColumns = []string{"scenario", "source", "target", "weight"}

// ParseAlternatives reads a CSV file of alternative graphs: a row for each relationship that is other than in the store. Rows with
// one scenario make one graph.
func ParseAlternatives(data []byte) ([]Alternative, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.FieldsPerRecord, r.TrimLeadingSpace = len(alternativeColumns), true
	header, err := r.Read()
	if err != nil {
		return nil, inCSV(err)
	}
	at := make([]int, len(alternativeColumns))
	for k, name := range alternativeColumns {
		if at[k] = slices.Index(header, name); at[k] < 0 {
			return nil, fmt.Errorf("there is no column %s in the first line", name)
		}
	}
	var list []Alternative
	given := make(map[[3]string]bool) // scenario and both ends, in either order
	index := make(map[string]int)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, inCSV(err)
		}
		name := row[at[0]]
		k, known := index[name]
		if !known {
			k = len(list)
			index[name], list = k, append(list, Alternative{Name: name})
		}
		line, _ := r.FieldPos(0)
		pair := [3]string{name, min(row[at[1]], row[at[2]]), max(row[at[1]], row[at[2]])}
		if given[pair] {
			return nil, fmt.Errorf("line %d: %.40q–%.40q is given twice in the scenario %.40q", line, row[at[1]], row[at[2]], name)
		}
		given[pair] = true
		weight, err := strconv.ParseFloat(row[at[3]], 64)
		if err != nil || !(weight >= 0) {
			return nil, fmt.Errorf("line %d: weight is %.40q, want a number ≥ 0", line, row[at[3]])
		}
		list[k].Changes = append(list[k].Changes, graph.Change{Source: graph.ID(row[at[1]]), Target: graph.ID(row[at[2]]), Weight: weight})
	}
	if len(list) == 0 {
		return nil, errors.New("there is no scenario in it")
	}
	return list, CheckAlternatives(list)
}

// inCSV says what is wrong with a file without repeating it.
func inCSV(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("line %d: %s", e.Line, strings.TrimPrefix(e.Err.Error(), "csv: "))
	}
	return err
}
