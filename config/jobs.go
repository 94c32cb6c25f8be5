// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"maps"
	"slices"

	"github.com/graphcloak/graphcloak/internal/suggest"
)

// Overlay returns the configuration of a job: this one, with the values that the job
// sets by key. Allowed says which groups a job may set. The error joins an [Error],
// [UnknownError] or [ConflictError] for each problem.
func (c *Config) Overlay(job string, values map[string]any, allowed []Group) (*Config, error) {
	o := *c
	o.origins, o.raw, o.warnings = maps.Clone(c.origins), maps.Clone(c.raw), nil
	origin := Origin{LayerJob, job}
	known, forbidden := make(map[string]Setting), make(map[string]bool)
	var names []string
	for _, s := range table() {
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
