// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/graphcloak/graphcloak/internal/must"
)

// exotic are names whose width is not their number of runes: wide, combining, joined and coloured by a selector, a flag.
var exotic = []string{"生命の村", "e\u0301cole", "👨‍👩‍👧 family", "❤️", "🇨🇭", "नमस्ते", "plain"}

// hostile holds what steers a terminal or a spreadsheet.
var hostile = []string{
	"\x1b[31mred", "\u009b31mred", "a\x7fb", "\x9b31m", "\u202ereversed", "\x00", "a\rb", "a\nb\tc",
	"=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\x1b=1", "＝1",
}

func written(t *testing.T, f Form, v any, sections ...Section) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, f.Write(&b, v, sections...))
	return b.String()
}

// screen is a table of so many columns.
func screen(columns int) Form { return Form{Name: "table", Width: columns, Limit: columns} }

func TestForms(t *testing.T) {
	s := Section{
		Title: "Scores", Text: "Two nodes.", Columns: []string{"nodeId", "score"},
		Rows: Rows([]float64{1.0 / 3, math.NaN()}, func(x float64) []any { return []any{"a,\"\x1b[2J<b>", x} }),
	}
	for format, want := range map[string]string{
		"json":   "{\n  \"schemaVersion\": 1,\n  \"answer\": \"x < y\",\n  \"warnings\": [\n    \"careful\"\n  ]\n}\n",
		"ndjson": `{"nodeId":"a,\"\u001b[2J<b>","score":0.3333333333333333}` + "\n" + `{"nodeId":"a,\"\u001b[2J<b>","score":null}` + "\n",
		"csv":    "nodeId,score\n\"a,\"\"[2J<b>\",0.3333333333333333\n\"a,\"\"[2J<b>\",\n",
		"table": "Scores\nTwo nodes.\n┌───────────┬─────────┐\n│ nodeId    │   score │\n├───────────┼─────────┤\n" +
			"│ a,\"[2J<b> │ 0.33333 │\n│ a,\"[2J<b> │         │\n└───────────┴─────────┘\n",
	} {
		f := Form{Name: format, Width: 80, Warnings: []string{"careful"}}
		if got := written(t, f, map[string]any{"answer": "x < y"}, s); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
	var b bytes.Buffer
	if err := (Form{Name: "csv"}).Write(&b, struct{}{}, Section{Text: "x"}); !errors.Is(err, ErrNoRows) {
		t.Errorf("CSV without rows: %v", err)
	}
	for _, v := range []any{[]int{1}, map[string]any{"x": math.Inf(1)}} {
		if err := (Form{Name: "json"}).Write(&b, v); err == nil || b.Len() > 0 {
			t.Errorf("%v is printed as %s", v, &b)
		}
	}
	if got := written(t, Form{Name: "json"}, struct{}{}); got != "{\n  \"schemaVersion\": 1\n}\n" {
		t.Errorf("an empty object is %s", got)
	}
}

// TestHostileOutput: no format lets through what steers a terminal; JSON has it all the same.
func TestHostileOutput(t *testing.T) {
	for _, format := range []string{"table", "json", "ndjson", "csv"} {
		text := written(t, Form{Name: format, Width: 80}, map[string]any{"rows": hostile}, Section{
			Title: hostile[0], Text: hostile[1], Columns: []string{"id", "value"},
			Rows: Rows(hostile, func(s string) []any { return []any{s, -1.5} }),
		})
		for _, r := range text {
			if Steers(r) && r != '\n' || r == utf8.RuneError && format != "table" && format != "csv" && !strings.Contains(text, "\ufffd") {
				t.Errorf("%s lets %U through", format, r)
			}
		}
		var got struct{ Rows []string }
		if format == "json" && (json.Unmarshal([]byte(text), &got) != nil || !slices.EqualFunc(got.Rows, hostile, func(a, b string) bool {
			return a == strings.ToValidUTF8(b, "\ufffd")
		})) {
			t.Errorf("%q, want %q", got.Rows, hostile)
		}
	}
}

// TestSpreadsheet: a cell of CSV is no formula, and a number stays a number.
func TestSpreadsheet(t *testing.T) {
	for _, text := range hostile {
		if cell := spreadsheet(text); strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
			t.Errorf("%q becomes %q", text, cell)
		}
	}
	for _, text := range []string{"-1", "+2.5", "-1e-9", "1", "", "a=b", "a-b"} {
		if got := spreadsheet(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	text := written(t, Form{Name: "csv"}, nil, Section{
		Columns: []string{"id", "x", "k"}, Rows: slices.Values([][]any{{"=1", -0.5, -3}}),
	})
	if rows, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil || !slices.Equal(rows[1], []string{"'=1", "-0.5", "-3"}) {
		t.Errorf("%q, %v", rows, err)
	}
}

// TestJSONWriter: a log in JSON keeps its content.
func TestJSONWriter(t *testing.T) {
	var b bytes.Buffer
	line := []byte(`{"a":"` + "\u009b\x7f\u202eü" + `"}` + "\n")
	if n, err := (JSONWriter{&b}).Write(line); n != len(line) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	var got struct{ A string }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.A != "\u009b\x7f\u202eü" || strconv.IsPrint(0x9b) ||
		bytes.ContainsRune(b.Bytes(), 0x9b) {
		t.Errorf("%q, %v", b.Bytes(), err)
	}
}

// TestReorderedNamesStayTwo: a mark that reorders a name is shown, other controls are gone.
func TestReorderedNamesStayTwo(t *testing.T) {
	for text, want := range map[string]string{"bx": "bx", "b\u202ex": "b[U+202E]x", "\x1b[31mb\u009b\n\u200fx": "[31mb [U+200F]x"} {
		if got := Visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestTableCountsWhatIsSeen: every line of a box is as wide as the others, as a reader sees it.
func TestTableCountsWhatIsSeen(t *testing.T) {
	names := slices.Concat(exotic, hostile)
	text := written(t, screen(0), nil, Section{
		Columns: []string{"name", "probability", "size"},
		Rows:    Rows(names, func(s string) []any { return []any{s, Probability(0.25), 7} }),
	})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != len(names)+4 {
		t.Errorf("%d lines, want %d", len(lines), len(names)+4)
	}
	for _, line := range lines {
		if got, want := uniseg.StringWidth(line), uniseg.StringWidth(lines[0]); got != want {
			t.Errorf("%q is %d columns wide, the first line %d", line, got, want)
		}
	}
}

// TestTableTurnsVertical: a table that is wider than the screen becomes records, which hold every cell. What goes elsewhere
// than to a screen is as wide as it is.
func TestTableTurnsVertical(t *testing.T) {
	s := Section{Columns: []string{"jobName", "status", "message"}, Rows: Rows(exotic, func(name string) []any {
		return []any{name, State("FAILED"), "the server went away while the nodes were being read " + strings.Repeat("x", 90)}
	})}
	for columns, vertical := range map[int]bool{0: false, 80: true, 110: true, 300: false, 20: true} {
		text := written(t, screen(columns), nil, s)
		if got := !strings.Contains(text, "┌"); got != vertical {
			t.Errorf("%d columns: vertical is %v:\n%s", columns, got, text)
		}
		for _, name := range exotic {
			if vertical && !strings.Contains(text, "jobName: "+name+"\nstatus:  FAILED\nmessage: the ") {
				t.Errorf("%d columns: no record of %s:\n%s", columns, name, text)
			}
		}
		if n := strings.Count(text, strings.Repeat("x", 90)); n != len(exotic) {
			t.Errorf("%d columns: %d words of a message are whole, want %d", columns, n, len(exotic))
		}
	}
	facts := Section{Columns: []string{"name", "value"}, Rows: slices.Values([][]any{
		{"runId", "one"}, {"digest", strings.Repeat("0", 64)}, {"none", nil},
	})}
	if got, want := written(t, screen(40), nil, facts), "runId:  one\ndigest: "+strings.Repeat("0", 64)+"\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestTableFolds: the widest text that can stand in lines does so where that is enough, in a box as wide as the screen. A
// word that is broken would be cut.
func TestTableFolds(t *testing.T) {
	long := strings.Repeat("x", 36)
	for _, c := range []struct {
		columns int
		row     []any
		boxed   bool
	}{
		{50, []any{"the share of the runs in which the right community ranks first", "optimal"}, true},
		{50, []any{"a digest of " + strings.Repeat("0", 40), "optimal"}, false},
		{68, []any{long, "2 around the pumps 111 and 115 here"}, true},
		{40, []any{long, "2 around the pumps 111 and 115 here"}, false},
	} {
		text := written(t, screen(c.columns), nil, Section{Columns: []string{"what", "noise"}, Rows: slices.Values([][]any{c.row})})
		if strings.Contains(text, "┌") != c.boxed {
			t.Errorf("%q is laid out as\n%s", c.row, text)
		}
		for line := range strings.Lines(text) {
			if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); c.boxed && w != c.columns {
				t.Errorf("%q is %d columns wide", line, w)
			}
		}
		for word := range strings.FieldsSeq(c.row[0].(string) + " " + c.row[1].(string)) {
			if !strings.Contains(text, word) {
				t.Errorf("%q is lost", word)
			}
		}
	}
}

// TestPaint: what fails is red, and what a name holds paints nothing.
func TestPaint(t *testing.T) {
	for _, colour := range []bool{false, true} {
		f := screen(80)
		f.Colour = colour
		text := written(t, f, nil, Section{
			Columns: []string{"name", "status"}, Rows: slices.Values([][]any{{"\x1b[32mgreen", State("FAILED")}}),
		})
		if strings.Contains(text, "\x1b[31mFAILED\x1b[0m") != colour || strings.Contains(text, "\x1b[32m") ||
			strings.Contains(text, "\x1b") != colour {
			t.Errorf("colour %v: %q", colour, text)
		}
	}
}

// TestWarningsAreReadable: in the palettes that terminals come with, bold as brighter where they do so, a warning has a
// contrast of 3 on white and on black: what WCAG 2.2, criterion 1.4.3, asks of bold text that is large.
func TestWarningsAreReadable(t *testing.T) {
	for name, colours := range map[string]map[string]int{
		"xterm":            {"33": 0xcdcd00, "1;33": 0xffff00, "35": 0xcd00cd, "1;35": 0xff00ff},
		"Tango":            {"33": 0xc4a000, "1;33": 0xfce94f, "35": 0x75507b, "1;35": 0xad7fa8},
		"Windows Terminal": {"33": 0xc19c00, "1;33": 0xf9f1a5, "35": 0x881798, "1;35": 0xb4009e},
	} {
		colour, known := colours[string(Wary)]
		if !known {
			t.Fatalf("the test knows no colour of %q in %s", Wary, name)
		}
		x := luminance(colour)
		if white, black := 1.05/(x+.05), (x+.05)/.05; white < 3 || black < 3 {
			t.Errorf("%s: a contrast of %.1f on white and %.1f on black", name, white, black)
		}
	}
}

// luminance is the relative luminance of 0xRRGGBB in sRGB.
func luminance(colour int) (sum float64) {
	for k, weight := range []float64{.0722, .7152, .2126} {
		c := float64(colour>>(8*k)&0xff) / 255
		if c <= .04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+.055)/1.055, 2.4)
		}
	}
	return sum
}

// TestProbability: what is nearly sure is not called sure, and above 0 there is always something to see.
func TestProbability(t *testing.T) {
	for p, want := range map[Probability]string{1: "1", 0.99996: ">0.999", 0.98033: "0.98", 0: "0", 1e-7: "<0.001", 0.001: "0.001"} {
		if got := p.text(); got != want {
			t.Errorf("%v is shown as %q, want %q", float64(p), got, want)
		}
	}
	for x, want := range map[float64]string{
		0: "    ", 1e-9: "▏   ", .5: "██  ", .53: "██▏ ", 1: "████", 7: "████", -1: "    ", math.NaN(): "    ",
	} {
		if got := bar(x, 4); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}

// TestItemsStayAligned: lists stay aligned at any width, and no word is broken or lost.
func TestItemsStayAligned(t *testing.T) {
	got := written(t, screen(48), nil, Section{Items: []Item{
		{Mark: "ok", Text: "connection: the server answers, and it is one that was made for this"},
		{
			Mark: "FAILED", Text: "rights\x1b[2J: the user may not write",
			More: "to do: ask someone who may grant it, with the role that is printed",
		},
	}})
	want := "ok      connection: the server answers, and it\n        is one that was made for this\n" +
		"FAILED  rights[2J: the user may not write\n        to do: ask someone who may grant it,\n        with the role that is printed\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestSections: details are shown to anyone who asks for them, and a table without rows says so.
func TestSections(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		f := screen(80)
		f.Verbose = verbose
		text := written(t, f, nil, Section{Answer: "Here."}, Section{}, Section{Title: "Facts", Text: "Many.", Detail: true},
			Section{Columns: []string{"a"}, Rows: slices.Values([][]any{}), None: "Nothing."})
		if strings.Contains(text, "Many.") != verbose || !strings.HasPrefix(text, "Here.\n\n") ||
			!strings.HasSuffix(text, "\n\nNothing.\n") {
			t.Errorf("verbose %v: %q", verbose, text)
		}
	}
	s := Section{Columns: []string{"a", "b", "c"}, Rows: slices.Values([][]any{{1, "x", ""}, {2, "y", ""}})}
	if got := written(t, Form{Name: "csv"}, nil, s.Without(map[int]string{1: "x", 2: ""})); got != "a,b\n1,x\n2,y\n" {
		t.Errorf("without what goes without saying: %q", got)
	}
	if got := written(t, Form{Name: "csv"}, nil, s.Facts("a", "b")); got != "name,value\na,1\nb,x\na,2\nb,y\n" {
		t.Errorf("facts: %q", got)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", []string{""}},
		{"one two three", []string{"one two", "three"}},
		{"- one two three", []string{"- one", "  two", "  three"}},
		{"  one two", []string{"  one", "  two"}},
		{"an unbreakable word", []string{"an", "unbreakable", "word"}},
		{"生命 生命", []string{"生命", "生命"}},
		{"right 9 %, or", []string{"right", "9 %, or"}},
		{"at a δ = 1 or", []string{"at a", "δ = 1 or"}},
		{"delta = unbreakable", []string{"delta =", "unbreakable"}},
		{"👨‍👩‍👧👨‍👩‍👧 a b", []string{"👨‍👩‍👧👨‍👩‍👧 a b"}},
	} {
		if got := Wrap(c.line, 8); !slices.Equal(got, c.want) {
			t.Errorf("%q becomes %q, want %q", c.line, got, c.want)
		}
	}
	if got, want := Reflow("one\ntwo three\n  own\n- list\n\nend", 8), "one two\nthree\n  own\n- list\n\nend\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressText(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		line    stage
		elapsed time.Duration
		width   int
		want    string
	}{
		{stage{name: "columns"}, 0, 79, "columns"},
		{stage{name: "columns", done: 1, total: 4}, 30 * time.Second, 79, "columns  ██▌        25 %  30s, about 1m30s left"},
		{stage{name: "communities", done: 1, total: 1000}, 30 * time.Second, 79, "communities  ▏           0 %  30s"},
		{stage{name: "nodes", done: 20000}, time.Second, 79, "nodes  20000  1s"},
		{stage{name: "write", done: 9, total: 9}, 2 * time.Second, 79, "write  ██████████ 100 %  2s"},
		{stage{name: "\x1b[2J生命の村"}, 0, 8, "[2J生命"},
	} {
		c.line.started = start
		if got := c.line.text(start.Add(c.elapsed), c.width); got != c.want {
			t.Errorf("%+v: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestProgressInLog: where nothing is drawn the log takes the progress of a long stage every second, and none of a short one.
func TestProgressInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b, log bytes.Buffer
		c := &Console{Writer: &b, Log: slog.New(slog.NewTextHandler(&log, nil))}
		c.Progress("short", 0, 2)
		time.Sleep(timeFrom / 2)
		c.Progress("long", 1, 2)
		time.Sleep(2*timeFrom + timeFrom/2)
		c.Stop()
		all, long := strings.Count(log.String(), "msg=progress"), strings.Count(log.String(), "msg=progress text=\"long ")
		if all != 2 || long != 2 || b.Len() > 0 {
			t.Errorf("the log holds %d lines of progress, %d of the long stage, and %q is drawn: %s", all, long, &b, &log)
		}
	})
}

// TestConsole: nothing is drawn where progress is not wanted, and a message or a line of the log
// takes the place of what was drawn.
func TestConsole(t *testing.T) {
	var b, log bytes.Buffer
	c := &Console{Writer: &b, Log: slog.New(slog.NewTextHandler(&log, nil))}
	c.Progress("columns", 1, 2)
	c.Progress("relationships", 1, 2)
	if b.Len() > 0 {
		t.Errorf("%q is drawn", &b)
	}
	c.Say("Warning:", Wary, "careful\x1b[2J  ", true)
	if b.String() != "\x1b[1;35mWarning:\x1b[0m careful[2J\n" {
		t.Errorf("a warning is %q", &b)
	}
	c.Shows = true
	for _, say := range []func(){
		func() { c.Say("", Plain, "here", false) },
		func() { c.Ask("Password: ") },
		func() { _, _ = c.LogWriter().Write([]byte("here\n")) },
		c.Clear, c.Stop,
	} {
		c.Progress("noise", 1, 2)
		b.Reset()
		c.line.last = time.Time{}
		c.Progress("noise", 1, 2)
		if !strings.HasPrefix(b.String(), eraseLine) || !strings.Contains(b.String(), "noise") {
			t.Fatalf("drawn is %q", &b)
		}
		b.Reset()
		if say(); !strings.HasPrefix(b.String(), eraseLine) {
			t.Errorf("the progress stays beside %q", &b)
		}
	}
	if !strings.Contains(log.String(), "phase=columns") {
		t.Errorf("the log is %q", &log)
	}
}
