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
// each sensor, of which there may be 40 million.
const maxFile = 1 << 34

// readUnder reads a plan or a release, and the settings that it was made under. Their queries are agreed to where ours hold them.
func (a *app) readUnder(path, what string, file any, settings *graphcloak.Settings) error {
	err := readJSON(path, what, file)
	if err == nil {
		a.agreeQueries(settings)
	}
	return err
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
	saveMemory(len(data) > 1<<24)
	if err := strictjson.Unmarshal(data, v); err != nil {
		return fail(exitValidation, "%s %s: %w", what, path, err)
	}
	return nil
}
