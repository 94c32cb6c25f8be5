// SPDX-License-Identifier: Apache-2.0

package study

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// prepareDetection simulates the plan without a source.
func (r *simulation) prepareDetection(ctx context.Context) (err error) {
	r.detection = &detection{alarm: cmp.Or(r.opts.Recover.FalseAlarm, analyst.DefaultFalseAlarm), some: make(map[string]threshold)}
	if r.detection.alarm < 1 {
		r.detection.all, err = r.threshold(ctx, nil, r.model.Progress)
	}
	return err
}

// threshold simulates some rows of the measurements without a source; no rows are all of them.
func (r *simulation) threshold(ctx context.Context, rows []int, progress func(string, int64, int64)) (threshold, error) {
	opts := posterior.CheckOptions{Options: r.trusting(), FalseAlarm: r.detection.alarm}
	opts.Progress = progress
	if rows == nil {
		opts.Norms = &r.moments[0].norms
	}
	p, err := posterior.NewPresence(ctx, r.silent(rows), opts)
	if err != nil {
		return threshold{}, err
	}
	return threshold{p.Threshold(opts.FalseAlarm), math.Floor(opts.FalseAlarm * float64(p.Trials+1))}, nil
}

// silent returns the measurements of some rows, or of all, at each moment.
func (r *simulation) silent(rows []int) (list []measurement.Data) {
	for _, m := range r.moments {
		w := m.whitened
		if rows != nil {
			w = w.Subset(rows)
		}
		list = append(list, w.Data)
	}
	return list
}

// trusting are the options of a posterior under which every sensor is sound.
func (r *simulation) trusting() posterior.Options {
	return posterior.Options{Amplitude: r.opts.Recover.Amplitude, Prior: r.prior}
}

// detected reports whether the recovery of a trial finds a source: by the odds of one, where the sensors that
// are more likely broken than sound are left out. c holds the product of each moment.
func (r *simulation) detected(ctx context.Context, post *posterior.Posterior, c []transposed, values []float64) (bool, error) {
	d := r.detection
	if d.alarm >= 1 {
		return true, nil
	}
	if post.Faulty == nil {
		return post.LogPresence > d.all.odds, nil
	}
	rows := analyst.Sound(post.Faulty)
	if len(rows) == 0 || len(rows) == len(post.Faulty) { // none is left out where all would be
		rows = nil
	}
	odds, err := r.logPresence(ctx, rows, c, values)
	if err != nil || rows == nil {
		return odds > d.all.odds, err
	}
	if d.surely(odds) {
		return true, nil
	}
	t, err := r.thresholdOf(ctx, rows)
	return odds > t.odds, err
}

// logPresence returns the log odds of a source given some rows of the measurements, or all, of sound sensors.
func (r *simulation) logPresence(ctx context.Context, rows []int, c []transposed, values []float64) (float64, error) {
	odds := make([]float64, len(r.moments))
	for k, m := range r.moments {
		opts, data := r.trusting(), measurement.Data{A: c[k]}
		if opts.Norms = &m.norms; rows != nil {
			opts.Norms, data = nil, m.whitened.WithValues(values).Subset(rows).Data
		}
		p, err := posterior.New(ctx, data, opts)
		if err != nil {
			return 0, err
		}
		odds[k] = p.LogPresence
	}
	return floats.LogSumExp(odds) - math.Log(float64(len(odds))), nil
}

// thresholdOf returns the threshold of the sound rows. Each call simulates the same, so that it does
// not matter which trial comes first.
func (r *simulation) thresholdOf(ctx context.Context, rows []int) (threshold, error) {
	key := make([]byte, len(r.nodes))
	for _, k := range rows {
		key[k] = 1
	}
	d := r.detection
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if known, ok := d.some[string(key)]; ok {
		return known, nil
	}
	t, err := r.threshold(ctx, rows, nil)
	if err == nil {
		d.some[string(key)] = t
	}
	return t, err
}
