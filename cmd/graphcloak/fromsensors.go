// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// fromSensors names what sensors sent.
type fromSensors struct {
	path      string
	releaseID string
}

// maxSensorLine bounds a line in bytes: a value of a sensor with the longest id.
const maxSensorLine = 64 << 10

// read returns the values of one release. Lines of other releases are left out
// where a release is named.
func (f fromSensors) read(a *app) ([]privacy.SensorValue, error) {
	in := a.stdin
	if f.path != "-" {
		file, err := disk.Open(f.path)
		if err != nil {
			return nil, fmt.Errorf("values of sensors: %w", err)
		}
		defer file.Close()
		in = file
	}
	all, ids, err := decodeValues(disk.Limit(in, "the input", maxFile))
	if err != nil {
		return nil, fail(exitValidation, "values of sensors: %w", err).hint("give the lines that `graphcloak cloak` wrote")
	}
	id := f.releaseID
	if id == "" && len(ids) > 1 {
		return nil, fail(exitUsage, "the sensors sent %d releases: %s", len(ids), fewNames(ids)).hint("choose one with --release-id")
	}
	if id == "" && len(ids) == 1 {
		id = ids[0]
	}
	values := slices.DeleteFunc(all, func(v privacy.SensorValue) bool { return v.ReleaseID != id })
	if len(values) == 0 {
		return nil, fail(exitNotFound, "no sensor sent a value of release %q", id).hint("the file holds releases %s", fewNames(ids))
	}
	return values, nil
}

// decodeValues reads NDJSON, and the release ids in their order.
func decodeValues(in io.Reader) (values []privacy.SensorValue, ids []string, err error) {
	seen := make(map[string]bool)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxSensorLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v privacy.SensorValue
		if err := strictjson.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n, err)
		}
		values = append(values, v)
		if !seen[v.ReleaseID] {
			seen[v.ReleaseID] = true
			ids = append(ids, v.ReleaseID)
		}
	}
	return values, ids, lines.Err()
}
