// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// exotic are names whose width is not their number of runes: wide, combining, joined and
// coloured by a selector, a flag.
var exotic = []string{"生命の村", "e\u0301cole", "👨‍👩‍👧 family", "❤️", "🇨🇭", "नमस्ते", "plain"}

// Every line of a box is as wide as the others, as a reader sees it.
func TestTableCountsWhatIsSeen(t *testing.T) {
	a, stdout, _ := kit(t, "--format", "table")
	rows := rowsOf(slices.Concat(exotic, hostile), func(s string) []any { return []any{s, probability(0.25), 7} })
	if err := a.render(map[string]any{}, section{columns: []string{"name", "probability", "size"}, rows: rows}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if want := len(exotic) + len(hostile) + 4; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	for _, line := range lines {
		if got, want := uniseg.StringWidth(line), uniseg.StringWidth(lines[0]); got != want {
			t.Errorf("%q is %d columns wide, the first line %d", line, got, want)
		}
	}
}

// A table that is wider than the screen becomes records, which hold every cell, and one
// that fits stays. What goes elsewhere than to a screen is as wide as it is.
func TestTableTurnsVertical(t *testing.T) {
	s := section{columns: []string{"jobName", "status", "message"}, rows: rowsOf(exotic, func(name string) []any {
		return []any{name, state("FAILED"), "the server went away while the nodes were being read " + strings.Repeat("x", 90)}
	})}
	for _, c := range []struct {
		columns  string
		vertical bool
	}{{"", false}, {"80", true}, {"110", true}, {"300", false}, {"20", true}} {
		t.Setenv("COLUMNS", c.columns)
		a, stdout, _ := kit(t, "--format", "table")
		if err := a.render(map[string]any{}, s); err != nil {
			t.Fatal(err)
		}
		text := stdout.String()
		if vertical := !strings.Contains(text, "┌"); vertical != c.vertical {
			t.Errorf("COLUMNS=%s: vertical is %v:\n%s", c.columns, vertical, text)
		}
		for _, name := range exotic {
			if c.vertical && !strings.Contains(text, "jobName: "+name+"\nstatus:  FAILED\nmessage: the ") {
				t.Errorf("COLUMNS=%s: no record of %s:\n%s", c.columns, name, text)
			}
		}
		if n := strings.Count(text, strings.Repeat("x", 90)); n != len(exotic) {
			t.Errorf("COLUMNS=%s: %d words of a message are whole, want %d", c.columns, n, len(exotic))
		}
	}
}

// A text that is too long for the screen stands in lines, if that is enough, and in a box
// as wide as the screen. A word that is broken would be cut.
func TestTableWrapsItsWidestText(t *testing.T) {
	t.Setenv("COLUMNS", "50")
	for text, boxed := range map[string]bool{
		"the share of the runs in which the right community ranks first": true,
		"a digest of " + strings.Repeat("0", 40):                         false,
	} {
		a, stdout, _ := kit(t, "--format", "table")
		rows := slices.Values([][]any{{text, 0.25, "optimal"}})
		if err := a.render(map[string]any{}, section{columns: []string{"what", "value", "noise"}, rows: rows}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stdout.String(), "┌") != boxed {
			t.Errorf("%q is laid out as\n%s", text, stdout)
		}
		for line := range strings.Lines(stdout.String()) {
			if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); boxed && w != 50 {
				t.Errorf("%q is %d columns wide", line, w)
			}
		}
		for word := range strings.FieldsSeq(text) {
			if !strings.Contains(stdout.String(), word) {
				t.Errorf("%q is lost", word)
			}
		}
	}
}

// Names and values are one record: a line each, the values below each other.
func TestNamesAndValuesTurnIntoLines(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	a, stdout, _ := kit(t, "--format", "table")
	rows := slices.Values([][]any{{"runId", "one"}, {"digest", strings.Repeat("0", 64)}, {"none", nil}})
	if err := a.render(map[string]any{}, section{columns: []string{"name", "value"}, rows: rows}); err != nil {
		t.Fatal(err)
	}
	if want := "runId:  one\ndigest: " + strings.Repeat("0", 64) + "\n"; stdout.String() != want {
		t.Errorf("%s\nwant\n%s", stdout, want)
	}
}

// What fails is red, and what a name holds paints nothing.
func TestPaint(t *testing.T) {
	rows := rowsOf([]string{"\x1b[32mgreen"}, func(s string) []any { return []any{s, state("FAILED")} })
	for _, c := range []struct {
		args []string
		red  bool
	}{{[]string{"--color", "always"}, true}, {nil, false}, {[]string{"--color", "never"}, false}} {
		a, stdout, _ := kit(t, append(c.args, "--format", "table")...)
		if err := a.render(map[string]any{}, section{columns: []string{"name", "status"}, rows: rows}); err != nil {
			t.Fatal(err)
		}
		text := stdout.String()
		if strings.Contains(text, "\x1b[31mFAILED\x1b[0m") != c.red || strings.Contains(text, "\x1b[32m") ||
			strings.Contains(text, "\x1b") != c.red {
			t.Errorf("%q: %q", c.args, text)
		}
	}
}

