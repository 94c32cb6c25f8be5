// SPDX-License-Identifier: Apache-2.0

package study

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// ErrEvents says that a text is no list of past events on a graph.
var ErrEvents = errors.New("study: past events")

// maxEvents bounds the readings of all past events together, of 8 bytes each.
const maxEvents = 1 << 27

// ParseEvents reads past events as CSV with the columns event, source, sensor, reading and, where sensors read several times, time: a
// row for each reading; rows of an event follow each other. It returns [ErrEvents] with the line, and names no reading.
func ParseEvents(text io.Reader, m *plan.Model) ([]simulate.Event, error) {
	rows := csv.NewReader(text)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: no header event,source,sensor,reading: %w", ErrEvents, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\uFEFF")
	var at [5]int
	for k, name := range [...]string{"event", "source", "sensor", "reading", "time"} {
		if at[k] = slices.Index(header, name); at[k] < 0 && name != "time" {
			return nil, fmt.Errorf("%w: there is no column %s", ErrEvents, name)
		}
	}
	place := make(map[graph.ID]int, len(m.Sensors))
	for _, row := range m.Sensors {
		place[m.Operator.SensorID(row)] = row
	}
	width, _ := m.Operator.M().Dims()
	seen, last := make(map[string]bool), ""
	var events []simulate.Event
	for line := 2; ; line++ {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return events, checkEvents(events, m)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEvents, err)
		}
		sensor := graph.ID(fields[at[2]])
		if at[4] >= 0 && fields[at[4]] != "" {
			sensor += graph.ID("@" + fields[at[4]])
		}
		source, known := m.Graph.Index(graph.ID(fields[at[1]]))
		row, sensing := place[sensor]
		x, err := strconv.ParseFloat(fields[at[3]], 64)
		name := fields[at[0]]
		switch {
		case !known:
			return nil, fmt.Errorf("%w: line %d: the graph has no node %q", ErrEvents, line, fields[at[1]])
		case !sensing:
			return nil, fmt.Errorf("%w: line %d: there is no sensor %q", ErrEvents, line, sensor)
		case err != nil || math.IsInf(x, 0) || math.IsNaN(x):
			return nil, fmt.Errorf("%w: line %d: the reading is not a finite number", ErrEvents, line)
		case len(events) == 0 || name != last:
			if seen[name] || (len(events)+1)*width > maxEvents {
				return nil, fmt.Errorf("%w: line %d: event %q is there already, or there are more than %d readings", ErrEvents, line, name,
					maxEvents)
			}
			seen[name], last = true, name
			events = append(events, simulate.Event{Source: source, Readings: slices.Repeat([]float64{math.NaN()}, width)})
		}
		e := &events[len(events)-1]
		if e.Source != source || !math.IsNaN(e.Readings[row]) {
			return nil, fmt.Errorf("%w: line %d: event %q has a second source, or sensor %q reads twice", ErrEvents, line, name, sensor)
		}
		e.Readings[row] = x
	}
}

// checkEvents refuses events without a reading of each sensor.
func checkEvents(events []simulate.Event, m *plan.Model) error {
	if len(events) == 0 {
		return fmt.Errorf("%w: there is none", ErrEvents)
	}
	for k, e := range events {
		for _, row := range m.Sensors {
			if math.IsNaN(e.Readings[row]) {
				return fmt.Errorf("%w: event %d of the file has no reading of sensor %q", ErrEvents, k+1, m.Operator.SensorID(row))
			}
		}
	}
	return nil
}

// ConformalSet says which communities to keep so that the true one is among them in a share of events, whatever the model is.
type ConformalSet struct {
	Coverage float64 `json:"coverage"`
	// Least is the least probability of a community in the set; 0: every community, since there are too few events.
	Least float64 `json:"leastProbability"`
	// Communities is the mean number in the set, on the past events.
	Communities float64 `json:"meanCommunities"`
}

// coverages are those that sets are made for.
var coverages = []float64{.8, .9, .95}

// conformal returns sets of the communities whose probability is at least the k-th largest of those that n past events gave to their
// true community, k = ⌈(n+1)·coverage⌉.
//
// Where the next event is exchangeable with the past ones, the rank of the probability of its true community among all n+1 is
// uniform but for ties, so that it is among the k largest with probability at least k/(n+1) ≥ coverage. Nothing is supposed of the
// model, and the noise of each release is fresh.
func conformal(trials []simulate.Trial, part community.Partition) (sets []ConformalSet) {
	n := len(trials)
	truth := make([]float64, n)
	for k, t := range trials {
		truth[k] = t.Shares[part.Labels[t.Source]]
	}
	slices.Sort(truth)
	for _, coverage := range coverages {
		s := ConformalSet{Coverage: coverage}
		if k := int(math.Ceil(float64(n+1) * coverage * (1 - 1e-12))); k <= n {
			s.Least = truth[n-k]
		}
		for _, t := range trials {
			for _, p := range t.Shares {
				if p >= s.Least {
					s.Communities += 1 / float64(n)
				}
			}
		}
		sets = append(sets, s)
	}
	return sets
}
