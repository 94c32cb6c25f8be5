// SPDX-License-Identifier: Apache-2.0

package main

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
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/plan"
)

// maxAlternativesFile bounds a file of alternative graphs in bytes.
const maxAlternativesFile = 16 << 20

// alternativeColumns are the columns of such a file, in any order. A row is one relationship that
// is other than in the store; rows with one scenario make one graph.
var alternativeColumns = []string{"scenario", "source", "target", "weight"}

// alternativesHint says what such a file is.
const alternativesHint = "the file has the columns scenario,source,target,weight: a row for each relationship that is other in that " +
	"scenario; weight 0 takes it away"

// readAlternatives reads a file of alternative graphs.
func readAlternatives(path string) ([]plan.Alternative, error) {
	data, err := disk.Read(path, maxAlternativesFile)
	if err != nil {
		return nil, fail(exitCode(err), "--scenario: %w", err).hint(alternativesHint)
	}
	list, err := parseAlternatives(data)
	if err != nil {
		return nil, fail(exitValidation, "--scenario %s: %w", path, err).hint(alternativesHint)
	}
	if k := slices.IndexFunc(list, named); k >= 0 {
		return nil, fail(exitValidation, "--scenario %s: a graph is called %q, as a scenario is that evaluate knows", path,
			list[k].Name).hint("give the graph another name")
	}
	return list, nil
}

func parseAlternatives(data []byte) ([]plan.Alternative, error) {
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
	var list []plan.Alternative
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
			index[name], list = k, append(list, plan.Alternative{Name: name})
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
	return list, plan.CheckAlternatives(list)
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
