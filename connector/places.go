// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
)

// Places are where nodes are, NaN where nobody knows.
type Places struct {
	X, Y       []float64
	Geographic bool // X is a longitude and Y a latitude
}

// Properties that hold places, the likeliest names first: pairs of numbers, and points.
var (
	pairsOfPlaces = []struct {
		x, y       string
		geographic bool
	}{{"x", "y", false}, {"longitude", "latitude", true}, {"lon", "lat", true}, {"lng", "lat", true}}
	pointsOfPlaces = []string{"location", "position", "point", "coordinates", "place", "geo"}
)

// ReadPlaces reads where nodes are from properties that are not private, nil where there are none.
func ReadPlaces(ctx context.Context, s interface {
	Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error)
}, g *graph.Graph, private []string,
) (*Places, error) {
	known := func(x, y []float64) bool {
		for i := range x {
			if !math.IsNaN(x[i] + y[i]) {
				return true
			}
		}
		return false
	}
	for _, c := range pairsOfPlaces {
		if slices.Contains(private, c.x) || slices.Contains(private, c.y) {
			continue
		}
		x, err := s.Signal(ctx, g, c.x)
		var y []float64
		if err == nil {
			y, err = s.Signal(ctx, g, c.y)
		}
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrInput): // there is none of that name, or it holds no numbers
		case err != nil:
			return nil, err
		case known(x, y):
			return &Places{x, y, c.geographic}, nil
		}
	}
	spatial, ok := s.(interface {
		Points(ctx context.Context, g *graph.Graph, property string) (x, y []float64, geographic bool, err error)
	})
	if !ok {
		return nil, nil
	}
	for _, name := range pointsOfPlaces {
		if slices.Contains(private, name) {
			continue
		}
		x, y, geographic, err := spatial.Points(ctx, g, name)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return nil, err
		case known(x, y):
			return &Places{x, y, geographic}, nil
		}
	}
	return nil, nil
}
