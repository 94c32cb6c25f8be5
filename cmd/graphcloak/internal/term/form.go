// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/graphcloak/graphcloak/internal/columnar"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// Write writes a result:
//
//	json    v, an object, with schemaVersion and warnings
//	table   every section
//	ndjson  the rows of the first section with columns, or v on one line
//	csv, parquet  the same rows; without any, [ErrNoRows]
func (f Form) Write(w io.Writer, v any, sections ...Section) error {
	k := slices.IndexFunc(sections, func(s Section) bool { return s.Columns != nil })
	switch {
	case f.Name == "table":
		return f.tables(w, sections)
	case f.Name == "json" || f.Name == "ndjson" && k < 0:
		return f.json(w, v)
	case k < 0:
		return fmt.Errorf("%w %s", ErrNoRows, f.Name)
	}
	s := sections[k]
	switch f.Name {
	case "ndjson":
		return writeNDJSON(w, s)
	case "parquet":
		return columnar.Collect(s.Columns, s.Rows).WriteParquet(w)
	}
	return writeCSV(w, s)
}

// SchemaVersion is that of the JSON envelope; it changes when a field changes its meaning or goes away.
const SchemaVersion = 1

// json prints an object with schemaVersion first and warnings last. A file form, which has its own version, says what it is
// read back as, and takes no warnings in.
func (f Form) json(w io.Writer, v any) error {
	text, err := body(v)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	inner, ok := bytes.CutPrefix(text[0], []byte("{"))
	if !ok {
		return fmt.Errorf("encode result: %T is not an object", v)
	}
	if !bytes.HasPrefix(inner, []byte(`"schemaVersion":`)) {
		head := fmt.Sprintf(`{"schemaVersion":%d`, SchemaVersion)
		if !bytes.HasPrefix(inner, []byte("}")) {
			head += ","
		}
		text[0] = append([]byte(head), inner...)
		if last := &text[len(text)-1]; len(f.Warnings) > 0 {
			list, err := JSON(f.Warnings, false)
			if err != nil {
				return err
			}
			*last = fmt.Appendf((*last)[:len(*last)-1], `,"warnings":%s}`, bytes.TrimSpace(list))
		}
	}
	var indent string
	if f.Name == "json" {
		indent = "  "
	}
	return strictjson.Print(JSONWriter{w}, text, indent)
}

// body is v as JSON. What marshals itself is not copied: a plan may have gigabytes, and comes in pieces.
func body(v any) (strictjson.Pieces, error) {
	switch v := v.(type) {
	case interface {
		File() (strictjson.Pieces, error)
	}:
		return v.File()
	case json.Marshaler:
		text, err := v.MarshalJSON()
		return strictjson.Pieces{text}, err
	}
	text, err := JSON(v, false)
	return strictjson.Pieces{bytes.TrimSpace(text)}, err
}

// JSON is a text that leaves <, > and & readable and nothing that steers a terminal, with a line's end.
func JSON(v any, indent bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	err := e.Encode(v)
	return escaped(b.Bytes()), err
}

func writeNDJSON(w io.Writer, s Section) error {
	for row := range s.Rows {
		var b bytes.Buffer
		for i, name := range s.Columns {
			key, err := JSON(name, false)
			if err != nil {
				return err
			}
			value, err := JSON(finite(row[i]), false)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%c%s:%s", "{,"[min(i, 1)], bytes.TrimSpace(key), bytes.TrimSpace(value))
		}
		b.WriteString("}\n")
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes rows for a spreadsheet; the exact texts are in the other formats.
func writeCSV(w io.Writer, s Section) error {
	c := csv.NewWriter(w)
	if err := c.Write(s.Columns); err != nil {
		return err
	}
	record := make([]string, len(s.Columns))
	for row := range s.Rows {
		for i, v := range row {
			record[i] = Cell(v, -1)
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

// tables prints every section for a reader: the details only under --verbose.
func (f Form) tables(w io.Writer, sections []Section) error {
	var b strings.Builder
	for _, s := range sections {
		empty := s.Answer == "" && s.Text == "" && s.Columns == nil && len(s.Items) == 0 // a title is that of something
		if s.Detail && !f.Verbose || empty {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		f.section(&b, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f Form) section(b *strings.Builder, s Section) {
	prose := func(text string, p Paint) {
		for _, row := range wrapped(text, min(f.Width, ProseWidth)) {
			b.WriteString(p.on(row, f.Colour) + "\n")
		}
	}
	prose(s.Title, Strong)
	prose(s.Answer, Strong)
	prose(s.Text, Plain)
	f.items(b, s.Items)
	if s.Columns == nil {
		return
	}
	if s.None != "" {
		any := false
		for range s.Rows {
			any = true
			break
		}
		if !any {
			prose(s.None, Plain)
			return
		}
	}
	b.WriteString(f.table(s))
}

// items aligns the texts behind their marks.
func (f Form) items(b *strings.Builder, items []Item) {
	depth := 0
	for _, it := range items {
		depth = max(depth, uniseg.StringWidth(Visible(string(it.Mark)))+2)
	}
	width := max(min(f.Width, ProseWidth)-depth, minColumn)
	for _, it := range items {
		lines := Wrap(Visible(it.Text), width)
		if it.More != "" {
			lines = append(lines, Wrap(Visible(it.More), width)...)
		}
		name := Visible(string(it.Mark))
		mark := it.Mark.paint().on(name, f.Colour) + pad("", depth-uniseg.StringWidth(name), false)
		for _, line := range lines {
			b.WriteString(strings.TrimRight(mark+line, " ") + "\n")
			mark = pad("", depth, false)
		}
	}
}
