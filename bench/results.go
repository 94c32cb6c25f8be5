// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed RESULTS.tmpl
var page string

// results are what the page shows.
type results struct {
	Quick                                   bool
	Machine, Begun, Before, After, Versions string
	Minutes                                 int
	Sections                                []section
	start                                   time.Time
	failed                                  int
}

type section struct {
	Title, About, Head string
	Rows               []string
}

// head of a table of comparisons.
var head = []string{"case", "program", "CPU s", "GiB", "error", "its time / ours", "target", "met", "remarks"}

func begin(quick bool) *results {
	now := time.Now()
	return &results{
		Quick: quick, Machine: machine(), Before: load(), Versions: versions(),
		Begun: now.UTC().Format("2006-01-02 15:04 UTC"), start: now,
	}
}

func (r *results) add(t topic, lines []line) {
	s, rowOf := section{Title: t.title, About: t.about, Head: header(head)}, row
	if t.head != nil {
		s.Head, rowOf = header(t.head), t.row
	}
	for _, l := range lines {
		if l.err != nil {
			r.failed++
		}
		s.Rows = append(s.Rows, rowOf(l, r.Quick))
	}
	r.Sections = append(r.Sections, s)
}

// finish writes the page to a file, or to standard output.
func (r *results) finish(file string, whole bool) error {
	r.After, r.Minutes = load(), int(time.Since(r.start).Minutes()+.5)
	if file == "" && whole {
		file = filepath.Join("bench", "RESULTS.md")
	}
	var text strings.Builder
	if err := r.write(&text); err != nil {
		return err
	}
	if file == "" {
		fmt.Print(text.String())
	} else if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		return err
	}
	if r.failed > 0 {
		return fmt.Errorf("measurements failed: %d", r.failed)
	}
	return nil
}

func (r *results) write(w io.Writer) error {
	return template.Must(template.New("").Parse(page)).Execute(w, r)
}

// row is a line as a row of a table in Markdown.
func row(l line, quick bool) string {
	if l.err != nil {
		return cells(l.name, l.program, "", "", "", "", "", "**failed**", oneLine(l.err))
	}
	ratio, target, met := "", "", ""
	if l.program != us {
		ratio = fmt.Sprintf("%.3g×", l.theirs.CPU/l.ours.CPU)
	}
	if !quick {
		target, met = verdict(l)
	}
	m := l.theirs
	return cells(l.name, l.program, fmt.Sprintf("%.3g", m.CPU), fmt.Sprintf("%.2g", float64(m.Memory)/(1<<30)),
		scientific(m.Error), ratio, target, met, m.Note)
}

// oneLine is an error as a cell.
func oneLine(err error) string { return strings.NewReplacer("\n", " ", "|", "/").Replace(err.Error()) }

// header is the head of a table in Markdown.
func header(names []string) string {
	return cells(slices.Clone(names)...) + "\n|" + strings.Repeat("---|", len(names))
}

// verdict joins the goals of a line and says whether all are met.
func verdict(l line) (target, met string) {
	if len(l.goals) == 0 {
		return "", ""
	}
	var words []string
	met = "yes"
	for _, g := range l.goals {
		words = append(words, g.text)
		if !g.met(l) {
			met = "**no**"
		}
	}
	return strings.Join(words, ", "), met
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
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	var kib int64
	fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kib)
	return fmt.Sprintf("%s, %d cores, %.0f GiB, %s %s %s, %s.", model, runtime.NumCPU(), float64(kib)/(1<<20),
		runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.GOARCH, runtime.Version())
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

// load returns the three load averages.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) >= 3 {
		return strings.Join(f[:3], ", ")
	}
	return "unknown"
}
