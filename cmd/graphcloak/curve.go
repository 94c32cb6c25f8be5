// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// epsilonFlags hold the target that chooses ε, and the file for the curve over ε.
type epsilonFlags struct {
	trials int
	target study.Target
	curve  string
	tau    string // file for the curve over τ
}

func (c *epsilonFlags) flags(f *pflag.FlagSet) {
	f.IntVar(&c.trials, "trials", study.DefaultTrials, "simulated releases behind the expected accuracy, a `NUMBER`; 0: none")
	f.Float64Var(&c.target.Accuracy, "target-accuracy", 0, "the least ε that is right this often; how often the right community is named, a `NUMBER` in (0, 1)")
	f.Float64Var(&c.target.EMD, "target-emd", 0, "the least ε that comes this near; how far the posterior is from the source on average, a `NUMBER` in units of the metric")
	f.StringVar(&c.curve, "curve", "", "the privacy–accuracy curve as a `FILE`: .csv, .png or .svg")
	f.StringVar(&c.tau, "tau-curve", "", "what --tau auto tried, as a `FILE`: .csv, .png or .svg")
}

// check finds what is wrong with the flags, before anything is computed.
func (c *epsilonFlags) check(a *app) error {
	t := c.target
	switch {
	case !(t.Accuracy >= 0 && t.Accuracy < 1):
		return fail(exitUsage, "--target-accuracy is %v, want a number in (0, 1)", t.Accuracy)
	case !(t.EMD >= 0 && t.EMD <= math.MaxFloat64):
		return fail(exitUsage, "--target-emd is %v, want a finite number > 0", t.EMD)
	case c.trials < 0:
		return fail(exitUsage, "--trials is %d, want a number ≥ 0", c.trials)
	case c.aimed() && a.config.Origin("epsilon").Layer == config.LayerFlag:
		return fail(exitUsage, "--epsilon says which ε, and a target finds one").hint("leave --epsilon out: the plan says which ε it takes; or leave --target-accuracy and --target-emd out")
	case c.trials == 0 && (c.aimed() || c.curve != ""):
		return fail(exitUsage, "targets and the curve are simulated, and --trials is 0").hint("leave --trials out, or give more")
	}
	if err := a.checkPicture(c.tau); err != nil {
		return err
	}
	return a.checkPicture(c.curve)
}

// aimed reports whether ε is to be found.
func (c *epsilonFlags) aimed() bool { return c.target != (study.Target{}) }

