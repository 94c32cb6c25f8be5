// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

const pageText = "# A page\n\n```console\n$ first --flag \\\n    value\nε is 4.0487 in 3 of 97\n…\n│  a │ 0.93 │\n$ second\n$ " +
	"third\nError: no (exit 5)\n$ fourth\n(exit 22)\n```\n\nProse.\n"

func readPage(t *testing.T, text string) *Page {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.md")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return must.Get(Read(path))(t)
}

func TestRead(t *testing.T) {
	p := readPage(t, pageText)
	if len(p.Commands) != 4 {
		t.Fatalf("%d commands, want 4", len(p.Commands))
	}
	for k, want := range []struct {
		text  string
		shown int
		exit  int
	}{{"first --flag value", 3, 0}, {"second", 0, 0}, {"third", 1, 5}, {"fourth", 1, 22}} {
		if c := p.Commands[k]; c.Text != want.text || len(c.Output) != want.shown || c.Exit() != want.exit {
			t.Errorf("command %d is %q with %d lines and exit %d, want %v", k, c.Text, len(c.Output), c.Exit(), want)
		}
	}
}

// TestCompare: which outputs hold beside which shown ones.
func TestCompare(t *testing.T) {
	const id, hash = "01a2044a-518f-7ca0-9776-367f46daa024", "9cef9b5f30abe52189c8ab46ee462769066f6e8bdf90c0ad15ea9051e3a100dc"
	for _, c := range []struct {
		shown, printed string
		holds          bool
	}{
		{"ε = 5.0487", "ε = 5.0488", true},
		{"ε = 5.0487", "ε = 5.0587", false},
		{"ε = 5.0487", "ε = -5.0487", false},
		{"p = 2.9e-05", "p = 2.9001e-5", true},
		{"p = 2.9e-05", "p = 2.9e-06", false},
		{"97 nodes", "97 nodes", true},
		{"9700 nodes", "9701 nodes", false},
		{"97 nodes", "97 edges", false},
		{"in 4,000 nodes", "in 4,001 nodes", false},
		{"run " + id, "run 01a20549-e6cc-7366-a60f-7171e66791f5", true},
		{"run " + id, "run 7", false},
		{"plan 9cef9…", "plan " + hash, true},
		{"plan 9cef9…", "plan none", false},
		{"at 2026-03-28T01:30:07Z", "at 2026-11-22T22:06:14Z", true},
		{"at 2026-03-28T01:30:07Z", "at noon", false},
		{"took 1.2s", "took 350ms", true},
		{"took 1.2s", "took long", false},
		{"│  a │ 1 │\n├────┼───┤", "│ a  │ 1  │\n├──┼──┤\n", true},
		{"one\n…\nfour", "one\ntwo\nthree\nfour", true},
		{"one\n…\nfour", "one\ntwo\nthree", false},
		{"one\n…", "zero\none", false},
		{"…\nfour", "four\nfive", false},
		{"…\nfour\n…", "three\nfour\nfive", true},
		{"one", "one\ntwo", false},
		{"one\ntwo", "one", false},
		{"one … three", "one two three", true},
		{"one … three", "one two four", false},
		{"…\n2 of 3\n…", "2 of 4\n2 of 3", true},
		{"one\n\ntwo", "one\ntwo", true},
		{"(exit 22)", "anything", true},
		{"", "anything", true},
	} {
		cmd := Command{Output: strings.Split(c.shown, "\n")}
		if wrong := cmd.Compare(c.printed); (len(wrong) == 0) != c.holds {
			t.Errorf("%q beside %q: differences %q, want none: %v", c.printed, c.shown, wrong, c.holds)
		}
	}
}

// TestMend: a page gets what was printed where it does not hold, and stays as it is
// elsewhere.
func TestMend(t *testing.T) {
	p := readPage(t, pageText)
	for k, run := range []struct {
		printed string
		exit    int
	}{
		{"ε is 4.2 in 3 of 97\nmuch\n\nmore\n│  b │ 0.95 │\n│  a │ 0.91 │\n", 0},
		{"second speaks", 0},
		{"Error: no (exit 5)\n", 5},
		{"", 7},
	} {
		p.Commands[k].Fix(run.printed, run.exit)
	}
	must.Do(t, p.Write())
	got := must.Get(os.ReadFile(p.path))(t)
	want := strings.NewReplacer("4.0487", "4.2", "│  a │ 0.93 │", "│  a │ 0.91 │", "(exit 22)", "(exit 7)").Replace(pageText)
	if string(got) != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
}
