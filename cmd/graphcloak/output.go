// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/columnar"
	"github.com/graphcloak/graphcloak/internal/disk"
)

// schemaVersion is that of the JSON envelope; it changes when a field changes
// its meaning or goes away.
const schemaVersion = 1

// section is a part of a result: prose, a table, or both under a title.
type section struct {
	title   string
	answer  string   // what the reader came for, emphasised; in the table format only
	text    string   // shown in the table format only
	items   []item   // likewise
	columns []string // camelCase; none: no table
	rows    iter.Seq[[]any]
	none    string   // said in place of a table without rows
	narrow  *section // the table in fewer columns, for a screen that has no room for all
	detail  bool     // shown under --verbose only, in the table format
	last    bool     // shown below the answer of a report
}

// rowsOf makes rows from a slice, one by one.
func rowsOf[T any](items []T, row func(T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, item := range items {
			if !yield(row(item)) {
				return
			}
		}
	}
}

// render prints a result in the chosen format, to standard output or --output:
//
//	json    v, an object, with schemaVersion and warnings
//	table   every section
//	ndjson  the rows of the first section with columns, or v on one line
//	csv, parquet  the same rows; without any, an error
func (a *app) render(v any, sections ...section) error {
	return a.toOutput(func(w io.Writer) error {
		rows := slices.IndexFunc(sections, func(s section) bool { return s.columns != nil })
		switch format := a.outputFormat(); {
		case format == "table":
			return a.printTables(w, sections)
		case format == "json" || format == "ndjson" && rows < 0:
			return a.printJSON(w, v, format == "json")
		case rows < 0:
			return fail(exitUsage, "this result has no rows for %s", format).hint("give --format json")
		default:
			return printRows(w, format, sections[rows])
		}
	})
}

// printRows prints rows in a form that has nothing besides.
func printRows(w io.Writer, format string, s section) error {
	switch format {
	case "ndjson":
		return printNDJSON(w, s)
	case "parquet":
		return columnar.Collect(s.columns, s.rows).WriteParquet(w)
	default:
		return printCSV(w, s)
	}
}

// outputFormat is the format asked for, else that of the file's name. A taste for
// tables in the environment or a file of settings is meant for a screen.
func (a *app) outputFormat() string {
	chosen := a.config.Output.Format
	if chosen == "table" && a.config.Origin("format").Layer != config.LayerFlag {
		chosen = ""
	}
	if chosen == "" && a.outputPath() != "" {
		switch ext := strings.TrimPrefix(filepath.Ext(a.outputPath()), "."); ext {
		case "csv", "ndjson", "parquet":
			return ext
		default:
			return "json"
		}
	}
	return a.format()
}

// needJSON refuses another form than JSON for a file that a later command reads.
func (a *app) needJSON(what string) error {
	if a.outputPath() != "" && a.outputFormat() != "json" {
		return fail(exitUsage, "%s is JSON, not %s", what, a.outputFormat()).hint("leave --format out, and name the file .json")
	}
	return nil
}

// outputPath returns --output, "" for standard output.
func (a *app) outputPath() string {
	if a.config.Output.File == "-" {
		return ""
	}
	return a.config.Output.File
}

// checkOutput refuses an --output that could not be written at the end, before
// anything is computed or spent.
func (a *app) checkOutput() error {
	path := a.outputPath()
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".html" || ext == ".htm":
		return fail(exitUsage, "--output %s would hold no page: it takes the result as data", path).
			hint("name a page by --report FILE where the command makes one, and data .json or .csv")
	case path != "":
		return a.checkFile(path)
	case a.tty.out && a.outputFormat() == "parquet":
		return fail(exitUsage, "%s cannot be shown on a terminal; nothing was spent", a.outputFormat()).hint("name a file by --output")
	}
	return nil
}

// checkFile refuses a file that create would refuse.
func (a *app) checkFile(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fail(exitNotFound, "no folder %s for the output", filepath.Dir(path)).hint("create it first")
	}
	if _, err := os.Lstat(path); err == nil && !a.config.Output.Force {
		return exists(path)
	}
	if err := disk.Replaceable(path); err != nil {
		return fail(exitValidation, "%s cannot be written: %w", path, err).hint("give another name; nothing was spent")
	}
	if err := disk.Room(filepath.Dir(path), 1); err != nil {
		return fail(exitValidation, "%s cannot be written: %w", path, err).hint("name a place that you may write to")
	}
	return nil
}

func exists(path string) error {
	return fail(exitConflict, "%w: %s", fs.ErrExist, path).hint("give --force to replace it, or another name").about("file", path)
}

func (a *app) toOutput(write func(io.Writer) error) error {
	a.clearProgress()
	if path := a.outputPath(); path != "" {
		if err := a.create(path, write); err != nil {
			return err
		}
		if a.tty.err { // a script needs no word of it
			a.note("Wrote %s.", path)
		}
		return nil
	}
	a.rendered = true
	return write(a.stdout)
}

// create writes a file whole or not at all. Without --force it replaces nothing,
// even if the file appears meanwhile. The umask decides who may read it; a secret
// is for its owner alone.
func (a *app) create(path string, write func(io.Writer) error) error {
	mode := os.FileMode(0o666)
	if a.secret {
		mode = 0o600
	}
	err := disk.Write(path, disk.Options{Mode: mode, Replace: a.config.Output.Force}, write)
	if errors.Is(err, fs.ErrExist) {
		return exists(path)
	}
	return err
}