// --no-color is the last word, also on an error before the settings are read.
func TestNoColor(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{{"config", "view", "--tau", "0"}, {"nothing"}} {
		for _, off := range []bool{false, true} {
			all := append(slices.Clone(args), "--format", "table", "--color", "always")
			if off {
				all = append(all, "--no-color")
			}
			var stdout, stderr bytes.Buffer
			execute(t.Context(), all, strings.NewReader(""), &stdout, &stderr)
			if painted := strings.Contains(stdout.String()+stderr.String(), "\x1b["); painted == off {
				t.Errorf("%q: %s%s", all, &stdout, &stderr)
			}
		}
	}
}

// What is nearly sure is not called sure.
func TestProbabilityText(t *testing.T) {
	for p, want := range map[probability]string{1: "1", 0.99996: ">0.999", 0.98033: "0.98", 0: "0", 1e-7: "<0.001", 0.001: "0.001"} {
		if got := p.text(); got != want {
			t.Errorf("%v is shown as %q, want %q", float64(p), got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		x           float64
		want, ascii string
	}{
		{0, "    ", "    "},
		{1e-9, "▏   ", "#   "},
		{0.5, "██  ", "##  "},
		{0.53, "██▏ ", "##  "},
		{1, "████", "####"},
		{7, "████", "####"},
		{-1, "    ", "    "},
	} {
		if got := drawBar(c.x, 4, false); got != c.want {
			t.Errorf("%v is %q, want %q", c.x, got, c.want)
		}
		if got := drawBar(c.x, 4, true); got != c.ascii {
			t.Errorf("%v in ASCII is %q, want %q", c.x, got, c.ascii)
		}
	}
}

// A screen that shows ASCII alone gets no other character of ours.
func TestASCII(t *testing.T) {
	for _, c := range []struct {
		term, locale string
		ascii        bool
	}{
		{"xterm", "C", true},
		{"xterm", "de_DE.ISO-8859-1", true},
		{"dumb", "C.UTF-8", true},
		{"xterm", "de_DE.utf8", false},
		{"xterm", "", false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("LC_ALL", c.locale)
		a, stdout, _ := kit(t, "--format", "table")
		if err := a.render(map[string]any{},
			section{columns: []string{"p"}, rows: slices.Values([][]any{{probability(0.3)}})}); err != nil {
			t.Fatal(err)
		}
		if ascii := strings.IndexFunc(stdout.String(), func(r rune) bool { return r > 0x7f }) < 0; ascii != c.ascii {
			t.Errorf("%+v: %s", c, stdout)
		}
	}
}

// Lists stay aligned at any width, and no word is broken or lost.
func TestItemsStayAligned(t *testing.T) {
	t.Setenv("COLUMNS", "48")
	a, stdout, _ := kit(t, "--format", "table")
	items := []item{
		{mark: "ok", text: "connection: the server answers, and it is one that was made for this"},
		{
			mark: "FAILED", text: "rights\x1b[2J: the user may not write",
			more: "to do: ask someone who may grant it, with the role that is printed",
		},
	}
	if err := a.render(map[string]any{}, section{items: items}); err != nil {
		t.Fatal(err)
	}
	want := "ok      connection: the server answers, and it\n        is one that was made for this\n" +
		"FAILED  rights[2J: the user may not write\n        to do: ask someone who may grant it,\n        with the role that is printed\n"
	if stdout.String() != want {
		t.Errorf("%s\nwant\n%s", stdout, want)
	}
}

// Details are shown to anyone who asks for them; the machine-readable forms have them anyway.
func TestDetails(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		args := []string{"--format", "table"}
		if verbose {
			args = append(args, "-v")
		}
		a, stdout, _ := kit(t, args...)
		if err := a.render(map[string]any{}, section{answer: "Here."}, section{title: "Facts", text: "Many.", detail: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stdout.String(), "Many.") != verbose || !strings.HasPrefix(stdout.String(), "Here.\n") {
			t.Errorf("%q: %q", args, stdout)
		}
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
		if got := wrap(c.line, 8); !slices.Equal(got, c.want) {
			t.Errorf("%q becomes %q, want %q", c.line, got, c.want)
		}
	}
}

// TestSqueezeWhatFolds: where the widest text is one long word, the next widest stands in lines.
func TestSqueezeWhatFolds(t *testing.T) {
	g := grid{
		columns: []string{"runId", "community"},
		rows:    [][]shown{{{text: strings.Repeat("x", 36)}, {text: "2 around the pumps 111 and 115 here"}}},
	}
	widths := g.squeezed(g.widths(), 68)
	if len(widths) != 2 || widths[0] != 36 || boxWidth(widths) != 68 {
		t.Errorf("the widths are %v", widths)
	}
	if widths = g.squeezed(g.widths(), 40); widths != nil {
		t.Errorf("a word is broken: %v", widths)
	}
}
