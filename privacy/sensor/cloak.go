// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Reading is one line of input.
type Reading struct {
	ReleaseID string   `json:"releaseId"`
	Reading   *float64 `json:"reading"`
}

// CloakOptions are options of [Cloak].
type CloakOptions struct {
	StateDir string             // holds counter and budget; created with mode 0700
	Key      *privacy.SensorKey // escrow only
	SigmaMin float64            // the owner's own minimum; 0: the package's
}

// ErrReading says that a line is not a [Reading].
var ErrReading = errors.New("sensor: not a reading")

// maxLine bounds a line of input in bytes.
const maxLine = 64 << 10

// Cloak reads readings from in as NDJSON, one per release, and writes a
// privacy.SensorValue for each to out as NDJSON, until in ends. Release ids must
// grow in shortlex order (shorter first, then bytewise, so that decimal numbers
// count upwards). The last id, the terms of the first package and the budget spent are
// kept in StateDir, synced before a value is written: a value that a crash loses stays
// spent.
//
// [ErrReading] for a line that is none; privacy.ErrReplay for an id that does not grow, privacy.ErrExhausted past the
// sensor's limit. An error never holds a reading.
func Cloak(ctx context.Context, p Package, in io.Reader, out io.Writer, opts CloakOptions) (err error) {
	if err := p.Validate(); err != nil {
		return err
	}
	if (p.Randomness == privacy.EscrowRandomness) != (opts.Key != nil) {
		return fmt.Errorf("sensor: the package asks for %s randomness; a key goes with escrow, and only there", p.Randomness)
	}
	if p.Sensor.Sigma() < opts.SigmaMin {
		return fmt.Errorf("sensor: the package's σ = %v is below the owner's minimum %v", p.Sensor.Sigma(), opts.SigmaMin)
	}
	s, err := openState(opts.StateDir, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 4096), maxLine)
	for n := 1; lines.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := cloakLine(p, s, lines.Bytes(), out, opts.Key); err != nil {
			return fmt.Errorf("sensor: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("sensor: read readings: %w", err)
	}
	return ctx.Err()
}

// misread says what is wrong with a line that is no [Reading], in words that hold nothing of it:
// even a key may be a reading that was put in the wrong place.
func misread(line []byte) string {
	var given map[string]json.RawMessage
	if strictjson.Unmarshal(line, &given) != nil {
		return "it is not one JSON object in which each key stands once"
	}
	wanted := []string{"releaseId", "reading"}
	for _, key := range wanted {
		if _, ok := given[key]; ok {
			continue
		}
		if len(given) < len(wanted) {
			return fmt.Sprintf("the key %q is missing", key)
		}
		return fmt.Sprintf("the key %q is missing, and there is one that is neither %q nor %q (case counts)", key, wanted[0], wanted[1])
	}
	switch {
	case len(given) > len(wanted):
		return fmt.Sprintf("there is a key that is neither %q nor %q", wanted[0], wanted[1])
	case given[wanted[0]][0] != '"':
		return fmt.Sprintf("%q is not a text in quotation marks", wanted[0])
	}
	return fmt.Sprintf("%q is not a number", wanted[1])
}

// cloakLine spends first, then draws.
func cloakLine(p Package, s *state, line []byte, out io.Writer, key *privacy.SensorKey) error {
	var r Reading
	if err := strictjson.Unmarshal(line, &r); err != nil || r.Reading == nil {
		return fmt.Errorf("%w: %s", ErrReading, misread(line)) // the cause would quote the line
	}
	if err := s.spend(p, r.ReleaseID); err != nil {
		return err
	}
	v, err := p.Sensor.Perturb(*r.Reading, p.Clip, r.ReleaseID, key)
	if err != nil {
		return err
	}
	v.Plan, v.Deployment, v.Epoch = p.Plan, p.Deployment, p.Epoch
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write value: %w", err)
	}
	return nil
}
