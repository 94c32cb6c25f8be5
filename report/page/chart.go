// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/graphcloak/graphcloak/report"
)

// chart is accuracy over ε, in a view box of 640 × 300.
type chart struct {
	Band, Line   string  // a polygon's and a polyline's points
	Limit        string  // likewise; "": unknown
	Chance       float64 // of who names the likeliest community beforehand
	X, Y         []tick
	HereX, HereY float64 // this run, where the curve has it
	HereText     string
	Here         bool
	ChanceText   string
	Points       []report.CurvePoint
	Trials       int
	Left, Right  float64
	Top, Bottom  float64
}

type tick struct {
	At   float64
	Text string
}

// newChart draws the curve of a report of at least two points, or returns nil.
func newChart(r *report.Report) *chart {
	points := r.Curve
	if len(points) < 2 {
		return nil
	}
	c := &chart{Points: points, Left: 56, Right: 624, Top: 16, Bottom: 248, Trials: points[0].Accuracy.Trials}
	low, high := math.Log(points[0].Epsilon), math.Log(points[len(points)-1].Epsilon)
	x := func(eps float64) float64 { return tenth(c.Left + (c.Right-c.Left)*(math.Log(eps)-low)/(high-low)) }
	y := func(p float64) float64 { return tenth(c.Bottom - (c.Bottom-c.Top)*p) }
	var upper, lower, middle, limit []string
	for k, p := range points {
		at := x(p.Epsilon)
		middle = append(middle, fmt.Sprintf("%g,%g", at, y(p.Accuracy.Probability)))
		upper = append(upper, fmt.Sprintf("%g,%g", at, y(p.Accuracy.Upper)))
		if l := p.Accuracy.Limit; l != nil {
			limit = append(limit, fmt.Sprintf("%g,%g", at, y(l.Gaussian)))
		}
		back := points[len(points)-1-k]
		lower = append(lower, fmt.Sprintf("%g,%g", x(back.Epsilon), y(back.Accuracy.Lower)))
	}
	c.Line, c.Band = strings.Join(middle, " "), strings.Join(append(upper, lower...), " ")
	c.Limit = strings.Join(limit, " ")
	c.Chance = y(points[0].Accuracy.Chance)
	c.ChanceText = percent(points[0].Accuracy.Chance)
	for _, p := range []float64{0, .25, .5, .75, 1} {
		c.Y = append(c.Y, tick{y(p), fmt.Sprintf("%.0f %%", 100*p)})
	}
	for _, eps := range []float64{.1, .3, 1, 3, 10, 30, 100} {
		if eps >= points[0].Epsilon && eps <= points[len(points)-1].Epsilon {
			c.X = append(c.X, tick{x(eps), digits(eps)})
		}
	}
	c.mark(points, r.Epsilon, x, y)
	if c.Here && r.Misfits() {
		c.HereText += ", for measurements that fit the model, as these do not"
	}
	return c
}

// mark sets the point of the run between its neighbours on the curve.
func (c *chart) mark(points []report.CurvePoint, eps float64, x, y func(float64) float64) {
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		if eps < a.Epsilon || eps > b.Epsilon {
			continue
		}
		t := (math.Log(eps) - math.Log(a.Epsilon)) / (math.Log(b.Epsilon) - math.Log(a.Epsilon))
		p := a.Accuracy.Probability + t*(b.Accuracy.Probability-a.Accuracy.Probability)
		c.Here, c.HereX, c.HereY = true, x(eps), y(p)
		c.HereText = fmt.Sprintf("this run: ε = %s, right in %s of releases", digits(eps), percent(p))
		return
	}
}
