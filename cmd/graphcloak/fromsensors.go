// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// fromSensors names what sensors sent.
type fromSensors struct {
	path      string
	releaseID string
}

// maxSensorLine bounds a line in bytes: a value of a sensor with the longest id.
const maxSensorLine = 64 << 10

// sentKind is what is sent: how messages call it, and whether an error may repeat a line of it.
type sentKind struct {
	what, command, who, none string
	quoted                   bool
}

var (
	sentValues  = sentKind{"values of sensors", "graphcloak cloak", "the sensors", "no sensor sent a value", true}
	sentAnswers = sentKind{"answers of people", "graphcloak cloak --answers", "people", "nobody sent an answer", false}
)

// maxSent bounds what sensors sent, in bytes: anybody may have written it.
const maxSent = 1 << 30

// readSent returns what was sent of one release. Lines of other releases are left out where a release is named.
func readSent[T any](a *app, f fromSensors, kind sentKind, releaseOf func(T) string) ([]T, error) {
	in, err := a.open(f.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind.what, err)
	}
	defer in.Close()
	all, err := decodeSent[T](disk.Limit(in, "the input", maxSent), kind.quoted)
	if err != nil {
		return nil, fail(exitValidation, "%s: %w", kind.what, err).hint("give the lines that `%s` wrote", kind.command)
	}
	var ids []string // in their order
	seen := make(map[string]bool)
	for _, v := range all {
		if id := releaseOf(v); !seen[id] {
			seen[id], ids = true, append(ids, id)
		}
	}
	id := f.releaseID
	if id == "" && len(ids) > 1 {
		return nil, fail(exitUsage, "%s sent %d releases: %s", kind.who, len(ids), term.FewNames(ids)).hint("choose one with --release-id")
	}
	if id == "" && len(ids) == 1 {
		id = ids[0]
	}
	sent := slices.DeleteFunc(all, func(v T) bool { return releaseOf(v) != id })
	if len(sent) == 0 {
		return nil, fail(exitNotFound, "%s of release %q", kind.none, id).hint("the file holds releases %s", term.FewNames(ids))
	}
	return sent, nil
}

// open opens a file, or standard input for -.
func (a *app) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.stdin), nil
	}
	return disk.Open(path)
}

// decodeSent reads NDJSON. An error repeats nothing of a line that is not to be quoted.
func decodeSent[T any](in io.Reader, quoted bool) (sent []T, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxSensorLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v T
		if err := strictjson.Unmarshal(lines.Bytes(), &v); err != nil {
			if quoted {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			return nil, fmt.Errorf("line %d is no answer", n)
		}
		sent = append(sent, v)
	}
	return sent, lines.Err()
}
