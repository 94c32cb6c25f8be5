// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/graph"
)

func number(x float64) *float64 { return &x }

// Every case of both sizes can be found by its name, and its peers have a script.
func TestCases(t *testing.T) {
	for _, quick := range []bool{false, true} {
		for _, topic := range topics() {
			seen := map[string]bool{}
			for _, c := range topic.cases(quick) {
				if seen[c.name] {
					t.Errorf("%s has two cases %q", topic.name, c.name)
				}
				seen[c.name] = true
				if shown := slices.Contains(topic.head, sideBySideColumn); c.copies != shown {
					t.Errorf("%s, %s: copies side by side are measured: %v, shown: %v", topic.name, c.name, c.copies, shown)
				}
				if c.script == "" {
					if len(c.peers) > 0 {
						t.Errorf("%s, %s has peers and no script", topic.name, c.name)
					}
					continue
				}
				text, err := peers.ReadFile("peers/" + c.script + ".py")
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range append(c.peers, peer{name: "judge"}) {
					if !strings.Contains(string(text), `"`+p.name+`": `) {
						t.Errorf("peers/%s.py does not answer to %q", c.script, p.name)
					}
				}
			}
		}
	}
}

func TestGoals(t *testing.T) {
	l := line{
		ours:   measure{CPU: 2, Error: number(1e-12), Memory: 3 << 30, Share: .5},
		theirs: measure{CPU: 20, Error: number(1e-12)},
	}
	worse, rounding := l, l
	worse.ours.Error = number(2e-12)
	rounding.ours.Error, rounding.theirs.Error = number(8e-16), number(1e-17)
	for _, c := range []struct {
		g    goal
		l    line
		want bool
	}{
		{faster(10), l, true},
		{faster(10.1), l, false},
		{faster(1), worse, false},
		{faster(1), rounding, true},
		{fasterAt(10, 2e-12), worse, true},
		{fasterAt(10, 1e-12), worse, false},
		{fasterAt(10.1, 1), l, false},
		{slower(.1), worse, true},
		{slower(.09), l, false},
		{within(2), l, true},
		{within(1.9), l, false},
		{accurate(1e-12), l, true},
		{accurate(1e-12), worse, false},
		{accurate(1), line{}, false},
		{fits(3), l, true},
		{fits(2.9), l, false},
		{share(.5), l, true},
		{share(.51), l, false},
	} {
		if got := c.g.met(c.l); got != c.want {
			t.Errorf("%s met: %v, want %v", c.g.text, got, c.want)
		}
	}
}

func TestRow(t *testing.T) {
	ours := measure{CPU: .5, Error: number(1.2e-9), Memory: 1 << 29, Note: "ours"}
	theirs := measure{CPU: 6, Error: number(2e-9), Memory: 1 << 30, Note: "theirs"}
	for _, c := range []struct {
		l     line
		quick bool
		want  string
	}{
		{
			line{program: "scipy", ours: ours, theirs: theirs, goals: []goal{faster(10), within(.4)}},
			false,
			"|   | scipy | 6 | 1 | 2.0e-09 | 12× | theirs **missed: ≤ 0.4 s** |",
		},
		{
			line{program: "scipy", ours: ours, theirs: theirs, goals: []goal{faster(10)}},
			false,
			"|   | scipy | 6 | 1 | 2.0e-09 | 12× | theirs |",
		},
		{
			line{program: "scipy", ours: ours, theirs: theirs, goals: []goal{faster(10)}},
			true,
			"|   | scipy | 6 | 1 | 2.0e-09 | 12× | theirs |",
		},
		{line{name: "a case", program: us, ours: ours, theirs: ours}, false, "| a case | **ours** | 0.5 | 0.5 | 1.2e-09 |   | ours |"},
		{
			line{name: "a case", program: "judge", err: errors.New("one\ntwo|three")},
			false,
			"| a case | judge |   |   |   |   | **failed** one two/three |",
		},
	} {
		if got := row(c.l, c.quick); got != c.want {
			t.Errorf("row:\n%s, want\n%s", got, c.want)
		}
	}
}

