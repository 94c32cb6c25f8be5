// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/graphcloak/graphcloak/report/page"
)

// File is one of the files of a reproduction.
type File struct {
	Name    string
	Content []byte
}

//go:embed page.html
var templates embed.FS

// Files makes NAME.csv of every table, NAME.png and NAME.svg of every plot, claims.csv,
// and index.html, which shows all of them and needs nothing else. about says how it
// was made.
func Files(results []*Result, about string) ([]File, error) {
	var out []File
	claims := Table{Name: "claims", Columns: []string{"exhibit", "statement", "printed", "printedHolds", "true", "trueHolds", "found"}}
	exhibits := pageData{About: about}
	for _, r := range results {
		s := pageSection{Result: r}
		for _, c := range r.Claims {
			claims.add(r.Name, c.Statement, c.Printed, c.asPrinted(), c.True, c.TrueHolds, c.Found)
		}
		for _, t := range r.Tables {
			out = append(out, File{t.Name + ".csv", t.csv()})
		}
		for _, p := range r.Plots {
			png, svg, err := p.draw()
			if err != nil {
				return nil, fmt.Errorf("draw %s: %w", p.Name, err)
			}
			out = append(out, File{p.Name + ".png", png}, File{p.Name + ".svg", svg})
			s.Pictures = append(s.Pictures, pagePicture{p.Caption, inline(svg)})
		}
		exhibits.Sections = append(exhibits.Sections, s)
	}
	out = append(out, File{"claims.csv", claims.csv()})
	html, err := exhibits.render()
	return append(out, File{"index.html", html}), err
}

// asPrinted says whether the printed form holds: yes, no, or "" where there is none.
func (c Claim) asPrinted() string {
	switch {
	case c.Printed == "":
		return ""
	case c.PrintedHolds:
		return "yes"
	}
	return "no"
}

func text(v any) string {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) { // a number that there is none of
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// short is text with six digits, for reading.
func short(v any) string {
	if x, ok := v.(float64); ok && !math.IsNaN(x) {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	return text(v)
}

func (t *Table) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(t.Columns) // a buffer takes everything
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = text(v)
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

const panelWidth, panelHeight = 11 * vg.Centimeter, 8.5 * vg.Centimeter

// draw returns the panels side by side, as PNG and as SVG.
func (p Plot) draw() (png, svg []byte, err error) {
	width := panelWidth * vg.Length(len(p.Panels))
	img := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, panelHeight), vgimg.UseDPI(144))}
	p.onto(draw.New(img))
	var b bytes.Buffer
	if _, err := img.WriteTo(&b); err != nil {
		return nil, nil, err
	}
	vector := vgsvg.New(width, panelHeight)
	p.onto(draw.New(vector))
	var s bytes.Buffer
	if _, err := vector.WriteTo(&s); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), s.Bytes(), nil
}

func (p Plot) onto(c draw.Canvas) {
	const pad = 4 * vg.Millimeter
	tiles := draw.Tiles{Rows: 1, Cols: len(p.Panels), PadX: pad, PadRight: pad, PadTop: pad / 2, PadBottom: pad / 2, PadLeft: pad / 2}
	for i, at := range plot.Align([][]*plot.Plot{p.Panels}, tiles, c)[0] {
		p.Panels[i].Draw(at)
	}
}

// inline strips what stands before <svg: a document's head has no place in a page.
func inline(svg []byte) template.HTML {
	_, body, _ := strings.Cut(string(svg), "<svg")
	return template.HTML("<svg" + body)
}

type pageData struct {
	About    string
	Sections []pageSection
}

type pageSection struct {
	*Result
	Pictures []pagePicture
}

type pagePicture struct {
	Caption string
	SVG     template.HTML
}

func (p pageData) render() ([]byte, error) {
	t, err := template.New("page.html").Funcs(template.FuncMap{
		"style": page.Style, "short": short,
		"few": func(t Table) bool { return len(t.Rows) <= 40 }, "holds": Claim.asPrinted,
	}).ParseFS(templates, "page.html")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}
