// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/internal/suggest"
)

// jobsKey is the one key of a file that is no setting: a list of jobs, each a map of
// what package jobs reads and of settings of its own.
const jobsKey = "jobs"

// maxJobs bounds that list.
const maxJobs = 200

// jobsOf reads the list of jobs. What is in a job is checked one by one where jobs are
// run, so that one that is wrong does not stop the others.
func jobsOf(raw any, path string) ([]map[string]any, error) {
	want := func(what string) error {
		return &Error{Key: jobsKey, Value: what, Want: "a list of maps, each with name and schedule", Origin: Origin{LayerFile, path}}
	}
	if raw == nil {
		return nil, nil
	}
	var list []map[string]any
	switch raw := raw.(type) {
	case []map[string]any: // what TOML makes of [[jobs]]
		list = raw
	case []any:
		for i, entry := range raw {
			job, ok := entry.(map[string]any)
			if !ok {
				return nil, want(fmt.Sprintf("no map at %d", i))
			}
			list = append(list, job)
		}
	default:
		return nil, want("no list")
	}
	if len(list) > maxJobs {
		return nil, want(fmt.Sprintf("%d jobs, more than %d", len(list), maxJobs))
	}
	return list, nil
}

// withoutJobs leaves settings alone.
func withoutJobs(file map[string]any) map[string]any {
	settings := maps.Clone(file)
	delete(settings, jobsKey)
	return settings
}

// checkFiledJob refuses what is no KEY=NAME of a setting that names something in the store.
func checkFiledJob(text string) string {
	key, name, _ := strings.Cut(text, "=")
	for _, s := range Settings() {
		if s.Key == key && s.names() && name != "" {
			return ""
		}
	}
	return "KEY=NAME such as nodeLabels=Person or sourceProperty=risk, where KEY is a setting that names labels, types or properties"
}

// Named returns as KEY=NAME what the settings of a job name in the store, without what
// is the default in any case.
func (c *Config) Named() (all []string) {
	for _, s := range Settings() {
		if !s.names() || c.origins[s.Key].Layer != LayerJob {
			continue
		}
		switch v := s.field(c).(type) {
		case *[]string:
			if len(*v) == 0 { // all of them
				all = append(all, s.Key+"=*")
			}
			for _, name := range *v {
				all = append(all, s.Key+"="+name)
			}
		case *string:
			if *v != "" && *v != s.Default {
				all = append(all, s.Key+"="+*v)
			}
		}
	}
	return all
}

// Overlay returns the configuration of a job: this one, with the values that the job
// sets by key. Allowed says which groups a job may set. The error joins an [Error],
// [UnknownError] or [ConflictError] for each problem.
func (c *Config) Overlay(job string, values map[string]any, allowed []Group) (*Config, error) {
	o := *c
	o.origins, o.raw, o.warnings = maps.Clone(c.origins), maps.Clone(c.raw), nil
	origin := Origin{LayerJob, job}
	known, forbidden := make(map[string]Setting), make(map[string]bool)
	var names []string
	for _, s := range Settings() {
		forbidden[s.Key] = true
		if slices.Contains(allowed, s.Group) && !s.noFile {
			known[s.Key] = s
			names = append(names, s.Key)
		}
	}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s, ok := known[key]
		if !ok {
			unknown := &UnknownError{Key: clip(key), Path: "job " + job, Forbidden: forbidden[key]}
			if unknown.Forbidden {
				unknown.Advice = "it is the server's to say"
			} else if near := suggest.Nearest(key, names); near != "" {
				unknown.Advice = "did you mean " + near + "?"
			}
			problems = append(problems, unknown)
			continue
		}
		o.origins[key] = origin
		if err := o.set(s, values[key], origin); err != nil {
			problems = append(problems, err)
		}
	}
	return &o, errors.Join(append(problems, o.conflicts()...)...)
}