func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// printJSON prints an object with schemaVersion first and warnings last. A file form,
// which has its own version, says what it is read back as, and takes no warnings in.
func (a *app) printJSON(w io.Writer, v any, indent bool) error {
	body, err := encode(v, false)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	inner, ok := bytes.CutPrefix(bytes.TrimSpace(body), []byte("{"))
	if !ok {
		return fmt.Errorf("encode result: %T is not an object", v)
	}
	head := fmt.Sprintf(`{"schemaVersion":%d`, schemaVersion)
	file := bytes.HasPrefix(inner, []byte(`"schemaVersion":`))
	switch {
	case file:
		head = "{"
	case !bytes.HasPrefix(inner, []byte("}")):
		head += ","
	}
	out := append([]byte(head), inner...)
	if len(a.warnings) > 0 && !file {
		list, err := encode(a.warnings, false)
		if err != nil {
			return err
		}
		out = fmt.Appendf(out[:len(out)-1], `,"warnings":%s}`, bytes.TrimSpace(list))
	}
	if out, err = encode(json.RawMessage(out), indent); err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// encode is JSON that leaves <, > and & readable and nothing that steers a
// terminal, with a line's end.
func encode(v any, indent bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	err := e.Encode(v)
	return escapeControl(b.Bytes()), err
}

func printNDJSON(w io.Writer, s section) error {
	for row := range s.rows {
		var b bytes.Buffer
		for i, name := range s.columns {
			key, err := encode(name, false)
			if err != nil {
				return err
			}
			value, err := encode(finite(row[i]), false)
			if err != nil {
				return err
			}
			b.WriteByte("{,"[min(i, 1)])
			b.Write(bytes.TrimSpace(key))
			b.WriteByte(':')
			b.Write(bytes.TrimSpace(value))
		}
		b.WriteString("}\n")
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// finite turns numbers that JSON does not have into null.
func finite(v any) any {
	if p, ok := v.(probability); ok {
		v = float64(p)
	}
	if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return nil
	}
	return v
}

// printCSV writes rows for a spreadsheet; the exact texts are in the other formats.
func printCSV(w io.Writer, s section) error {
	c := csv.NewWriter(w)
	if err := c.Write(s.columns); err != nil {
		return err
	}
	record := make([]string, len(s.columns))
	for row := range s.rows {
		for i, v := range row {
			record[i] = cell(v, -1)
			if !isNumber(v) {
				record[i] = spreadsheet(record[i])
			}
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// cell is a value as text; a float has so many digits, or all with -1.
func cell(v any, digits int) string {
	switch v := finite(v).(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', digits, 64)
	default:
		return fmt.Sprint(v)
	}
}

// printTables prints every section for a reader: the details only under --verbose.
func (a *app) printTables(w io.Writer, sections []section) error {
	var b bytes.Buffer
	for _, s := range sections {
		if s.detail && !a.verbose() || s.empty() {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		a.printSection(&b, s)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s section) empty() bool {
	return s.title == "" && s.answer == "" && s.text == "" && s.columns == nil && len(s.items) == 0
}

func (a *app) printSection(b *bytes.Buffer, s section) {
	coloured, width := a.colouredResult(), min(a.width, proseWidth)
	prose := func(text string, p paint) {
		for _, row := range wrapped(text, width) {
			b.WriteString(p.on(strings.TrimSuffix(row, "\n"), coloured) + "\n")
		}
	}
	prose(s.title, strong)
	prose(s.answer, strong)
	prose(s.text, plain)
	writeItems(b, s.items, width, coloured)
	switch {
	case s.columns == nil:
	case s.none != "" && !s.anyRow():
		prose(s.none, plain)
	default:
		b.WriteString(a.table(s))
	}
}

func (s section) anyRow() bool {
	for range s.rows {
		return true
	}
	return false
}

// item is a line of a list with a mark or a name before it, such as a check and how it
// went. What follows stands below its text.
type item struct {
	mark state
	text string
	more string // what to do; "": nothing
}

// writeItems aligns the texts behind their marks, none of which steers the terminal.
func writeItems(b *bytes.Buffer, items []item, width int, coloured bool) {
	depth, names := 0, make([]string, len(items))
	for k, it := range items {
		names[k] = visible(string(it.mark))
		depth = max(depth, uniseg.StringWidth(names[k])+2)
	}
	for j, it := range items {
		lines := wrap(visible(it.text), max(width-depth, minColumn))
		if it.more != "" {
			lines = append(lines, wrap(visible(it.more), max(width-depth, minColumn))...)
		}
		for k, line := range lines {
			mark := strings.Repeat(" ", depth)
			if k == 0 {
				mark = it.mark.paint().on(names[j], coloured) + pad("", depth-uniseg.StringWidth(names[j]), false)
			}
			b.WriteString(strings.TrimRight(mark+line, " ") + "\n")
		}
	}
}

// colouredResult reports whether the result is painted.
func (a *app) colouredResult() bool { return a.coloured(a.tty.out && a.outputPath() == "") }

// verbose reports whether the details are wanted.
func (a *app) verbose() bool { return a.config != nil && a.config.Terminal.Verbose }

// shownDigits is the precision of numbers in tables; the other formats keep all.
const shownDigits = 5

func isNumber(v any) bool {
	switch v.(type) {
	case int, int32, int64, uint64, float64, probability:
		return true
	}
	return false
}
