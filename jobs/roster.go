// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"context"
	"errors"
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
	for i := range v.jobs {
		v.jobs[i].State = v.jobs[i].state(v.now)
	}
	return v.jobs, v.now, err
}

// look reads the clock, the jobs and their latest ticks.
func (e *Engine) look(ctx context.Context) (view, error) {
	now, err := e.Store.Now(ctx)
	if err != nil {
		return view{}, err
	}
	filed, err := e.Store.Jobs(ctx)
	if err != nil {
		return view{}, err
	}
	latest, err := e.Store.Ticks(ctx, TickQuery{Latest: true})
	if err != nil {
		return view{}, err
	}
	v := view{now: now.UTC().Truncate(time.Millisecond), jobs: e.roster(filed)}
	byName := make(map[string]Claim, len(latest))
	for _, c := range latest {
		byName[c.JobName] = c
	}
	for i, j := range v.jobs { // of several with one name the first is at its ticks
		v.jobs[i].Last = byName[j.Name]
		delete(byName, j.Name)
		if v.jobs[i].ahead(v.now) && j.Problem == nil {
			v.jobs[i].Problem = fmt.Errorf("its last time, %s, is ahead of the store's clock, which says %s: one of them was wrong. "+
				"If the clock is right now, `graphcloak job resume %s` goes on from now",
				v.jobs[i].Last.NominalTime.Format(time.RFC3339), v.now.Format(time.RFC3339), j.Name)
		}
		v.jobs[i].countMissed(v.now)
	}
	for _, c := range latest {
		if _, ok := byName[c.JobName]; ok {
			v.orphans = append(v.orphans, c)
		}
	}
	e.caution(ctx, v.jobs)
	return v, nil
}

// caution asks about the jobs that wait for their first run: how a later one will end, the
// last one tells.
func (e *Engine) caution(ctx context.Context, all []Job) {
	var waiting []Definition
	for _, j := range all {
		if j.Problem == nil && j.Last.Status == "" {
			waiting = append(waiting, j.Definition)
		}
	}
	if len(waiting) == 0 {
		return
	}
	cautions := e.Cautions(ctx, waiting)
	for i, j := range all {
		if j.Problem == nil && j.Last.Status == "" {
			all[i].Caution = cautions[j.Name]
		}
	}
}

func (v view) find(name string) (Job, error) {
	for _, j := range v.jobs {
		if j.Name == name {
			return j, nil
		}
	}
	return Job{}, fmt.Errorf("%w: job %q", ErrNoJob, clip(name))
}

// roster merges the jobs of the settings file with those that are filed. Of two with
// one name that of the settings file stands; of two that are filed neither does.
func (e *Engine) roster(filed []Filed) []Job {
	states := make(map[string]Filed)
	names := make(map[string]int)
	for _, f := range filed {
		if f.Origin == OriginSettings {
			states[f.Name] = f
		} else {
			names[f.Name]++
		}
	}
	var all []Job
	own := make(map[string]bool)
	for i, fields := range e.Settings {
		j := e.fromSettings(i, fields, states)
		if own[j.Name] {
			j.Problem = errors.Join(j.Problem, fmt.Errorf("two jobs of the settings file have the name %q", j.Name))
		}
		own[j.Name] = true
		all = append(all, j)
	}
	for _, f := range filed {
		if f.Origin == OriginSettings {
			continue
		}
		j := Job{Target: Target{ID: f.ID, Name: f.Name}, Paused: f.Paused, State: f.State}
		j.Definition, j.Problem = e.define(f.Fields, true)
		if own[f.Name] {
			j.Problem = errors.Join(j.Problem, fmt.Errorf("the settings file has a job %q: give this one another name", f.Name))
		} else if f.Name != "" && names[f.Name] > 1 {
			j.Problem = errors.Join(j.Problem, fmt.Errorf("%d jobs have the name %q: give each its own", names[f.Name], f.Name))
		}
		if f.TooLarge {
			j.Problem, j.unread = fmt.Errorf("its properties are larger than %d characters, and were not read", MaxJobSize), true
		}
		if len(all) >= MaxJobs {
			j.Problem = fmt.Errorf("there are more than %d jobs: this one is left out, and so may others be", MaxJobs)
		}
		if j.Problem != nil {
			j.Definition = Definition{Name: j.Definition.Name} // an open tick is not begun by it
		}
		all = append(all, j)
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (e *Engine) fromSettings(i int, fields map[string]any, states map[string]Filed) Job {
	name, _ := fields["name"].(string)
	if name == "" {
		name = fmt.Sprintf("jobs[%d]", i)
	}
	state := states[name]
	written, _ := fields["paused"].(bool)
	j := Job{
		Target: Target{Name: name}, Origin: OriginSettings, Paused: written || state.Paused, State: state.State,
		pausedInSettings: written,
	}
	j.Definition, j.Problem = e.define(fields, false)
	return j
}

func (e *Engine) define(fields map[string]any, filed bool) (Definition, error) {
	d, err := Define(fields)
	d.Filed = filed
	if err == nil {
		err = e.Runner.Check(d)
	}
	if err != nil {
		return Definition{Name: d.Name}, err
	}
	return d, nil
}
