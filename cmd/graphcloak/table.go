// SPDX-License-Identifier: Apache-2.0

package main

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
	paint paint
}

func (a *app) grid(s section) grid {
	g := grid{columns: s.columns}
	for row := range s.rows {
		if g.right == nil {
			for _, v := range row { // the first row shows what is a number
				g.right = append(g.right, isNumber(v))
			}
		}
		cells := make([]shown, len(row))
		for i, v := range row {
			cells[i] = shown{text: visible(cell(v, shownDigits))}
			switch v := v.(type) {
			case probability:
				cells[i].text = v.text() + " " + drawBar(float64(v), barWidth, a.ascii)
			case state:
				cells[i].paint = v.paint()
			}
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// table lays a section out: side by side where the screen has the width for it, if need
// be with the widest text in lines, then in the columns of its narrow form, else one record
// below the other. Nothing is cut.
func (a *app) table(s section) string {
	g, coloured := a.grid(s), a.colouredResult()
	lines := lightLines
	if a.ascii {
		lines = asciiLines
	}
	limit := a.tableLimit()
	if widths := g.fitting(limit); widths != nil {
		return g.boxed(widths, lines, coloured)
	}
	if s.narrow != nil && !a.verbose() {
		short := a.grid(*s.narrow)
		if widths := short.fitting(limit); widths != nil {
			return short.boxed(widths, lines, coloured) + strings.Join(wrapped(s.narrow.text, min(limit, proseWidth)), "")
		}
	}
	return g.records(limit, coloured)
}

// fitting returns the widths of columns for a screen; nil where it has no room for a box.
func (g grid) fitting(limit int) []int {
	widths := g.widths()
	if limit > 0 && boxWidth(widths) > limit {
		return g.squeezed(widths, limit)
	}
	return widths
}

// squeezed returns the widths of a table whose widest text that can stand in lines does so,
// as narrow as the screen wants; nil where every one would be too narrow or break a word.
func (g grid) squeezed(widths []int, limit int) []int {
	var texts []int
	for i := range widths {
		if g.right == nil || !g.right[i] {
			texts = append(texts, i)
		}
	}
	slices.SortStableFunc(texts, func(i, j int) int { return cmp.Compare(widths[j], widths[i]) })
	for _, i := range texts {
		if narrow := widths[i] - (boxWidth(widths) - limit); g.folds(i, narrow) {
			widths = slices.Clone(widths)
			widths[i] = narrow
			return widths
		}
	}
	return nil
}

// leastFold is how narrow a column of text may become for a screen, where its words have room.
const leastFold = 10

// folds reports whether the text of a column can stand in lines of a width.
func (g grid) folds(column, width int) bool {
	if width < max(leastFold, uniseg.StringWidth(g.columns[column])) {
		return false
	}
	for _, row := range g.rows {
		for _, line := range wrap(row[column].text, width) {
			if uniseg.StringWidth(line) > width {
				return false
			}
		}
	}
	return true
}

// tableLimit is the width that a table may have; 0: any, for what goes to a file or
// another program is not cut for a screen.
func (a *app) tableLimit() int {
	if a.outputPath() != "" {
		return 0
	}
	return a.screen
}

func (g grid) widths() []int {
	widths := make([]int, len(g.columns))
	for i, name := range g.columns {
		widths[i] = uniseg.StringWidth(name)
	}
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(c.text))
		}
	}
	return widths
}

// boxWidth is the width of a box around columns, three for each and one at the end.
func boxWidth(widths []int) int {
	total := 1
	for _, w := range widths {
		total += w + 3
	}
	return total
}

// boxLines are the corners of a box by row, its rule, and what stands between cells.
type boxLines struct {
	top, middle, bottom [3]string
	rule, wall          string
}

var (
	lightLines = boxLines{[3]string{"┌", "┬", "┐"}, [3]string{"├", "┼", "┤"}, [3]string{"└", "┴", "┘"}, "─", "│"}
	asciiLines = boxLines{[3]string{"+", "+", "+"}, [3]string{"+", "+", "+"}, [3]string{"+", "+", "+"}, "-", "|"}
)

func (g grid) boxed(widths []int, lines boxLines, coloured bool) string {
	var b strings.Builder
	rule := func(ends [3]string) {
		parts := make([]string, len(widths))
		for i, w := range widths {
			parts[i] = strings.Repeat(lines.rule, w+2)
		}
		b.WriteString(ends[0] + strings.Join(parts, ends[1]) + ends[2] + "\n")
	}
	line := func(cells []shown) {
		texts := make([][]string, len(cells))
		height := 1
		for i, c := range cells {
			texts[i] = []string{c.text}
			if uniseg.StringWidth(c.text) > widths[i] {
				texts[i] = wrap(c.text, widths[i])
			}
			height = max(height, len(texts[i]))
		}
		for k := range height {
			for i, c := range cells {
				text := ""
				if k < len(texts[i]) {
					text = texts[i][k]
				}
				b.WriteString(lines.wall + " " + c.paint.on(pad(text, widths[i], g.right != nil && g.right[i]), coloured) + " ")
			}
			b.WriteString(lines.wall + "\n")
		}
	}
	header := make([]shown, len(g.columns))
	for i, name := range g.columns {
		header[i] = shown{text: name}
	}
	rule(lines.top)
	line(header)
	rule(lines.middle)
	for _, row := range g.rows {
		line(row)
	}
	rule(lines.bottom)
	return b.String()
}

// records are the rows as blocks of `label: value`, without what is empty. Two columns
// are a name and its value already.
func (g grid) records(width int, coloured bool) string {
	var b strings.Builder
	if len(g.columns) == 2 {
		var names []string
		var cells []shown
		for _, row := range g.rows {
			names, cells = append(names, row[0].text), append(cells, row[1])
		}
		writeRecord(&b, names, cells, width, coloured)
		return b.String()
	}
	for k, row := range g.rows {
		if k > 0 {
			b.WriteByte('\n')
		}
		writeRecord(&b, g.columns, row, width, coloured)
	}
	return b.String()
}

func writeRecord(b *strings.Builder, names []string, cells []shown, width int, coloured bool) {
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
		room, margin, label := max(width-depth, minColumn), depth, pad(name+":", depth, false)
		if w := widestWord(text); w > room && below+w <= width { // a digest, say, stands below its name
			b.WriteString(name + ":\n")
			room, margin, label = width-below, below, pad("", below, false)
		}
		for _, line := range wrap(text, room) {
			b.WriteString(label + cells[i].paint.on(line, coloured) + "\n")
			label = pad("", margin, false)
		}
	}
}

// below is the indentation of a value that stands below its name.
const below = 2

// widestWord is the width of the widest part of a text that no line breaks.
func widestWord(text string) int {
	widest := 0
	for word := range strings.FieldsSeq(text) {
		widest = max(widest, uniseg.StringWidth(word))
	}
	return widest
}

// minColumn is the least width that text is wrapped to.
const minColumn = 20
