// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// DefaultFaultRate is the mean rate of broken sensors that is supposed where sensors measure: one in
// a hundred costs next to nothing where all are sound.
const DefaultFaultRate = 0.01

// CheckFaultRate refuses, with [recovery.ErrInvalid], what is no rate of faults in [0, 1);
// nil is the default.
func CheckFaultRate(rate *float64) error {
	if rate == nil {
		return nil
	}
	return posterior.CheckFaultRate(*rate)
}

// Faults are those that the options suppose, in units of the noise.
func (w *Whitened) Faults(o Options) posterior.Faults {
	if o.FaultRate == nil || *o.FaultRate == 0 {
		return posterior.Faults{}
	}
	f := posterior.Faults{Rate: *o.FaultRate, Sensors: places(w.sensors())}
	clip := w.in.Clip
	if clip == nil {
		return f
	}
	for _, s := range w.Data.A.(linop.Scaled).Rows {
		sigma := w.in.Sigmas[s]
		low, high := clip.Lo/sigma, clip.Hi/sigma
		if math.Abs(low) > measurement.MaxLength || math.Abs(high) > measurement.MaxLength {
			return posterior.Faults{Rate: f.Rate, Sensors: f.Sensors} // beyond what can be computed with
		}
		f.Low, f.High = append(f.Low, low), append(f.High, high)
	}
	return f
}

// places numbers what is in an ascending list, from 0; nil where it holds each once.
func places(list []int) []int {
	out := make([]int, len(list))
	for k := 1; k < len(list); k++ {
		if out[k] = out[k-1]; list[k] != list[k-1] {
			out[k]++
		}
	}
	if n := len(out); n == 0 || out[n-1] == n-1 {
		return nil
	}
	return out
}

// suspicion is the probability from which a sensor is listed as suspect, and exclusion that from
// which Basis Pursuit Denoising does without it.
const (
	suspicion = 0.25
	exclusion = 0.5
)

// Sound returns the measurements whose sensors are not more likely faulty than sound, given the probability
// of each to be broken.
func Sound(faulty []float64) (rows []int) {
	for k, p := range faulty {
		if p <= exclusion {
			rows = append(rows, k)
		}
	}
	return rows
}

// addSuspects reports the sensors that may be faulty and returns the measurements of those that more likely are not, or all where
// more are than may be believed.
func (a *analysis) addSuspects(faulty []float64) *Whitened {
	rep := a.report
	if faulty == nil {
		return a.Whitened
	}
	rep.SensorFaultRate, rep.SensorFaultyPrior = *a.opts.FaultRate, posterior.FaultyPrior(*a.opts.FaultRate)
	nodes := a.sensors()
	var broken, all []int
	for k, p := range faulty {
		if k > 0 && nodes[k] == nodes[k-1] {
			continue
		}
		all = append(all, nodes[k])
		if p > exclusion {
			broken = append(broken, nodes[k])
		}
		if p >= suspicion {
			rep.SuspectSensors = append(rep.SuspectSensors, report.Suspect{NodeID: a.op.Graph.ID(nodes[k]), Probability: p})
		}
	}
	rep.FaultySensorCount, rep.FaultySensorsApart = len(broken), a.apart(broken, all)
	slices.SortStableFunc(rep.SuspectSensors, func(x, y report.Suspect) int { return cmp.Compare(y.Probability, x.Probability) })
	if len(broken) == 0 || rep.TooManyFaulty() {
		return a.Whitened
	}
	rep.Notes = append(rep.Notes, fmt.Sprintf("%s more likely faulty than sound, and left out of Basis Pursuit Denoising; a further "+
		"source near them, a wrong τ or a wrong graph can look the same", sensorsAre(len(broken))))
	return a.Subset(Sound(faulty))
}

// apartTrials is the number of sets of sensors that those which are suspect are held against.
const apartTrials = 999

// apart returns the p-value of faults that are independent: the share of random sets of as many of all sensors, and of the set itself,
// that have as many pairs of neighbours as those that are suspect. It shuffles all.
func (a *analysis) apart(suspects, all []int) float64 {
	pairs := func(of []int) (twice int) {
		set := make(map[int]bool, len(of))
		for _, v := range of {
			set[v] = true
		}
		for _, v := range of {
			for _, u := range a.op.Graph.Neighbors(v) {
				if set[int(u)] {
					twice++
				}
			}
		}
		return twice
	}
	random, least, as := rand.New(rand.NewPCG(0, 0)), pairs(suspects), 1
	for range apartTrials {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if pairs(all[:len(suspects)]) >= least {
			as++
		}
	}
	return float64(as) / (apartTrials + 1)
}

