// SPDX-License-Identifier: Apache-2.0

// Command picture draws two pictures of a water network: a diffused source as it
// is, as it is published, and as it is recovered; and how noise is allocated.
//
//	go -C bench run ./picture recovery ../docs/images/net3.png
//	go -C bench run ./picture allocation ../docs/images/allocation.png
//
// The noise of the first is fresh each time, so no two are alike.
package main

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
)

func main() {
	pictures := map[string]func(context.Context, *folder.Store) ([]*plot.Plot, error){"recovery": recovery, "allocation": allocation}
	if len(os.Args) != 3 || pictures[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: picture recovery|allocation FILE.png")
		os.Exit(2)
	}
	if err := run(context.Background(), pictures[os.Args[1]], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

const time = 2

// run draws on a copy of the graph.
func run(ctx context.Context, picture func(context.Context, *folder.Store) ([]*plot.Plot, error), path string) error {
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source, err := builtin.Example("net3")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, source); err != nil {
		return err
	}
	s, err := folder.New(ctx, dir, folder.Options{})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	panels, err := picture(ctx, s)
	if err != nil {
		return err
	}
	return save(path, panels)
}

// job asks for the README's guarantee.
func job() graphcloak.Job {
	return graphcloak.Job{
		Settings: graphcloak.Settings{Tau: tau.At(time)},
		Plan:     graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1},
		Signal:   graphcloak.Signal{SourceProperty: builtin.SourceProperty},
	}
}

// allocation draws the communities and the noise that tells them apart.
func allocation(ctx context.Context, s *folder.Store) ([]*plot.Plot, error) {
	j := job()
	m, err := graphcloak.Load(ctx, s, j.Settings, graphcloak.LoadOptions{})
	if err != nil {
		return nil, err
	}
	p, err := m.Plan(ctx, j.Plan)
	if err != nil {
		return nil, err
	}
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	at, err := place(ctx, s, m.Graph)
	if err != nil {
		return nil, err
	}
	groups, noise := make([]color.Color, len(at)), make([]color.Color, len(at))
	for i, c := range part.Labels {
		groups[i] = hue(float64(c) / float64(part.Count))
	}
	low, high := math.Inf(1), 0.0
	for _, x := range p.Sensors {
		low, high = min(low, x.Sigma()), max(high, x.Sigma())
	}
	for _, x := range p.Sensors {
		noise[x.Node] = shade(.1 + .9*math.Log(x.Sigma()/low)/math.Log(high/low))
	}
	return []*plot.Plot{
		panel(fmt.Sprintf("%d communities", part.Count), m.Graph, at, nil, groups),
		panel(fmt.Sprintf("σ from %.2g (light) to %.2g (dark), circles silent; equal noise: %.2g", low, high, p.UniformSigma()), m.Graph,
			at, nil, noise),
	}, nil
}

// recovery draws what is hidden, what is published and what is told.
func recovery(ctx context.Context, s *folder.Store) ([]*plot.Plot, error) {
	rep, err := graphcloak.Run(ctx, s, job(), graphcloak.LoadOptions{})
	if err != nil {
		return nil, err
	}
	nodes := rep.Nodes()
	g := nodes.Graph
	f, err := s.Signal(ctx, g, builtin.SourceProperty)
	if err != nil {
		return nil, err
	}
	heat, err := expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), time, expm.Options{})
	if err != nil {
		return nil, err
	}
	y := make([]float64, g.Order())
	heat.MulVecTo(y, false, f)
	top := 0.0
	for _, v := range y {
		top = max(top, v)
	}
	at, err := place(ctx, s, g)
	if err != nil {
		return nil, err
	}
	published, likeliest := make([]float64, g.Order()), 0.0
	for k, i := range nodes.Sensors {
		published[i] = nodes.PrivateHeat[k]
	}
	for _, v := range nodes.Probability {
		likeliest = max(likeliest, v)
	}
	fmt.Println(rep.Answer)
	return []*plot.Plot{
		panel("kept private: the source, diffused", g, at, f, shades(y, top)),
		panel("published: every sensor adds its own noise", g, at, nil, shades(published, top)),
		panel("told: where the source probably is", g, at, nil, shades(nodes.Probability, likeliest)),
	}, nil
}

func shades(v []float64, top float64) []color.Color {
	c := make([]color.Color, len(v))
	for i, x := range v {
		c[i] = shade(x / top)
	}
	return c
}

// place reads where the junctions are.
func place(ctx context.Context, s *folder.Store, g *graph.Graph) ([]plotter.XY, error) {
	x, err := s.Signal(ctx, g, "x")
	if err != nil {
		return nil, err
	}
	y, err := s.Signal(ctx, g, "y")
	if err != nil {
		return nil, err
	}
	at := make([]plotter.XY, len(x))
	for i := range at {
		at[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return at, nil
}

// panel draws one colour a node, an empty circle where there is none; rings mark
// the sources.
func panel(title string, g *graph.Graph, at []plotter.XY, f []float64, colors []color.Color) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(11)}
	p.HideAxes()
	for e := range g.Edges() {
		line, err := plotter.NewLine(plotter.XYs{at[e.U], at[e.V]})
		if err != nil {
			panic(err) // two finite points always make a line
		}
		line.Color = color.Gray{Y: 210}
		p.Add(line)
	}
	for i := range at {
		dot, err := plotter.NewScatter(plotter.XYs{at[i]})
		if err != nil {
			panic(err)
		}
		dot.GlyphStyle = draw.GlyphStyle{Color: colors[i], Radius: vg.Points(4.5), Shape: draw.CircleGlyph{}}
		if colors[i] == nil {
			dot.GlyphStyle = draw.GlyphStyle{Color: color.Gray{Y: 150}, Radius: vg.Points(2.5), Shape: draw.RingGlyph{}}
		}
		p.Add(dot)
		if f != nil && f[i] > 0 {
			ring, err := plotter.NewScatter(plotter.XYs{at[i]})
			if err != nil {
				panic(err)
			}
			ring.GlyphStyle = draw.GlyphStyle{Color: color.RGBA{R: 200, A: 255}, Radius: vg.Points(8), Shape: draw.RingGlyph{}}
			p.Add(ring)
		}
	}
	return p
}

// shade runs from light to dark blue; negative values are orange.
func shade(x float64) color.Color {
	a := math.Min(1, math.Abs(x))
	if x < 0 {
		return color.RGBA{R: 255, G: uint8(225 - 90*a), B: uint8(190 - 150*a), A: 255}
	}
	return color.RGBA{R: uint8(225 - 215*a), G: uint8(235 - 165*a), B: uint8(248 - 80*a), A: 255}
}

// hue is a colour of the circle, x from 0 to 1.
func hue(x float64) color.Color {
	channel := func(shift float64) uint8 { return uint8(140 + 100*math.Cos(2*math.Pi*(x-shift))) }
	return color.RGBA{R: channel(0), G: channel(1. / 3), B: channel(2. / 3), A: 255}
}

// save writes the panels side by side.
func save(path string, panels []*plot.Plot) error {
	img := vgimg.NewWith(vgimg.UseWH(vg.Points(960), vg.Points(300)), vgimg.UseDPI(144))
	dc := draw.New(img)
	tiles := draw.Tiles{
		Rows: 1, Cols: len(panels), PadX: vg.Points(12), PadTop: vg.Points(6), PadBottom: vg.Points(6),
		PadLeft: vg.Points(8), PadRight: vg.Points(8),
	}
	for i, p := range panels {
		p.Draw(tiles.At(dc, i, 0))
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = vgimg.PngCanvas{Canvas: img}.WriteTo(out)
	return err
}