// plan makes the plan, with its expected accuracy and its curve.
func (c *epsilonFlags) plan(ctx context.Context, a *app, m *graphcloak.Model, job graphcloak.Job) (*graphcloak.Plan, error) {
	if c.trials == 0 {
		return m.Plan(ctx, job.Plan)
	}
	planned := m.Plan
	if c.aimed() {
		planned = func(ctx context.Context, opts graphcloak.PlanOptions) (*graphcloak.Plan, error) {
			return study.PlanFor(ctx, m, opts, job.Recover, c.target, a.sample(c.trials))
		}
	}
	p, err := planned(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	if err := study.Expect(ctx, m, p, job.Recover, a.sample(c.trials)); err != nil || c.curve == "" {
		return p, err
	}
	points, err := study.Curve(ctx, m, p, job.Recover, epsilonGrid(), a.sample(c.trials))
	if err != nil {
		return nil, err
	}
	if p.TauChoice != nil || p.Allocated != nil {
		a.note("Note: the curve keeps %s of ε = %v throughout; a plan at another ε chooses anew, and may be right more often.", keptBy(p), p.Epsilon)
	}
	return p, a.writeCurve(c.curve, p, points)
}

// sample is what accuracies are simulated from, keyed by --random-seed.
func (a *app) sample(trials int) study.Sample {
	return study.Sample{Trials: trials, Seed: uint64(a.config.Community.RandomSeed)}
}

// farTooNear is a mean distance that no length of a relationship comes near: as good as none.
const farTooNear = 1e-9

// distanceText is a mean distance for a reader.
func distanceText(d float64) string {
	if d < farTooNear {
		d = 0
	}
	return cell(d, barDigits)
}

// epsilonGrid returns values of ε from 0.1 to 100, five a decade.
func epsilonGrid() []float64 {
	var list []float64
	for k := -5; k <= 10; k++ {
		list = append(list, math.Round(math.Pow(10, float64(k)/5)*1000)/1000)
	}
	return list
}

// keptBy names what a plan chose for its ε and keeps at others.
func keptBy(p *graphcloak.Plan) string {
	switch {
	case p.TauChoice == nil:
		return "the allocation"
	case p.Allocated == nil:
		return fmt.Sprintf("τ = %v", p.Public.Tau)
	}
	return fmt.Sprintf("τ = %v and the allocation", p.Public.Tau)
}

// writeCurve writes the curve of a plan, whose τ and allocation it keeps at every ε.
func (a *app) writeCurve(path string, plan *graphcloak.Plan, points []study.Point) error {
	return a.create(path, func(w io.Writer) error {
		if ext := strings.ToLower(filepath.Ext(path)); ext != ".csv" {
			return drawCurve(w, ext[1:], plan, points)
		}
		return printCSV(w, section{
			columns: []string{
				"epsilon", "accuracy", "accuracyLower", "accuracyUpper", "meanEmd",
				"uniformAccuracy", "uniformAccuracyLower", "uniformAccuracyUpper", "uniformMeanEmd", "chance", "trials", "limit", "tau",
			},
			rows: rowsOf(points, func(p study.Point) []any {
				x, u := p.Accuracy, p.Uniform
				row := []any{p.Epsilon, x.Probability, x.Lower, x.Upper, x.MeanEMD, nil, nil, nil, nil, x.Chance, x.Trials, nil, plan.Public.Tau}
				if x.Limit != nil {
					row[11] = x.Limit.Gaussian
				}
				if u != nil {
					copy(row[5:], []any{u.Probability, u.Lower, u.Upper, u.MeanEMD})
				}
				return row
			}),
		})
	})
}

// Colours of Okabe and Ito, which colour-blind readers tell apart.
var (
	blue   = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	grey   = color.NRGBA{0x60, 0x60, 0x60, 0xff}
)

// drawCurve draws accuracy over ε, with its 95 % interval as a band.
func drawCurve(w io.Writer, format string, plan *graphcloak.Plan, points []study.Point) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("How often the right community is named, at τ = %v throughout", plan.Public.Tau)
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text = "privacy loss ε of one release (less is more private)"
	p.Y.Label.Text = "accuracy, with 95 % interval"
	// A linear axis of log ε: plot's own logarithmic axis reserves room for its label
	// where a linear one would have it.
	var ticks plot.ConstantTicks
	for _, eps := range []float64{0.1, 0.3, 1, 3, 10, 30, 100} {
		ticks = append(ticks, plot.Tick{Value: math.Log(eps), Label: cell(eps, -1)})
	}
	p.X.Tick.Marker = ticks
	low, high := math.Log(0.1), math.Log(100)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, 0, 1
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = vg.Points(2), vg.Points(8), vg.Points(-6)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe6}, color.Gray{0xe6}
	p.Add(grid)
	name := "uniform noise"
	if points[0].Uniform != nil {
		name = "noise as this plan allocates it"
		err := addBand(p, "uniform noise", orange, points, func(x study.Point) report.Accuracy { return *x.Uniform })
		if err != nil {
			return err
		}
	}
	if err := addBand(p, name, blue, points, func(x study.Point) report.Accuracy { return x.Accuracy }); err != nil {
		return err
	}
	if err := addLimit(p, points); err != nil {
		return err
	}
	chance := points[0].Accuracy.Chance
	line, err := plotter.NewLine(plotter.XYs{{X: low, Y: chance}, {X: high, Y: chance}})
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = grey, vg.Points(1), []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(line)
	p.Legend.Add("always naming the likeliest", line)
	picture, err := p.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(w)
	return err
}

// addLimit adds the line that no mechanism with the guarantee of the noise is above, where
// it is known.
func addLimit(p *plot.Plot, points []study.Point) error {
	var limit plotter.XYs
	for _, x := range points {
		if x.Accuracy.Limit != nil {
			limit = append(limit, plotter.XY{X: math.Log(x.Epsilon), Y: x.Accuracy.Limit.Gaussian})
		}
	}
	if len(limit) == 0 {
		return nil
	}
	line, err := plotter.NewLine(limit)
	if err != nil {
		return err
	}
	line.Color, line.Width = grey, vg.Points(1)
	p.Add(line)
	p.Legend.Add("no mechanism is above", line)
	return nil
}

// addBand adds a line and the band of its interval.
func addBand(p *plot.Plot, name string, c color.NRGBA, points []study.Point, of func(study.Point) report.Accuracy) error {
	var middle, band plotter.XYs
	for _, x := range points {
		middle = append(middle, plotter.XY{X: math.Log(x.Epsilon), Y: of(x).Probability})
		band = append(band, plotter.XY{X: math.Log(x.Epsilon), Y: of(x).Upper})
	}
	for _, x := range slices.Backward(points) {
		band = append(band, plotter.XY{X: math.Log(x.Epsilon), Y: of(x).Lower})
	}
	area, err := plotter.NewPolygon(band)
	if err != nil {
		return err
	}
	pale := c
	pale.A = 0x30
	area.Color, area.LineStyle.Width = pale, 0
	line, dots, err := plotter.NewLinePoints(middle)
	if err != nil {
		return err
	}
	line.Color, line.Width = c, vg.Points(1.5)
	dots.Color, dots.Radius, dots.Shape = c, vg.Points(2), draw.CircleGlyph{}
	p.Add(area, line, dots)
	p.Legend.Add(name, line, dots)
	return nil
}
