// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// Page is a page of the documentation.
type Page struct {
	path     string
	lines    []string
	Commands []*Command
}

// Command is one command of a page's console blocks.
type Command struct {
	Text   string   // what a shell is given; continued lines are one
	Output []string // what the page shows, empty where it shows nothing
	first  int      // the line of the page after the command
	last   int      // the line after the output
	fresh  []string // what the output is to be
	stale  bool     // the page is to have it
}

// Read reads a page and the commands of its console blocks, in order.
func Read(path string) (*Page, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &Page{path: path, lines: strings.Split(string(text), "\n")}
	inside, open := false, false
	for i, line := range p.lines {
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside, open = false, false
		case !inside:
		case open: // the command goes on
			open = p.Commands[len(p.Commands)-1].extend(line, i)
		case strings.HasPrefix(line, "$ "):
			c := &Command{}
			open = c.extend(line[2:], i)
			p.Commands = append(p.Commands, c)
		case len(p.Commands) > 0:
			c := p.Commands[len(p.Commands)-1]
			c.Output, c.last = append(c.Output, line), i+1
		}
	}
	return p, nil
}

// extend adds line i of a page to a command, and says whether another one follows.
func (c *Command) extend(line string, i int) bool {
	text, open := strings.CutSuffix(strings.TrimSpace(line), "\\")
	c.Text += text
	c.first, c.last = i+1, i+1
	return open
}

// Exit is the exit code that a page shows, 0 where it shows none.
func (c *Command) Exit() int {
	for _, line := range c.Output {
		if m := exitShown.FindStringSubmatch(line); m != nil {
			code, _ := strconv.Atoi(m[1]) // the pattern has digits alone
			return code
		}
	}
	return 0
}

// Fix makes what was printed the shown output of a command, as far as the page shows it:
// what "…" stands for stays away, and lines that hold stay as they are.
func (c *Command) Fix(printed string, exit int) {
	if len(c.Output) == 0 || exit == c.Exit() && len(c.Compare(printed)) == 0 {
		return
	}
	c.fresh, c.stale = c.rewrite(strings.Split(strings.TrimRight(printed, "\n"), "\n"), exit), true
}

// Compare compares what a command printed with what its page shows, and returns the
// differences; none where the page shows nothing.
func (c *Command) Compare(printed string) []string {
	shown := full(c.Output)
	if len(shown) == 0 {
		return nil
	}
	lines := full(strings.Split(printed, "\n"))
	parts := segments(shown)
	for k, part := range parts {
		first, last := k == 0, k == len(parts)-1
		at := place(part, lines, first, last)
		if at < 0 {
			return differences(part, lines, first, last)
		}
		lines = lines[at+len(part):]
	}
	return nil
}

// rewrite is what a page is to show of printed lines: of each segment what stands in its
// place, found by its first and its last line without their numbers.
func (c *Command) rewrite(printed []string, exit int) []string {
	var out []string
	parts := segments(c.Output)
	next := 0
	for k, part := range parts {
		if k > 0 {
			out = append(out, elision(c.Output, k))
		}
		part = trim(part)
		from, to := extent(part, printed, next, k == 0, k == len(parts)-1)
		for _, line := range printed[from:to] {
			out = append(out, kept(part, line))
		}
		next = to
	}
	return remark(out, exit)
}

// Write writes a page with the outputs that were fixed, if any was.
func (p *Page) Write() error {
	if !slices.ContainsFunc(p.Commands, func(c *Command) bool { return c.stale }) {
		return nil
	}
	var lines []string
	next := 0
	for _, c := range p.Commands {
		if c.stale {
			lines = append(append(lines, p.lines[next:c.first]...), c.fresh...)
			next = c.last
		}
	}
	return os.WriteFile(p.path, []byte(strings.Join(append(lines, p.lines[next:]...), "\n")), 0o644)
}
