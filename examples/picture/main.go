// SPDX-License-Identifier: Apache-2.0

// Command picture draws the README's picture: a water network with a diffused
// source as it is, as it is published, and as it is recovered.
//
//	go run ./examples/picture docs/images/net3.png
//
// The noise is fresh each time, so no two pictures are alike.
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
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: picture FILE.png")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

const tau = 2

func run(ctx context.Context, path string) error {
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
	job := graphcloak.Job{
		Settings: graphcloak.Settings{Tau: tau},
		Plan:     graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1},
		Signal:   graphcloak.Signal{SourceProperty: builtin.SourceProperty},
		Recover:  graphcloak.RecoverOptions{Communities: graphcloak.CommunityOptions{Property: source.Community}},
	}
	rep, err := graphcloak.Run(ctx, s, job, graphcloak.LoadOptions{})
	if err != nil {
		return err
	}
	nodes := rep.Nodes()
	g := nodes.Graph
	f, err := s.Signal(ctx, g, builtin.SourceProperty)
	if err != nil {
		return err
	}
	heat, err := expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), tau, expm.Options{})
	if err != nil {
		return err
	}
	y := make([]float64, g.Order())
	heat.MulVecTo(y, false, f)
	top := 0.0
	for _, v := range y {
		top = max(top, v)
	}
	at, err := place(ctx, s, g)
	if err != nil {
		return err
	}
	published, likeliest := make([]float64, g.Order()), 0.0
	for k, i := range nodes.Sensors {
		published[i] = nodes.PrivateHeat[k]
	}
	for _, v := range nodes.Probability {
		likeliest = max(likeliest, v)
	}
	panels := []*plot.Plot{
		panel("kept private: the source, diffused", g, at, f, y, top),
		panel("published: every sensor adds its own noise", g, at, nil, published, top),
		panel("told: where the source probably is", g, at, nil, nodes.Probability, likeliest),
	}
	fmt.Println(rep.Answer)
	return save(path, panels)
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

// panel draws one value a node; rings mark the sources.
func panel(title string, g *graph.Graph, at []plotter.XY, f, v []float64, top float64) *plot.Plot {
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
		dot.GlyphStyle = draw.GlyphStyle{Color: shade(v[i] / top), Radius: vg.Points(4.5), Shape: draw.CircleGlyph{}}
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

// save writes the panels side by side.
func save(path string, panels []*plot.Plot) error {
	img := vgimg.NewWith(vgimg.UseWH(vg.Points(960), vg.Points(300)), vgimg.UseDPI(144))
	dc := draw.New(img)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(12), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(8), PadRight: vg.Points(8)}
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
