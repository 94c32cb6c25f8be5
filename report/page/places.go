// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/graph"
)

// project turns places into those of the drawing, y downwards. Degrees are drawn as on
// an equirectangular map that is true at the mean latitude. A node without a place
// comes to the mean of its neighbours. It returns nil where fewer than two places
// differ, or every second node has none.
func project(places []r2.Vec, geographic bool, g *graph.Graph) []r2.Vec {
	at := make([]r2.Vec, len(places))
	known, middle := 0, 0.0
	for _, p := range places {
		if placed(p) {
			known++
			middle += p.Y
		}
	}
	if 2*known <= len(places) {
		return nil
	}
	narrow := 1.0
	if geographic {
		narrow = max(.05, math.Cos(middle/float64(known)*math.Pi/180))
	}
	for v, p := range places {
		at[v] = r2.Vec{X: p.X * narrow, Y: -p.Y}
	}
	adopt(at, g)
	if box := boundsOf(at); box.Min == box.Max {
		return nil
	}
	return at
}

func placed(p r2.Vec) bool { return math.Abs(p.X) <= 1e15 && math.Abs(p.Y) <= 1e15 }

// adopt places what has no place at the mean of its neighbours, in rounds; what no
// round reaches, at the mean of all.
func adopt(at []r2.Vec, g *graph.Graph) {
	var missing []int
	var all r2.Vec
	for v, p := range at {
		if placed(p) {
			all = r2.Add(all, p)
		} else {
			missing = append(missing, v)
		}
	}
	all = r2.Scale(1/float64(len(at)-len(missing)), all)
	for again := true; again && len(missing) > 0; {
		var left []int
		found := make(map[int]r2.Vec)
		for _, v := range missing {
			var sum r2.Vec
			count := 0.0
			for _, w := range g.Neighbors(v) {
				if placed(at[w]) {
					sum, count = r2.Add(sum, at[w]), count+1
				}
			}
			if count > 0 {
				found[v] = r2.Scale(1/count, sum)
			} else {
				left = append(left, v)
			}
		}
		for v, p := range found {
			at[v] = p
		}
		again, missing = len(found) > 0, left
	}
	for _, v := range missing {
		at[v] = all
	}
}
