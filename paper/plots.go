// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graphcloak/graphcloak/privacy"
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

// figure1Plot is the paper's: f₀ and f̂ over [0, 1].
func (r *runner) figure1Plot(v interval, f []float64, all [][]attempt) error {
	x := make([]float64, v.n)
	for i := range x {
		x[i] = float64(i+1) / float64(v.n)
	}
	estimate := func(title string, rule int) panel {
		out := panel{title, "place", "heat of the source", false, 1.3, []curve{{name: "sources", x: x, y: f}}}
		for k, trial := range all {
			if a := trial[rule]; a.answer && a.f != nil {
				out.curves = append(out.curves, curve{name: fmt.Sprintf("estimate, trial %d", k+1), x: x, y: a.f, dashed: true})
				break
			}
		}
		return out
	}
	return r.plot("figure-1", "The sources f₀ (line) and the estimate f̂ (dashed) of the first trial that has an answer.",
		estimate("the paper's radius σ√m", 0), estimate("default radius", len(all[0])-1))
}

func (r *runner) figure2Plot(ms, byM, ns, byN, ts, byT []float64) error {
	// against draws computed values with powers of x beside them.
	against := func(letter, by string, x, y []float64, powers ...curve) panel {
		list := append([]curve{{name: "computed", x: x, y: y, points: true}}, powers...)
		return panel{fmt.Sprintf("(%s) dependence on %s", letter, by), by, "Δ₂(A)", true, 0, list}
	}
	power := func(name string, x []float64, c, power float64) curve {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = c * math.Pow(x[i], power)
		}
		return curve{name: name, x: x, y: y, dashed: true}
	}
	last := func(y []float64) float64 { return y[len(y)-1] }
	scale := math.Sqrt(500) / 1000
	return r.plot("figure-2", "Δ₂(A) at α = 1/n. Unless varied, m = 500 and t = 0.1; n = 500 in (a), n = 1000 in (c).",
		against("a", "m", ms, byM, power("as √m", ms, last(byM)/math.Sqrt(last(ms)), .5)),
		against("b", "n", ns, byN, power("as 1/n", ns, last(byN)*last(ns), -1)),
		against("c", "t", ts, byT, power(fmt.Sprintf("%.4f·√m/(n·t^0.75)", smallT), ts, smallT*scale, -.75),
			power(fmt.Sprintf("%.4f·√m/(n·t^1.5)", largeT), ts, largeT*scale, -1.5)))
}

func (r *runner) table1Plot(found []measured) error {
	var panels []panel
	for _, sweep := range []string{"n", "m", "T"} {
		p := panel{title: "EMD against " + sweep, x: sweep, y: "mean EMD", logarithmic: true}
		for _, private := range []bool{true, false} {
			for _, sources := range []int{1, 2} {
				c := curve{name: fmt.Sprintf("%d, fixed σ", sources), points: true, dashed: !private}
				if private {
					c.name = fmt.Sprintf("%d, private σ", sources)
				}
				x, y := series(found, sweep, sources, private)
				for i := range x {
					if y[i] > 0 {
						c.x, c.y = append(c.x, x[i]), append(c.y, y[i])
					}
				}
				p.curves = append(p.curves, c)
			}
		}
		panels = append(panels, p)
	}
	return r.plot("table-1", "Mean EMD of the default radius, one parameter varied from n = 100, m = 50, T = 0.05.", panels...)
}

// cellsPlot draws the rate over τ for the methods, by model, with the exact
// calibration.
func (r *runner) cellsPlot(cells []*cell) error {
	if r.Quick {
		return nil // one τ makes no curve
	}
	var panels []panel
	for _, model := range blockModels[1:] {
		p := panel{title: model.name, x: "τ", y: "right", top: 1.4} // room for the legend
		for i, m := range methods() {
			c := curve{name: m, points: true}
			for _, x := range cells {
				if x.model.name == model.name && x.calibration == (privacy.Analytic{}) {
					_, right, _, _ := x.score(i)
					c.x, c.y = append(c.x, x.tau), append(c.y, float64(right)/float64(len(x.trials)))
				}
			}
			p.curves = append(p.curves, c)
		}
		panels = append(panels, p)
	}
	return r.plot("figure-graph-tau", "Rate of right answers over τ with the exact calibration; a trial without an answer counts as wrong.",
		panels...)
}

// sunflower places node k of n in a disc of radius √n at golden angles.
func sunflower(k int) (x, y float64) {
	angle := float64(k) * math.Pi * (3 - math.Sqrt(5))
	return math.Sqrt(float64(k)) * math.Cos(angle), math.Sqrt(float64(k)) * math.Sin(angle)
}

// graphPlot draws the communities as discs, nodes coloured by their posterior.
func (r *runner) graphPlot(s *picture) error {
	n := s.g.Order()
	at := make(plotter.XYs, n)
	seen := map[int]int{}
	for i := range n {
		b := s.block[i]
		x, y := sunflower(seen[b])
		seen[b]++
		at[i].X, at[i].Y = x+float64(b)*40, y
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("posterior: %.3f left, %.3f right; the source is the ring", s.groups[0], s.groups[1])
	p.BackgroundColor = color.White
	p.HideAxes()
	for e := range s.g.Edges() {
		l, err := plotter.NewLine(plotter.XYs{at[e.U], at[e.V]})
		if err != nil {
			return err
		}
		l.Color, l.Width = pale, vg.Points(.2)
		p.Add(l)
	}
	nodes, err := plotter.NewScatter(at)
	if err != nil {
		return err
	}
	top := floats.Max(s.nodes)
	nodes.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		return draw.GlyphStyle{Color: heat(s.nodes[i] / top), Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}
	}
	ring, err := plotter.NewScatter(at[s.source : s.source+1])
	if err != nil {
		return err
	}
	ring.GlyphStyle = draw.GlyphStyle{Color: color.Black, Radius: vg.Points(5), Shape: draw.RingGlyph{}}
	p.Add(nodes, ring)
	r.Plots = append(r.Plots, Plot{
		Name: "figure-graph", Caption: "A block model as the caption means it, τ = 2, ε = 4, δ = 0.1, the first trial: nodes coloured " +
			"by their posterior probability of being the source.",
		Panels: []*plot.Plot{p},
	})
	return nil
}

// heat runs from pale yellow to dark red, by lightness too.
func heat(x float64) color.Color {
	mix := func(a, b float64) uint8 { return uint8(math.Round(a + (b-a)*math.Sqrt(x))) }
	return color.NRGBA{mix(0xf4, 0x8c), mix(0xe8, 0x0a), mix(0xc0, 0x1e), 0xff}
}
