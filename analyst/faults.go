// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	f := posterior.Faults{Rate: *o.FaultRate}
	clip := w.in.Clip
	if clip == nil {
		return f
	}
	for _, s := range w.Data.A.(linop.Scaled).Rows {
		sigma := w.in.Sigmas[s]
		low, high := clip.Lo/sigma, clip.Hi/sigma
		if math.Abs(low) > measurement.MaxLength || math.Abs(high) > measurement.MaxLength {
			return posterior.Faults{Rate: f.Rate} // beyond what can be computed with
		}
		f.Low, f.High = append(f.Low, low), append(f.High, high)
	}
	return f
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

// addSuspects reports the sensors that may be faulty and returns the measurements of those that
// more likely are not, or all where none would be left.
func (a *analysis) addSuspects(faulty []float64) *Whitened {
	rep := a.report
	if faulty == nil {
		return a.Whitened
	}
	rep.SensorFaultRate, rep.SensorFaultyPrior = *a.opts.FaultRate, posterior.FaultyPrior(*a.opts.FaultRate)
	rows := a.Data.A.(linop.Scaled).Rows
	sound := Sound(faulty)
	broken := len(faulty) - len(sound)
	rep.FaultySensorCount = broken
	for k, p := range faulty {
		if p >= suspicion {
			rep.SuspectSensors = append(rep.SuspectSensors, report.Suspect{NodeID: a.op.SensorID(a.in.Nodes[rows[k]]), Probability: p})
		}
	}
	slices.SortStableFunc(rep.SuspectSensors, func(x, y report.Suspect) int { return cmp.Compare(y.Probability, x.Probability) })
	switch {
	case broken == 0:
		return a.Whitened
	case len(sound) == 0:
		rep.Notes = append(rep.Notes, fmt.Sprintf("all %d sensors are more likely faulty than sound: the measurements do not fit, and "+
			"Basis Pursuit Denoising was solved with all of them", broken))
		return a.Whitened
	}
	rep.Notes = append(rep.Notes, fmt.Sprintf("%s more likely faulty than sound, and left out of Basis Pursuit Denoising; a further "+
		"source near them, a wrong τ or a wrong graph can look the same", sensorsAre(broken)))
	return a.Subset(sound)
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
