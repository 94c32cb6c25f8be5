// SPDX-License-Identifier: Apache-2.0

package response_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/response"
)

// town is a path a–b–c–d.
func town(t *testing.T) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for _, e := range [][2]graph.ID{{"a", "b"}, {"b", "c"}, {"c", "d"}} {
		must.Do(t, b.AddEdge(e[0], e[1], 1))
	}
	return must.Get(b.Graph())(t)
}

type entry struct {
	sensor, node graph.ID
	x            float64
	time         string
}

// built makes an operator of each list of entries.
func built(g *graph.Graph, sensors []int, lists ...[]entry) ([]*response.Operator, error) {
	b := response.NewBuilder(g, sensors)
	for _, list := range lists {
		b.Begin("op")
		for _, e := range list {
			if err := b.Add(e.sensor, e.node, e.x, e.time); err != nil {
				return nil, err
			}
		}
	}
	return b.Build()
}

// at returns the entry of a reading and a node.
func at(o *response.Operator, row, node int) float64 {
	rows, x := o.Column(node)
	if k := slices.Index(rows, int32(row)); k >= 0 {
		return x[k]
	}
	return 0
}

// Rows are readings by node and time, times by their numbers; a reading that one list alone names is a row of all; the order of
// the entries counts nothing, their values do.
func TestBuild(t *testing.T) {
	g := town(t)
	first := []entry{{"c", "a", .5, "10"}, {"c", "a", .25, "9"}, {"a", "a", 1, "9"}, {"c", "d", 2, "10"}}
	second := []entry{{"d", "b", 3, "9"}}
	list := must.Get(built(g, nil, first, second))(t)
	want := []response.Reading{{Node: 0, Time: "9"}, {Node: 2, Time: "9"}, {Node: 2, Time: "10"}, {Node: 3, Time: "9"}}
	for k, o := range list {
		if !slices.Equal(o.Readings, want) || !slices.Equal(o.Times(), []string{"9", "10"}) || o.ID(g, 2) != "c@10" {
			t.Errorf("operator %d reads %v at %v, the third is %q", k, o.Readings, o.Times(), o.ID(g, 2))
		}
	}
	if at(list[0], 1, 0) != .25 || at(list[0], 2, 0) != .5 || at(list[0], 2, 3) != 2 || at(list[0], 3, 1) != 0 || at(list[1], 3, 1) != 3 {
		t.Error("entries are at other places")
	}
	slices.Reverse(first)
	if again := must.Get(built(g, nil, first, second))(t); again[0].Digest != list[0].Digest || again[1].Digest != list[1].Digest {
		t.Error("another order of the entries is another operator")
	}
	first[0].x = math.Nextafter(first[0].x, 3)
	if other := must.Get(built(g, nil, first, second))(t); other[0].Digest == list[0].Digest {
		t.Error("another entry is the same operator")
	}
}

// Entries of nodes that are no sensors are left out; without times a reading is called as its node.
func TestSelectedSensors(t *testing.T) {
	g := town(t)
	o := must.Get(built(g, []int{1, 3}, []entry{{"a", "a", 1, ""}, {"b", "a", 2, ""}, {"d", "c", -3, ""}}))(t)[0]
	if len(o.Readings) != 2 || o.ID(g, 0) != "b" || o.ID(g, 1) != "d" || at(o, 0, 0) != 2 || at(o, 1, 2) != -3 {
		t.Errorf("readings %v", o.Readings)
	}
}

func TestRefusals(t *testing.T) {
	g := town(t)
	for name, list := range map[string][]entry{
		"an unknown sensor":    {{"x", "a", 1, ""}},
		"an unknown node":      {{"a", "x", 1, ""}},
		"NaN":                  {{"a", "a", math.NaN(), ""}},
		"an infinity":          {{"a", "a", math.Inf(1), ""}},
		"too large":            {{"a", "a", 1e101, ""}},
		"too small":            {{"a", "a", -1e-101, ""}},
		"twice":                {{"a", "b", 1, ""}, {"c", "b", 1, ""}, {"a", "b", 1, ""}},
		"some have times":      {{"a", "b", 1, ""}, {"a", "c", 1, "5"}},
		"a time that names":    {{"a", "b", 1, "5@6"}},
		"a time not printable": {{"a", "b", 1, "5\x1b"}},
		"nothing but zeros":    {{"a", "b", 0, ""}},
		"no entry":             {},
	} {
		if _, err := built(g, nil, list); !errors.Is(err, response.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := built(g, []int{3}, []entry{{"a", "a", 1, ""}}); !errors.Is(err, response.ErrInvalid) {
		t.Errorf("no entry of a sensor: %v, want ErrInvalid", err)
	}
}

// Readings and times count for the memory of an operator, whose entries may all be 0, and times at nodes that are no sensors.
func TestMemoryOfNames(t *testing.T) {
	full := errors.New("no memory")
	for _, sensors := range [][]int{nil, {1}} {
		b, asked := response.NewBuilder(town(t), sensors), int64(0)
		b.Guard = func(bytes int64) error { asked = bytes; return full }
		b.Begin("zeros")
		var err error
		for k := 0; err == nil && k < 1<<18; k++ {
			err = b.Add("a", "b", 0, strconv.Itoa(k))
		}
		if !errors.Is(err, full) || asked < 1<<24 || asked > 1<<27 {
			t.Errorf("sensors %v: %v after a question about %d bytes", sensors, err, asked)
		}
	}
}
