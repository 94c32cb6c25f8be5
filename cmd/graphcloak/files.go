// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// maxFile bounds a file of ours in bytes: a plan or a release has a few hundred for
// each sensor.
const maxFile = 1 << 30

// readPlan reads a plan file. Its queries are agreed to where the settings hold them.
func (a *app) readPlan(path string, p *graphcloak.Plan) error {
	if err := readJSON(path, "plan", p); err != nil {
		return err
	}
	a.agreeQueries(&p.Model)
	return nil
}

// readRelease reads a release file as readPlan does.
func (a *app) readRelease(path string, r *graphcloak.Release) error {
	if err := readJSON(path, "release", r); err != nil {
		return err
	}
	a.agreeQueries(&r.Model)
	return nil
}

// agreeQueries lets the queries of a file run that the user gives as well. The file settles what is read.
func (a *app) agreeQueries(s *graphcloak.Settings) {
	a.chosenByFile.Store(true)
	s.Agree(a.config.Projection.NodeQuery, a.config.Projection.RelationshipQuery)
}

// readJSON reads a file of ours.
func readJSON(path, what string, v any) error {
	data, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitNotFound, "%s: %w", what, err).hint("`graphcloak %s -o FILE` makes one", what)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := strictjson.Unmarshal(data, v); err != nil {
		return fail(exitValidation, "%s %s: %w", what, path, err)
	}
	return nil
}
