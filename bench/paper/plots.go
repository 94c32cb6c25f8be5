// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of Okabe and Ito, which colour-blind readers tell apart; red and blue as in
// the paper's figures first.
var palette = []color.NRGBA{
	{0xd5, 0x5e, 0x00, 0xff},
	{0x00, 0x72, 0xb2, 0xff},
	{0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff},
	{0x56, 0xb4, 0xe9, 0xff},
	{0x00, 0x00, 0x00, 0xff},
}

var pale = color.NRGBA{0x80, 0x80, 0x80, 0x28}

// curve is a line of a plot.
type curve struct {
	name   string
	x, y   []float64
	dashed bool
	points bool
}

func xys(x, y []float64) plotter.XYs {
	out := make(plotter.XYs, len(x))
	for i := range x {
		out[i].X, out[i].Y = x[i], y[i]
	}
	return out
}

// panel is one diagram of a plot.
type panel struct {
	title, x, y string
	logarithmic bool
	top         float64 // of the values from 0; 0: as they are
	curves      []curve
}

// plot draws panels side by side.
func (r *runner) plot(name, caption string, panels ...panel) error {
	out := Plot{Name: name, Caption: caption}
	for _, p := range panels {
		drawn, err := p.draw()
		if err != nil {
			return err
		}
		out.Panels = append(out.Panels, drawn)
	}
	r.Plots = append(r.Plots, out)
	return nil
}

// draw draws the curves with a legend.
func (a panel) draw() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = a.title, a.x, a.y
	p.BackgroundColor = color.White
	p.Legend.Top = true
	if a.logarithmic {
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	}
	for i, c := range a.curves {
		if len(c.x) == 0 {
			continue
		}
		l, s, err := plotter.NewLinePoints(xys(c.x, c.y))
		if err != nil {
			return nil, err
		}
		l.Width, l.Color = vg.Points(1.4), palette[i%len(palette)]
		if c.dashed {
			l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(l)
		p.Legend.Add(c.name, l)
		if c.points {
			s.Radius, s.Color, s.Shape = vg.Points(2.2), palette[i%len(palette)], draw.CircleGlyph{}
			p.Add(s)
		}
	}
	if a.logarithmic && p.Y.Max > p.Y.Min {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, .15*float64(len(a.curves))) // room for the legend
	}
	if a.top > 0 {
		p.Y.Min, p.Y.Max = 0, a.top
	}
	return p, nil
}

// decades marks 1, 2 and 5 of each power of ten, and labels them where there are few.
func decades(low, high float64) []plot.Tick {
	var out []plot.Tick
	few := high/low < 200
	for k := math.Floor(math.Log10(low)); k <= math.Ceil(math.Log10(high)); k++ {
		for _, d := range []float64{1, 2, 5} {
			v, label := d*math.Pow(10, k), ""
			if d == 1 || few {
				label = strconv.FormatFloat(v, 'g', 5, 64)
			}
			if v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				out = append(out, plot.Tick{Value: v, Label: label})
			}
		}
	}
	return out
}
