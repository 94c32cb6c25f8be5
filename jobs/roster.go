// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// view is one look at the store.
type view struct {
	now     time.Time
	jobs    []Job   // by name
	orphans []Claim // latest ticks of names that no job has
}

// Jobs returns every job, by name, and the store's time.
func (e *Engine) Jobs(ctx context.Context) ([]Job, time.Time, error) {
	v, err := e.look(ctx)
	return v.jobs, v.now, err
}

// look reads the clock, and what is kept of the jobs with their latest ticks.
func (e *Engine) look(ctx context.Context) (view, error) {
	now, err := e.Store.Now(ctx)
	if err != nil {
		return view{}, err
	}
	names := make([]string, len(e.roster))
	for i, j := range e.roster {
		names[i] = j.Name
	}
	kept, err := e.Store.Standings(ctx, names)
	if err != nil {
		return view{}, err
	}
	latest, err := e.Store.Ticks(ctx, TickQuery{Latest: true})
	if err != nil {
		return view{}, err
	}
	v := view{now: now.UTC().Truncate(time.Millisecond), jobs: slices.Clone(e.roster)}
	byName := make(map[string]Claim, len(latest))
	for _, c := range latest {
		byName[c.JobName] = c
	}
	for i := range v.jobs { // of several with one name the first is at its ticks
		j := &v.jobs[i]
		standing, ok := kept[j.Name]
		j.now, j.enlisted, j.scheduledSince, j.Paused = v.now, ok, standing.Since, standing.Paused || j.pausedInSettings
		j.Last = byName[j.Name]
		delete(byName, j.Name)
		if j.ahead() && j.Problem == nil {
			j.Problem = fmt.Errorf("its last time, %s, is ahead of the store's clock, which says %s: one of them was wrong. "+
				"If the clock is right now, `graphcloak job resume %s` goes on from now",
				j.Last.NominalTime.Format(time.RFC3339), v.now.Format(time.RFC3339), j.Name)
		}
		j.countMissed()
	}
	for _, c := range latest {
		if _, ok := byName[c.JobName]; ok {
			v.orphans = append(v.orphans, c)
		}
	}
	return v, nil
}

func (v view) find(name string) (Job, error) {
	for _, j := range v.jobs {
		if j.Name == name {
			return j, nil
		}
	}
	return Job{}, fmt.Errorf("%w: job %q", ErrNoJob, clip(name))
}