func TestPage(t *testing.T) {
	r := &results{}
	r.add(topic{title: runs.title, about: "About."}, []line{{name: "a case", program: us}, {name: "b", err: errors.New("no")}}, stamp()())
	text, err := r.page("# Results\n\nIntro.\n\n## Other\n\nby hand\n\n## " + runs.title + "\n\nold\n\n## " +
		diffusion.title + "\n\nkept\n")
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{
		"# Results\n", "## " + diffusion.title + "\n\nkept\n\n## " + runs.title + "\n\nAbout.\n\n", "\n| a case | **ours** | 0 |",
		"**failed** no |", time.Now().UTC().Format("2006-01-02"), "\n\n## Other\n\nby hand\n",
	} {
		next := strings.Index(text, want)
		if next <= at {
			t.Errorf("the page lacks %q, or has it too early:\n%s", want, text)
		}
		at = next
	}
	if strings.Contains(text, "old") || strings.Contains(text, "Intro.") {
		t.Errorf("what was written again is still there:\n%s", text)
	}
	if again, err := (&results{}).page(text); err != nil || again != text {
		t.Errorf("a page without new sections is not what it was: %v\n%s", err, again)
	}
	if r.failed != 1 {
		t.Errorf("%d failed, want 1", r.failed)
	}
}

// What is written reads back as the same numbers in little-endian order.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	x := make([]float64, 1<<16+3) // more than one piece
	for i := range x {
		x[i] = math.Sqrt(float64(i))
	}
	if err := write(dir, "x.f64", x); err != nil {
		t.Fatal(err)
	}
	back := make([]float64, len(x))
	if err := binary.Read(bytes.NewReader(content(t, dir, "x.f64")), binary.LittleEndian, back); err != nil || !slices.Equal(x, back) {
		t.Errorf("floats differ, %v", err)
	}
	g, err := graph.Path(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGraph(dir, g); err != nil {
		t.Fatal(err)
	}
	ptr := []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0}
	adj := []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0}
	if !bytes.Equal(content(t, dir, "ptr.i64"), ptr) || !bytes.Equal(content(t, dir, "adj.i32"), adj) {
		t.Error("the rows of the path on three nodes are not 1; 0, 2; 1")
	}
	if _, err := os.Stat(filepath.Join(dir, "weight.f64")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("unit weights are written: %v", err)
	}
	if write(dir, "x.i32", []uint8{1}) == nil {
		t.Error("a type without a reader is written")
	}
}

