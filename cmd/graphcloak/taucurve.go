// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
)

// checkPicture refuses a file that is no table and no picture, or exists.
func (a *app) checkPicture(path string) error {
	if path == "" {
		return nil
	}
	if !slices.Contains([]string{".csv", ".png", ".svg"}, strings.ToLower(filepath.Ext(path))) {
		return fail(exitUsage, "%s is no .csv, .png or .svg file", path)
	}
	return a.checkFile(path)
}

// noteTau tells which τ was chosen, or that the τ of a measured process was assumed.
func (a *app) noteTau(p *graphcloak.Plan) {
	switch c := p.TauChoice; {
	case c == nil && p.Measured() && a.config.Origin("tau").Layer == config.LayerDefault:
		a.note("Note: τ = %v is assumed of the process that sensors measure. If it ran for another time, ε is another: give --tau NUMBER, or --tau FROM..TO where it is not known exactly.", p.Public.Tau)
	case c == nil:
	case c.Note != "":
		a.note("Note: %s.", c.Note)
	default:
		aim := "to name the community best"
		if c.Aim == graphcloak.AimLocation {
			aim = "to come nearest to the source"
		}
		a.note("Note: τ = %v was chosen of %d that were tried, %s; --tau %v makes this plan without the search.", p.Public.Tau, len(c.Points), aim, p.Public.Tau)
	}
}

// tauSection shows what was tried.
func tauSection(p *graphcloak.Plan) []section {
	if p.TauChoice == nil || len(p.TauChoice.Points) == 0 {
		return nil
	}
	return []section{{
		title:   "Diffusion times that were tried, in a rough simulation",
		text:    "Judged by " + judgedBy(p.TauChoice),
		columns: []string{"tau", "accuracy", "logLoss", "meanDistance", "noise", "chosen"},
		rows: rowsOf(p.TauChoice.Points, func(x graphcloak.TauPoint) []any {
			chosen := ""
			if x.Tau == p.Public.Tau {
				chosen = "yes"
			}
			return []any{cell(x.Tau, -1), cell(x.Accuracy, 3), cell(x.LogLoss, 3), distanceText(x.Distance), noiseOf(x), chosen}
		}),
	}}
}

// judgedBy says by what the values of τ are compared, and which of nearly equal ones is taken.
func judgedBy(c *graphcloak.TauChoice) string {
	switch {
	case c.Aim == graphcloak.AimLocation:
		return "meanDistance, of what is named from the source. Less is better, and the smallest tau within 1 % of the best is chosen, or within a tenth of what the best gains over the worst where that is less."
	case c.Hopeless:
		return fmt.Sprintf("accuracy, how often the right community is the likeliest. None is clearly better than chance, which is %s, so the rows hardly differ, and the one that is chosen is no better than the others in practice.", cell(c.Chance, 3))
	}
	return "accuracy, how often the right community is the likeliest. More is better, and the smallest tau within half a point of the best is chosen, or within a tenth of what the best gains over the worst where that is less."
}

func noiseOf(x graphcloak.TauPoint) string {
	if x.Allocated {
		return "optimal"
	}
	return "uniform"
}

// writeTauCurve writes the values of τ that were tried as a table or a picture.
func (a *app) writeTauCurve(path string, p *graphcloak.Plan) error {
	if path == "" {
		return nil
	}
	if p.TauChoice == nil || len(p.TauChoice.Points) == 0 {
		return fail(exitValidation, "--tau-curve: no values of τ were compared").hint("it goes with --tau auto and a graph on which something can be told apart")
	}
	return a.create(path, func(w io.Writer) error {
		if ext := strings.ToLower(filepath.Ext(path)); ext != ".csv" {
			return drawTauCurve(w, ext[1:], p)
		}
		return printCSV(w, section{
			columns: []string{"tau", "accuracy", "logLoss", "meanDistance", "allocation", "chosen"},
			rows: rowsOf(p.TauChoice.Points, func(x graphcloak.TauPoint) []any {
				return []any{x.Tau, x.Accuracy, x.LogLoss, x.Distance, noiseOf(x), x.Tau == p.Public.Tau}
			}),
		})
	})
}

// drawTauCurve draws what the choice was judged by over τ, and marks the chosen one.
func drawTauCurve(w io.Writer, format string, p *graphcloak.Plan) error {
	c := p.TauChoice
	value, label, better := func(x graphcloak.TauPoint) float64 { return x.Accuracy }, "accuracy of the likeliest community", "more"
	if c.Aim == graphcloak.AimLocation {
		value, label, better = func(x graphcloak.TauPoint) float64 { return x.Distance }, "mean distance from the source", "less"
	}
	picture := plot.New()
	picture.Title.Text, picture.Title.Padding = "How well a source is found ("+better+" is better)", vg.Points(8)
	picture.X.Label.Text, picture.Y.Label.Text, picture.Y.Min = "diffusion time τ", label, 0
	var ticks plot.ConstantTicks
	var points, chosen plotter.XYs
	for _, x := range c.Points {
		at := plotter.XY{X: math.Log2(x.Tau), Y: value(x)}
		ticks, points = append(ticks, plot.Tick{Value: at.X, Label: cell(x.Tau, -1)}), append(points, at)
		if x.Tau == p.Public.Tau {
			chosen = append(chosen, at)
		}
	}
	picture.X.Tick.Marker = ticks
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe6}, color.Gray{0xe6}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = blue, vg.Points(1.5)
	dots.Color, dots.Radius, dots.Shape = blue, vg.Points(2), draw.CircleGlyph{}
	picture.Add(grid, line, dots)
	if len(chosen) > 0 {
		mark, err := plotter.NewScatter(chosen)
		if err != nil {
			return err
		}
		mark.Color, mark.Radius, mark.Shape = orange, vg.Points(5), draw.RingGlyph{}
		picture.Add(mark)
		picture.Legend.Add("chosen", mark)
		picture.Legend.Top = true
	}
	out, err := picture.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = out.WriteTo(w)
	return err
}