// sensors returns the node of each measurement.
func (w *Whitened) sensors() []int {
	named := w.in.Nodes
	if rows := w.Data.A.(linop.Scaled).Rows; len(named) > len(rows) { // some of so much noise that they say nothing
		named = nil
		for _, s := range rows {
			named = append(named, w.in.Nodes[s])
		}
	}
	return slices.Clone(w.op.SensorNodes(named))
}

// Neighbouring sensors that are off together are 2, 4, 8, …, as far as one in [patchShare] of all and [mostPatch], by an offset with
// a standard deviation of [patchOffset], of readings up to 1. [patchOdds] is how likely that is supposed, against one source.
const (
	patchShare  = 8
	mostPatch   = 64
	patchOffset = 0.3
	patchOdds   = 0.5
)

// offset returns the log evidence, against noise alone, of neighbouring sensors that are off together: the mean over groups, which are
// the sensors nearest to each by hops, of no source, and of a source beside the groups around the likeliest node.
func (w *Whitened) offset(ctx context.Context, opts posterior.Options, likeliest int) (float64, error) {
	g, scale, nodes := w.op.Graph, w.Data.A.(linop.Scaled).Scale, w.sensors()
	of, seen, mark := make([][]int, g.Order()), make([]int, g.Order()), 0 // the measurements of a node, and who saw it last
	for k, v := range nodes {
		of[v] = append(of[v], k)
	}
	sensors := slices.Compact(nodes)
	around := func(v int, do func(rows []int, sensors int)) {
		var rows []int
		mark++
		seen[v] = mark
		walk, count := []int{v}, 0
		for at := 0; at < len(walk) && count < min(mostPatch, max(2, len(sensors)/patchShare)); at++ {
			if own := of[walk[at]]; len(own) > 0 {
				rows, count = append(rows, own...), count+1
				if count >= 2 && count&(count-1) == 0 {
					do(rows, count)
				}
			}
			for _, u := range g.Neighbors(walk[at]) {
				if seen[u] != mark {
					seen[u], walk = mark, append(walk, int(u))
				}
			}
		}
	}
	var logs []float64
	for _, v := range sensors {
		around(v, func(rows []int, _ int) {
			square, along := 0.0, 0.0
			for _, k := range rows {
				square, along = square+scale[k]*scale[k], along+scale[k]*w.Data.Y[k]
			}
			logs = append(logs, posterior.Offset(patchOffset, square, along))
		})
	}
	groups := len(logs)
	var err error
	around(likeliest, func(rows []int, sensors int) {
		h := make([]float64, len(scale))
		for _, k := range rows {
			h[k] = scale[k]
		}
		log, e := posterior.Background(ctx, w.Data, h, opts)
		logs, err = append(logs, log+math.Log(float64(sensors))), errors.Join(err, e) // as for the groups around each of them
	})
	if groups == 0 {
		return math.Inf(-1), err
	}
	return floats.LogSumExp(logs) - math.Log(float64(groups)), err
}

func sensorsAre(n int) string {
	if n == 1 {
		return "1 sensor is"
	}
	return fmt.Sprintf("%d sensors are", n)
}

// Subset returns the measurements of some of the rows of Data.
func (w *Whitened) Subset(rows []int) *Whitened {
	out := &Whitened{op: w.op, Data: subsetData(w.Data, rows), products: subsetData(w.products, rows)}
	out.in.Clip = w.in.Clip
	of := w.Data.A.(linop.Scaled).Rows
	for _, k := range rows {
		s := of[k]
		out.in.Nodes, out.in.Values = append(out.in.Nodes, w.in.Nodes[s]), append(out.in.Values, w.in.Values[s])
		out.in.Sigmas = append(out.in.Sigmas, w.in.Sigmas[s])
	}
	return out
}

func subsetData(d measurement.Data, rows []int) measurement.Data {
	a := d.A.(linop.Scaled)
	b := linop.Scaled{A: a.A}
	var y []float64
	for _, k := range rows {
		b.Rows, b.Scale, y = append(b.Rows, a.Rows[k]), append(b.Scale, a.Scale[k]), append(y, d.Y[k])
	}
	return measurement.Data{A: b, Y: y}
}
