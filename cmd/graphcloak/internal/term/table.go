// SPDX-License-Identifier: Apache-2.0

package term

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// grid is a table as text, before it is laid out.
type grid struct {
	columns []string
	right   []bool // columns of numbers
	rows    [][]shown
}

// shown is a cell as text without control characters, and what it means.
type shown struct {
	text  string
	paint Paint
}

func (f Form) grid(s Section) grid {
	g := grid{columns: s.Columns, right: make([]bool, len(s.Columns))}
	for row := range s.Rows {
		cells := make([]shown, len(row))
		for i, v := range row {
			if len(g.rows) == 0 { // the first row shows what is a number
				g.right[i] = isNumber(v)
			}
			cells[i].text = Visible(Cell(v, Digits))
			switch v := v.(type) {
			case Probability:
				cells[i].text = v.text() + " " + bar(float64(v), barWidth)
			case State:
				cells[i].paint = v.paint()
			}
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// table lays a section out: side by side where the screen has the width for it, if need be with the widest text in lines,
// else one record below the other. Nothing is cut.
func (f Form) table(s Section) string {
	g := f.grid(s)
	if widths := g.fitting(f.Limit); widths != nil {
		return g.boxed(widths, f)
	}
	return g.records(f)
}

// leastFold is how narrow a column of text may become for a screen, where its words have room.
const leastFold = 10

// fitting returns the widths of columns for a screen, if need be with the widest text that can stand in lines doing so; nil
// where it has no room for a box.
func (g grid) fitting(limit int) []int {
	widths := make([]int, len(g.columns))
	for i, name := range g.columns {
		widths[i] = uniseg.StringWidth(name)
	}
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(c.text))
		}
	}
	excess := boxWidth(widths) - limit
	if limit <= 0 || excess <= 0 {
		return widths
	}
	var texts []int
	for i, right := range g.right {
		if !right {
			texts = append(texts, i)
		}
	}
	slices.SortStableFunc(texts, func(i, j int) int { return cmp.Compare(widths[j], widths[i]) })
	for _, i := range texts {
		if g.folds(i, widths[i]-excess) {
			widths[i] -= excess
			return widths
		}
	}
	return nil
}

// folds reports whether the text of a column can stand in lines of a width, without a word that is broken.
func (g grid) folds(column, width int) bool {
	return width >= max(leastFold, uniseg.StringWidth(g.columns[column])) &&
		!slices.ContainsFunc(g.rows, func(row []shown) bool {
			return slices.ContainsFunc(Wrap(row[column].text, width), func(line string) bool { return uniseg.StringWidth(line) > width })
		})
}

// boxWidth is the width of a box around columns, three for each and one at the end.
func boxWidth(widths []int) int {
	total := 1
	for _, w := range widths {
		total += w + 3
	}
	return total
}

// boxed draws a box.
func (g grid) boxed(widths []int, f Form) string {
	edges, rule, wall := [3]string{"┌┬┐", "├┼┤", "└┴┘"}, "─", "│"
	var b strings.Builder
	line := func(edge string) {
		ends := []rune(edge)
		parts := make([]string, len(widths))
		for i, w := range widths {
			parts[i] = strings.Repeat(rule, w+2)
		}
		b.WriteString(string(ends[0]) + strings.Join(parts, string(ends[1])) + string(ends[2]) + "\n")
	}
	cells := func(row []shown) {
		texts := make([][]string, len(row))
		height := 1
		for i, c := range row {
			texts[i] = []string{c.text}
			if uniseg.StringWidth(c.text) > widths[i] {
				texts[i] = Wrap(c.text, widths[i])
			}
			height = max(height, len(texts[i]))
		}
		for k := range height {
			for i, c := range row {
				text := ""
				if k < len(texts[i]) {
					text = texts[i][k]
				}
				b.WriteString(wall + " " + c.paint.on(pad(text, widths[i], g.right[i]), f.Colour) + " ")
			}
			b.WriteString(wall + "\n")
		}
	}
	header := make([]shown, len(g.columns))
	for i, name := range g.columns {
		header[i] = shown{text: name}
	}
	line(edges[0])
	cells(header)
	line(edges[1])
	for _, row := range g.rows {
		cells(row)
	}
	line(edges[2])
	return b.String()
}

// records are the rows as blocks of `label: value`, without what is empty. Two columns are a name and its value already.
func (g grid) records(f Form) string {
	var b strings.Builder
	if len(g.columns) == 2 {
		var names []string
		var cells []shown
		for _, row := range g.rows {
			names, cells = append(names, row[0].text), append(cells, row[1])
		}
		f.record(&b, names, cells)
		return b.String()
	}
	for k, row := range g.rows {
		if k > 0 {
			b.WriteByte('\n')
		}
		f.record(&b, g.columns, row)
	}
	return b.String()
}

// below is the indentation of a value that stands below its name.
const below = 2

func (f Form) record(b *strings.Builder, names []string, cells []shown) {
	depth := 0
	for i, name := range names {
		if cells[i].text != "" {
			depth = max(depth, uniseg.StringWidth(name)+2)
		}
	}
	for i, name := range names {
		text := strings.TrimRight(cells[i].text, " ")
		if text == "" {
			continue
		}
		widest := 0 // part of it that no line breaks
		for word := range strings.FieldsSeq(text) {
			widest = max(widest, uniseg.StringWidth(word))
		}
		room, margin, label := max(f.Limit-depth, minColumn), depth, pad(name+":", depth, false)
		if widest > room && below+widest <= f.Limit { // a digest, say, stands below its name
			b.WriteString(name + ":\n")
			room, margin, label = f.Limit-below, below, pad("", below, false)
		}
		for _, line := range Wrap(text, room) {
			b.WriteString(label + cells[i].paint.on(line, f.Colour) + "\n")
			label = pad("", margin, false)
		}
	}
}
