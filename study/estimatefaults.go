// SPDX-License-Identifier: Apache-2.0

package study

import (
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/run"
)

// perFaulty is the seconds of a posterior where sensors may be faulty, for each entry of M: a node and a sensor.
const perFaulty = 1e-6

// faultWorkload is what depends on that sensors may be faulty.
type faultWorkload struct {
	nodes, entries float64 // of M
	measured       bool    // the readings are
	given          bool    // the rate of faults is
	supposed       bool    // faults are
}

func newFaultWorkload(nodes, sensors float64, job run.Job) faultWorkload {
	f := faultWorkload{nodes: nodes, entries: nodes * sensors}
	f.measured = job.Plan.Measured || job.Signal.MeasurementProperty != ""
	f.supposed = f.measured
	if rate := job.Recover.FaultRate; rate != nil {
		f.given, f.supposed = true, *rate > 0
	}
	return f
}

// trial is what the posteriors of a trial of evaluate take more, one of them to a reader who knows the amplitude.
func (f faultWorkload) trial() (seconds float64) {
	if !f.supposed || !f.given && f.entries > faultWork {
		return 0
	}
	return 2 * perFaulty * f.entries
}

// recovery is what faults add to one that takes some seconds with sound sensors: some posteriors, each of the draws that a
// second source is weighed beside; the measurements decide how many. Beyond, columns stay local, and
// a posterior takes eleven times as long.
func (f faultWorkload) recovery(sound float64) (seconds, atMost float64) {
	switch {
	case !f.supposed:
		return 0, 0
	case f.nodes > analyst.DenseLimit:
		return 0, 11 * sound
	}
	return 4 * perFaulty * f.entries, 20 * perFaulty * f.entries
}