func content(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParsing(t *testing.T) {
	if got := fieldOf("processor\t: 0\nmodel name\t: A: 2 GHz\n", "model name"); got != "A: 2 GHz" {
		t.Errorf("model name %q", got)
	}
	if got := fieldOf("a: b\n", "c"); got != "unknown" {
		t.Errorf("a field that is missing is %q", got)
	}
	if got := lastLine("a\nb\n\n"); got != "b" {
		t.Errorf("last line %q", got)
	}
	if got := median([]float64{5, 1, 2}); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
	if got := median([]float64{4, 1}); got != 2.5 {
		t.Errorf("median %v, want 2.5", got)
	}
}

func TestProcess(t *testing.T) {
	m, err := process(t.Context(), nil, "sh", "-c", `echo noise; echo '{"cpu": 1.5, "error": 2e-9, "memory": 7}'`)
	if err != nil || m.CPU != 1.5 || m.Error == nil || *m.Error != 2e-9 || m.Memory != 7 {
		t.Errorf("measure %+v, %v", m, err)
	}
	if _, err := process(t.Context(), nil, "sh", "-c", "echo why >&2; exit 3"); err == nil ||
		!strings.Contains(err.Error(), "exit status 3: why") {
		t.Errorf("error %v", err)
	}
	if m, err := process(t.Context(), nil, "sh", "-c", `echo "{\"note\": \"$GOMAXPROCS $OMP_NUM_THREADS\"}"`); err != nil ||
		m.Note != "1 1" {
		t.Errorf("threads %q, want one each; %v", m.Note, err)
	}
	if m, err := process(t.Context(), []string{"GOMAXPROCS=3"}, "sh", "-c", `echo "{\"note\": \"$GOMAXPROCS\"}"`); err != nil ||
		m.Note != "3" {
		t.Errorf("%q processors, want 3; %v", m.Note, err)
	}
}

// A row of the table of scaling has the speed-up and the share of the wall on
// one processor.
func TestScalingRow(t *testing.T) {
	l := line{
		name: "work", program: "4", ours: measure{Wall: 8},
		theirs: measure{Wall: 2.5, CPU: 9, Idle: 1.5, Memory: 1 << 29}, given: 3.75,
	}
	want := "| work | 4 | 2.5 | 3.20 | 3.75 | 20.0 % | 9 | 0.5 |"
	if got := scalingRow(l, false); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l.given, l.lost = 0, errors.New("one was killed")
	if got := scalingRow(l, false); !strings.Contains(got, "| **one was killed** | 20.0 % |") {
		t.Errorf("%s does not say why nothing is told of the machine", got)
	}
	l.err = errors.New("other bits than on one processor")
	if got := scalingRow(l, false); !strings.Contains(got, "**other bits than on one processor**") {
		t.Errorf("%s does not say what is wrong", got)
	}
}

// Of several runs the fastest counts, and what the machine gives is the best of what it gave; other bits are an
// error whichever run has them.
func TestScaled(t *testing.T) {
	s := scaled{workers: []int{1, 2}, best: make([]measure, 2), errs: make([]error, 2)}
	for _, wall := range []float64{9, 8, 10} {
		s.add(0, measure{Wall: wall, Digest: "a"}, nil)
		s.add(1, measure{Wall: wall / 2, Digest: "a"}, nil)
	}
	s.addTogether([]measure{{Wall: 10}, {Wall: 16}}, nil)
	s.addTogether([]measure{{Wall: 16}, {Wall: 16}}, nil)
	lines := s.lines("work")
	if len(lines) != 2 || lines[0].theirs.Wall != 8 || lines[1].theirs.Wall != 4 || lines[1].ours.Wall != 8 || lines[0].given != 0 ||
		lines[1].given != 8*(1./10+1./16) || lines[1].err != nil {
		t.Errorf("%+v", lines)
	}
	s.addTogether(nil, errors.New("one was killed"))
	if lines = s.lines("work"); lines[1].given == 0 || lines[1].lost == nil || lines[0].lost != nil {
		t.Errorf("what was lost side by side: %+v", lines)
	}
	s.add(1, measure{Wall: 1, Digest: "b"}, nil)
	if lines = s.lines("work"); lines[0].err != nil || lines[1].err == nil || lines[1].theirs.Wall != 4 {
		t.Errorf("other bits: %+v", lines)
	}
}

// Processes side by side go on only once all are ready, and not at all for one that fails before.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	script := `touch "$0/$$"; echo ready; read line; ls "$0" | wc -l | sed 's/.*/{"cpu": &}/'`
	list, err := sideBySide(t.Context(), 3, "sh", "-c", script, dir)
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, m := range list {
		if m.CPU != 3 {
			t.Errorf("one went on with %v of 3 ready", m.CPU)
		}
	}
	if _, err := sideBySide(t.Context(), 2, "sh", "-c", `mkdir "$0/one" 2>/dev/null || exit 3; echo ready; read line; echo '{}'`,
		dir); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("one failed: %v", err)
	}
}

// A short task is repeated, a long one is not, and results of other bits have other digests.
func TestTimed(t *testing.T) {
	calls := 0
	m, err := timed(func() (any, error) { calls++; return []float64{1, 2}, nil })
	if err != nil || calls < 2 || !(m.Wall > 0) || m.Digest == "" {
		t.Errorf("%+v after %d calls, %v", m, calls, err)
	}
	other, err := timed(func() (any, error) { time.Sleep(600 * time.Millisecond); return []float64{2, 1}, nil })
	if err != nil || other.Digest == m.Digest || other.Wall < .6 {
		t.Errorf("%+v for another result, %v", other, err)
	}
}
