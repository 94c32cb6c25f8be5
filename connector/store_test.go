// SPDX-License-Identifier: Apache-2.0

package connector_test

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
)

func TestNotFound(t *testing.T) {
	err := connector.NotFound("node label", "Persn", []string{"Person", "Place"})
	if !errors.Is(err, connector.ErrNotFound) || !strings.Contains(err.Error(), `did you mean "Person"?`) {
		t.Errorf("%v", err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]any{
		"": nil, "7": int64(7), "-7": int64(-7), "007": "007", "+7": 7.0, "1.50": 1.5, "1e3": 1000.0, "0.5": 0.5, "-0.5": -0.5,
		"0x10": "0x10", "1_000": "1_000", "true": true, "false": false, "True": "True", "Inf": math.Inf(1), "-Inf": math.Inf(-1),
		"infinity": "infinity", "9223372036854775808": 9223372036854775808.0, "12-13": "12-13", "1,5": "1,5", "0": int64(0), "-0": 0.0,
		"Mr. Hi": "Mr. Hi", ".": ".", "e": "e", "-": "-",
	} {
		if got := connector.Parse(text); got != want {
			t.Errorf("Parse(%q) = %v (%T), want %v (%T)", text, got, got, want, want)
		}
	}
	if x, ok := connector.Parse("NaN").(float64); !ok || !math.IsNaN(x) {
		t.Errorf("Parse(NaN) = %v", x)
	}
}

func TestValues(t *testing.T) {
	for _, v := range []any{
		nil, int64(0), int64(-1), 0.0, -1.0, math.NaN(), math.Inf(1), math.Inf(-1), "1", true,
		[]any{1.0},
		math.Copysign(0, -1),
	} {
		if x, wrong := connector.Positive(v); wrong == "" {
			t.Errorf("Positive(%v) = %v", v, x)
		}
	}
	for _, v := range []any{int64(3), 5e-324, math.MaxFloat64} {
		if _, wrong := connector.Positive(v); wrong != "" {
			t.Errorf("Positive(%v) %s", v, wrong)
		}
	}
	if x, ok := connector.Reading(nil); !math.IsNaN(x) || !ok {
		t.Errorf("a missing reading is %v, %v", x, ok)
	}
	if _, ok := connector.Reading(math.NaN()); ok {
		t.Error("a stored NaN passed for a missing reading")
	}
}

// The message names the same offenders whatever the order of reading.
func TestOffenders(t *testing.T) {
	var up, down connector.Offenders
	for i := range 9 {
		up.Add("%d", i)
		down.Add("%d", 8-i)
	}
	a, b := up.Err("numbers", "choose"), down.Err("numbers", "choose")
	if a == nil || b == nil || a.Error() != b.Error() || !strings.Contains(a.Error(), "9 numbers: 0; 1; 2; 3; 4; and 4 more; choose") {
		t.Errorf("%v\n%v", a, b)
	}
}

// Two ids of a property are one node only where their owner says so.
func TestObstacles(t *testing.T) {
	run := jobs.Run{RunID: "new", Write: &jobs.Write{RunIDColumn: "gcRunId", Columns: []string{"gcSource", "gcRunId"}, Graph: "g"}}
	old := jobs.Run{RunID: "old", Write: &jobs.Write{
		Status: jobs.Finished, RunIDColumn: "gcRunId", Columns: []string{"gcHeat", "gcRunId"}, Graph: "g",
	}}
	o := connector.NewObstacles(run, []jobs.Run{old})
	o.Add("old", []any{"gcRunId"}, 2)
	if touched, err := o.Result(false); err != nil || !reflect.DeepEqual(touched, []string{"old"}) {
		t.Errorf("values of a known run: %v, %v", touched, err)
	}
	o.Add("old", []any{"gcSource", "gcRunId"}, 3) // the old run does not write gcSource: it is the user's
	if _, err := o.Result(false); !errors.Is(err, connector.ErrConflict) || !strings.Contains(err.Error(), `gcSource (3);`) {
		t.Errorf("the user's property beside a run's: %v, want ErrConflict", err)
	}
	if _, err := o.Result(true); err != nil {
		t.Errorf("with force: %v", err)
	}
	if _, stale, err := connector.Admit(run, []jobs.Run{old, run}, nil); err != nil || !reflect.DeepEqual(stale, []string{"gcHeat"}) {
		t.Errorf("stale: %v, %v, want gcHeat", stale, err)
	}
	old.Write.Status = jobs.Running
	for name, touched := range map[string][]string{"same graph": nil, "touched nodes": {"old"}} {
		k := old.Settled(jobs.Running, 0)
		if name == "touched nodes" {
			k.Write.Graph = "another"
		}
		if _, _, err := connector.Admit(run, []jobs.Run{k}, touched); !errors.Is(err, connector.ErrConflict) ||
			!strings.Contains(err.Error(), "run old is unfinished") {
			t.Errorf("%s: %v, want ErrConflict", name, err)
		}
	}
	old.Write.Graph = "another"
	if _, _, err := connector.Admit(run, []jobs.Run{old}, nil); err != nil {
		t.Errorf("an unfinished run elsewhere: %v", err)
	}
}

func TestMemoryForgets(t *testing.T) {
	var m connector.PerGraph[int]
	var b graph.Builder
	g := must.Get(b.Graph())(t)
	m.Put(g, 7)
	if v, err := m.Get(g); v != 7 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	runtime.KeepAlive(g)
	g = nil
	for range 100 {
		runtime.GC()
		if m.Len() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the graph is gone and its entry is not")
}

// TestCategories: whole numbers, texts and truth values name categories, each alone; two
// kinds, a fraction or a list are refused with the nodes that hold them.
func TestCategories(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c", "d"} {
		b.AddNode(id)
	}
	g := must.Get(b.Graph())(t)
	for _, c := range []struct {
		values []any
		want   []string
		wrong  string
	}{
		{[]any{int64(3), nil, int64(-1), int64(3)}, []string{"3", "", "-1", "3"}, ""},
		{[]any{"3", "x", nil, ""}, []string{"3", "x", "", ""}, ""},
		{[]any{true, false, nil, true}, []string{"true", "false", "", "true"}, ""},
		{[]any{nil, int64(3), "3", int64(4)}, nil, `club mixes`},
		{[]any{nil, int64(3), "3", true}, nil, `(node "c") and `},
		{[]any{"x", 0.5, "y", nil}, nil, `node "b": club`},
		{[]any{"x", "y", []any{"y"}, nil}, nil, `node "c": club`},
	} {
		r := connector.NewCategories(g, "club")
		for i, v := range c.values {
			r.Add(i, v)
		}
		got, err := r.Result()
		switch {
		case c.wrong == "" && (err != nil || !reflect.DeepEqual(got, c.want)):
			t.Errorf("%v: %q, %v, want %q", c.values, got, err, c.want)
		case c.wrong != "" && (!errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%v: %v, want an ErrInput with %q", c.values, err, c.wrong)
		}
	}
}

// A record that somebody planted names no property of others.
func TestKnown(t *testing.T) {
	for _, test := range []struct {
		column    string
		names     []string
		wantOwner string
		want      []string
	}{
		{"gcRunId", []string{"gcSource", "gcRunId", "gcCommunity"}, "gcRunId", []string{"gcSource", "gcRunId", "gcCommunity"}},
		{"gcRunId", []string{"name", "gcSecret", "gcsource", "otherSource", "gcSource`", "gcSource"}, "gcRunId", []string{"gcSource"}},
		{"a`bRunId", []string{"a`bSource", "gcSource"}, "a`bRunId", []string{"a`bSource"}},
		{"RunId", []string{"Source", "RunId", "gcSource"}, "", nil},
		{"owner", []string{"owner", "gcSource"}, "", nil},
		{"", []string{"gcSource"}, "", nil},
	} {
		got := connector.Known(jobs.Run{Write: &jobs.Write{RunIDColumn: test.column, Columns: test.names}}).Write
		if got.RunIDColumn != test.wantOwner || !slices.Equal(got.Columns, test.want) {
			t.Errorf("%q with %q became %q with %q", test.column, test.names, got.RunIDColumn, got.Columns)
		}
	}
}
