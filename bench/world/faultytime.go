// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/posterior"
)

// faultyTimeStudy times the posterior that supposes faults.
func faultyTimeStudy() experiment {
	return experiment{name: "faulty-time", about: "processor time of a posterior that supposes faults against one that trusts all sensors", trials: 1, run: runFaultyTime}
}

// faultTimeNoise is the noise of the study, against readings of 1.
const faultTimeNoise = .1

// runFaultyTime times the posterior of one source where every node has a sensor, and where 500 have.
func runFaultyTime(ctx context.Context, s settings) ([]table, error) {
	t := table{
		title:   fmt.Sprintf("One posterior of one source, τ = %v, noise %v, one sensor in a hundred stuck at 1.", faultTau, faultTimeNoise),
		columns: []string{"graph", "nodes", "sensors", "CPU s, trusting all", "its bound", "CPU s", "its bound", "times"},
	}
	for _, name := range s.chosenGraphs("road-like,n=3000,seed=1", "road-like,n=100000,seed=1") {
		err := instance.With(ctx, s.data, name, faultTau, func(m *graphcloak.Model) error {
			n := m.Graph.Order()
			counts := []int{n}
			if n <= analyst.DenseLimit {
				counts = []int{500, n}
			}
			for _, sensors := range counts {
				row, err := timeFaults(ctx, m, sensors, s.seed)
				if err != nil {
					return err
				}
				t.rows = append(t.rows, append([]string{name, fmt.Sprint(n), fmt.Sprint(sensors)}, row...))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return []table{t}, nil
}

// timeFaults simulates one source, and sensors at so many nodes, evenly spread, and returns the processor time of both posteriors
// with the bounds on their error.
func timeFaults(ctx context.Context, m *graphcloak.Model, sensors int, seed uint64) ([]string, error) {
	n := m.Graph.Order()
	r := rand.New(rand.NewPCG(seed, 0))
	var in analyst.Measurements
	for s := range sensors {
		in.Nodes, in.Sigmas, in.Values = append(in.Nodes, s*n/sensors), append(in.Sigmas, faultTimeNoise), append(in.Values, 0)
	}
	w, err := m.Operator().Whiten(ctx, in)
	if err != nil {
		return nil, err
	}
	unit := make([]float64, n)
	unit[r.IntN(n)] = 1
	w.Data.A.MulVecTo(w.Data.Y, false, unit)
	f := posterior.Faults{Rate: analyst.DefaultFaultRate, Low: make([]float64, sensors), High: make([]float64, sensors)}
	floats.AddConst(1/faultTimeNoise, f.High)
	for s := range w.Data.Y {
		if r.IntN(100) == 0 {
			w.Data.Y[s] = f.High[s]
		}
		w.Data.Y[s] += r.NormFloat64()
	}
	var row []string
	var seconds []float64
	for _, faults := range []posterior.Faults{{}, f} {
		runtime.GC()
		from := userSeconds()
		p, err := posterior.New(ctx, w.Data, posterior.Options{Faults: faults})
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, userSeconds()-from)
		row = append(row, fmt.Sprintf("%.1f", seconds[len(seconds)-1]), fmt.Sprintf("%.2g", p.ProbabilityError))
	}
	return append(row, fmt.Sprintf("%.1f", seconds[1]/seconds[0])), nil
}
