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

// lines draws curves with a legend.
func lines(title, x, y string, logarithmic bool, curves ...curve) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.BackgroundColor = color.White
	p.Legend.Top = true
	if logarithmic {
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	}
	for i, c := range curves {
		if len(c.x) == 0 {
			continue
		}
		l, err := plotter.NewLine(xys(c.x, c.y))
		if err != nil {
			return nil, err
		}
		l.Width, l.Color = vg.Points(1.4), palette[i%len(palette)]
		if c.dashed {
			l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(l)
		if c.name != "" {
			p.Legend.Add(c.name, l)
		}
		if !c.points {
			continue
		}
		s, err := plotter.NewScatter(xys(c.x, c.y))
		if err != nil {
			return nil, err
		}
		s.Radius, s.Color, s.Shape = vg.Points(2.2), palette[i%len(palette)], draw.CircleGlyph{}
		p.Add(s)
	}
	if logarithmic && p.Y.Max > p.Y.Min {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, .15*float64(len(curves))) // room for the legend
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
func figure1Plot(v interval, f []float64, all [][]attempt) (Plot, error) {
	x := make([]float64, v.n)
	for i := range x {
		x[i] = float64(i+1) / float64(v.n)
	}
	panels := []struct {
		title string
		rule  int
	}{{"the paper's radius σ√m", 0}, {"default radius", len(all[0]) - 1}}
	out := Plot{Name: "figure-1", Caption: "The sources f₀ (line) and the estimate f̂ (dashed) of the first trial that has an answer."}
	for _, panel := range panels {
		curves := []curve{{name: "sources", x: x, y: f}}
		for k, trial := range all {
			if a := trial[panel.rule]; a.answer && a.f != nil {
				curves = append(curves, curve{name: fmt.Sprintf("estimate, trial %d", k+1), x: x, y: a.f, dashed: true})
				break
			}
		}
		p, err := lines(panel.title, "place", "heat of the source", false, curves...)
		if err != nil {
			return out, err
		}
		p.Y.Min, p.Y.Max = 0, 1.3
		out.Panels = append(out.Panels, p)
	}
	return out, nil
}

func (r *runner) figure2Plot(ms, byM, ns, byN, ts, byT []float64) error {
	reference := func(x []float64, c, power float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = c * math.Pow(x[i], power)
		}
		return y
	}
	last := func(y []float64) float64 { return y[len(y)-1] }
	a, err := lines("(a) dependence on m", "m", "Δ₂(A)", true,
		curve{name: "computed", x: ms, y: byM, points: true},
		curve{name: "as √m", x: ms, y: reference(ms, last(byM)/math.Sqrt(last(ms)), .5), dashed: true})
	if err != nil {
		return err
	}
	b, err := lines("(b) dependence on n", "n", "Δ₂(A)", true,
		curve{name: "computed", x: ns, y: byN, points: true},
		curve{name: "as 1/n", x: ns, y: reference(ns, last(byN)*last(ns), -1), dashed: true})
	if err != nil {
		return err
	}
	scale := math.Sqrt(500) / 1000
	c, err := lines("(c) dependence on t", "t", "Δ₂(A)", true,
		curve{name: "computed", x: ts, y: byT, points: true},
		curve{name: fmt.Sprintf("%.4f·√m/(n·t^0.75)", smallT), x: ts, y: reference(ts, smallT*scale, -.75), dashed: true},
		curve{name: fmt.Sprintf("%.4f·√m/(n·t^1.5)", largeT), x: ts, y: reference(ts, largeT*scale, -1.5), dashed: true})
	if err != nil {
		return err
	}
	r.Plots = append(r.Plots, Plot{
		Name: "figure-2", Caption: "Δ₂(A) at α = 1/n. Unless varied, m = 500 and t = 0.1; n = 500 in (a), n = 1000 in (c).",
		Panels: []*plot.Plot{a, b, c},
	})
	return nil
}

func (r *runner) table1Plot(found []measured) error {
	out := Plot{Name: "table-1", Caption: "Mean EMD of the default radius, one parameter varied from n = 100, m = 50, T = 0.05."}
	for _, sweep := range []string{"n", "m", "T"} {
		var curves []curve
		for _, private := range []bool{true, false} {
			for _, sources := range []int{1, 2} {
				x, y := series(found, sweep, sources, private)
				noise := "fixed σ"
				if private {
					noise = "private σ"
				}
				var px, py []float64
				for i := range x {
					if y[i] > 0 {
						px, py = append(px, x[i]), append(py, y[i])
					}
				}
				curves = append(curves, curve{name: fmt.Sprintf("%d, %s", sources, noise), x: px, y: py, points: true, dashed: !private})
			}
		}
		p, err := lines("EMD against "+sweep, sweep, "mean EMD", true, curves...)
		if err != nil {
			return err
		}
		out.Panels = append(out.Panels, p)
	}
	r.Plots = append(r.Plots, out)
	return nil
}

// cellsPlot draws the rate over τ for the methods, by model, with the exact
// calibration.
func (r *runner) cellsPlot(cells []*cell) error {
	if r.Quick {
		return nil // one τ makes no curve
	}
	out := Plot{Name: "figure-graph-tau", Caption: "Rate of right answers over τ with the exact calibration; a trial without an answer " +
		"counts as wrong."}
	for _, model := range blockModels[1:] {
		var curves []curve
		for i, m := range methods() {
			var x, y []float64
			for _, c := range cells {
				if c.model.name != model.name || c.calibration != (privacy.Analytic{}) {
					continue
				}
				_, right, _, _ := c.score(i)
				x, y = append(x, c.tau), append(y, float64(right)/float64(len(c.trials)))
			}
			curves = append(curves, curve{name: m, x: x, y: y, points: true})
		}
		p, err := lines(model.name, "τ", "right", false, curves...)
		if err != nil {
			return err
		}
		p.Y.Min, p.Y.Max = 0, 1.4 // room for the legend
		out.Panels = append(out.Panels, p)
	}
	r.Plots = append(r.Plots, out)
	return nil
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
