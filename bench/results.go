// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed RESULTS.tmpl
var page string

// results are sections of the page.
type results struct {
	Quick    bool
	Sections []section
	failed   int
}

// section is a part of the page, measured at one time on one machine.
type section struct {
	Title, About, Head string
	Rows               []string
	Stamp              string // when and where
}

// head of a table of comparisons.
var head = []string{"case", "program", "CPU s", "GiB", "error", "its time / ours", "remarks"}

// stamp returns a description of the machine now; what it returns completes that after the
// measurements.
func stamp() func() string {
	begun, before := time.Now(), load()
	return func() string {
		return fmt.Sprintf("%s, load %s to %s. %s", begun.UTC().Format("2006-01-02"), before, load(), machine())
	}
}

func (t topic) hasPeers(quick bool) bool {
	return slices.ContainsFunc(t.cases(quick), func(c comparison) bool { return c.script != "" })
}

func (r *results) add(t topic, lines []line, stamp string) {
	s, rowOf := section{Title: t.title, About: t.about, Head: header(head), Stamp: stamp}, row
	if t.head != nil {
		s.Head, rowOf = header(t.head), t.row
	}
	for _, l := range lines {
		if l.err != nil {
			r.failed++
		}
		if row := rowOf(l, r.Quick); row != "" {
			s.Rows = append(s.Rows, row)
		}
	}
	r.Sections = append(r.Sections, s)
}

// finish writes the sections into a file, whose others stay, or the page to standard output.
func (r *results) finish(file string) error {
	old := ""
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		old = string(text)
	}
	text, err := r.page(old)
	if err != nil {
		return err
	}
	if file == "" {
		fmt.Print(text)
	} else if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	if r.failed > 0 {
		return fmt.Errorf("measurements failed: %d", r.failed)
	}
	return nil
}

// page returns the page: the sections in the order of the topics, in place of those of the same
// title of an older page, then the others of that page.
func (r *results) page(old string) (string, error) {
	var intro strings.Builder
	if err := template.Must(template.New("").Parse(page)).Execute(&intro, r); err != nil {
		return "", err
	}
	parts, order := sections(old)
	for _, s := range r.Sections {
		parts[s.Title] = s.String()
	}
	out := strings.TrimSpace(intro.String()) + "\n"
	write := func(title string) {
		if text, ok := parts[title]; ok {
			out += "\n## " + title + "\n\n" + text + "\n"
			delete(parts, title)
		}
	}
	for _, t := range topics() {
		write(t.title)
	}
	for _, title := range order {
		write(title)
	}
	return out, nil
}

// sections splits a page at its headings.
func sections(page string) (text map[string]string, order []string) {
	text = map[string]string{}
	parts := strings.Split("\n"+page, "\n## ")
	for _, part := range parts[1:] {
		title, body, _ := strings.Cut(part, "\n")
		text[title] = strings.TrimSpace(body)
		order = append(order, title)
	}
	return text, order
}

// String is what stands below the title.
func (s section) String() string {
	return strings.Join([]string{s.About, s.Head + "\n" + strings.Join(s.Rows, "\n"), s.Stamp}, "\n\n")
}

// row is a line as a row of a table in Markdown.
func row(l line, quick bool) string {
	if l.err != nil {
		return cells(l.name, l.program, "", "", "", "", "**failed** "+oneLine(l.err))
	}
	ratio, note := "", l.theirs.Note
	if l.program != us {
		ratio = fmt.Sprintf("%.3g×", l.theirs.CPU/l.ours.CPU)
	}
	if !quick {
		note = strings.TrimSpace(note + missed(l))
	}
	m := l.theirs
	return cells(l.name, l.program, fmt.Sprintf("%.3g", m.CPU), fmt.Sprintf("%.2g", float64(m.Memory)/(1<<30)),
		scientific(m.Error), ratio, note)
}

// oneLine is an error as a cell.
func oneLine(err error) string { return strings.NewReplacer("\n", " ", "|", "/").Replace(err.Error()) }

// header is the head of a table in Markdown.
func header(names []string) string {
	return cells(slices.Clone(names)...) + "\n|" + strings.Repeat("---|", len(names))
}

// missed names the targets that a line misses, "" for none.
func missed(l line) (text string) {
	for _, g := range l.goals {
		if !g.met(l) {
			text += " **missed: " + g.text + "**"
		}
	}
	return text
}

func cells(list ...string) string {
	for i, c := range list {
		if c == "" {
			list[i] = " "
		}
	}
	return "| " + strings.Join(list, " | ") + " |"
}

func scientific(e *float64) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%.1e", *e)
}

// machine describes where this runs, as far as Linux tells.
func machine() string {
	model := field("/proc/cpuinfo", "model name")
	var kib int64
	fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kib)
	return fmt.Sprintf("%s, %d cores, %.0f GiB, %s/%s, %s.", model, runtime.NumCPU(), float64(kib)/(1<<20),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// field returns the value of the first line "name : value" of a file.
func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	return fieldOf(string(text), name)
}

func fieldOf(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// load returns the load average of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) > 0 {
		return f[0]
	}
	return "unknown"
}
