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

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/disk"
)

// schemaVersion is that of the JSON envelope; it changes when a field changes
// its meaning or goes away.
const schemaVersion = 1

// section is a part of a result: prose, a table, or both under a title.
type section struct {
	title   string
	text    string   // shown in the table format only
	columns []string // camelCase; none: no table
	rows    iter.Seq[[]any]
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
//	csv     the same rows; without any, an error
func (a *app) render(v any, sections ...section) error {
	return a.toOutput(func(w io.Writer) error {
		rows := slices.IndexFunc(sections, func(s section) bool { return s.columns != nil })
		switch format := a.outputFormat(); {
		case format == "table":
			return a.printTables(w, sections)
		case format == "json" || format == "ndjson" && rows < 0:
			return a.printJSON(w, v, format == "json")
		case rows < 0:
			return fail(exitUsage, "this result has no rows for csv").hint("give --format json")
		case format == "ndjson":
			return printNDJSON(w, sections[rows])
		default:
			return printCSV(w, sections[rows])
		}
	})
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
		case "csv", "ndjson":
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
	if path == "" {
		return nil
	}
	return a.checkFile(path)
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
		return a.create(path, write)
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

// printTables prints every section for a reader.
func (a *app) printTables(w io.Writer, sections []section) error {
	var b bytes.Buffer
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		if s.title != "" {
			title := stripControl(s.title)
			if a.coloured(a.tty.out && a.outputPath() == "") {
				title = "\x1b[1m" + title + "\x1b[0m"
			}
			b.WriteString(title + "\n")
		}
		if s.text != "" {
			for line := range strings.Lines(s.text) {
				for row := range strings.SplitSeq(text.WrapSoft(stripControl(strings.TrimSuffix(line, "\n")), min(a.width, 100)), "\n") {
					b.WriteString(strings.TrimRight(row, " ") + "\n")
				}
			}
		}
		if s.columns != nil {
			b.WriteString(a.table(s) + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// shownDigits is the precision of numbers in tables; the other formats keep all.
const shownDigits = 5

func (a *app) table(s section) string {
	t := table.NewWriter()
	style := table.StyleLight
	if os.Getenv("TERM") == "dumb" {
		style = table.StyleDefault
	}
	style.Format.Header = text.FormatDefault
	style.Options.SeparateRows = false
	t.SetStyle(style)
	if a.tty.out {
		t.Style().Size.WidthMax = a.width
	}
	header := make(table.Row, len(s.columns))
	for i, name := range s.columns {
		header[i] = name
	}
	t.AppendHeader(header)
	aligned := false
	for row := range s.rows {
		cells := make(table.Row, len(row))
		for i, v := range row {
			cells[i] = stripControl(cell(v, shownDigits))
		}
		t.AppendRow(cells)
		if !aligned {
			t.SetColumnConfigs(alignment(row))
			aligned = true
		}
	}
	return t.Render()
}

// alignment sets numbers to the right, as the first row shows them.
func alignment(row []any) []table.ColumnConfig {
	columns := make([]table.ColumnConfig, len(row))
	for i, v := range row {
		columns[i] = table.ColumnConfig{Number: i + 1}
		if isNumber(v) {
			columns[i].Align = text.AlignRight
			columns[i].AlignHeader = text.AlignRight
		}
	}
	return columns
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int32, int64, uint64, float64:
		return true
	}
	return false
}
