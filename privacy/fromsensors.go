// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
)

// SensorValue is what one sensor publishes for one release: a line of NDJSON.
type SensorValue struct {
	SchemaVersion int      `json:"schemaVersion"`
	Plan          Digest   `json:"plan"` // of the plan that the sensor's package came from
	ReleaseID     string   `json:"releaseId"`
	ID            graph.ID `json:"nodeId"`
	Exponent      int      `json:"latticeExponent"`
	Steps         int64    `json:"steps"` // X
	Value         float64  `json:"value"` // X·2^Exponent
	Deployment    string   `json:"deployment,omitempty"`
	Epoch         uint32   `json:"epoch,omitempty"`
	Nonce         *Nonce   `json:"nonce,omitempty"`
}

// FromSensors assembles ỹ from what every reporting sensor sent under one release
// id, in any order. A value off its lattice, of another plan or release, given
// twice or missing is refused: [ErrMismatch] for one of another plan, and the errors of
// [Plan.Validate].
func (p *Plan) FromSensors(values []SensorValue) (*Release, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("privacy: no sensor sent a value; the plan has %d", len(p.Sensors))
	}
	first := values[0]
	r := &Release{plan: p, id: first.ReleaseID, x: make([]int64, len(p.Sensors)), deployment: first.Deployment, epoch: first.Epoch}
	if err := CheckID("release id", r.id); err != nil {
		return nil, err
	}
	escrow := p.Randomness == EscrowRandomness
	if escrow {
		r.nonces = make([]Nonce, len(p.Sensors))
	}
	index := make(map[graph.ID]int, len(p.Sensors))
	for i, s := range p.Sensors {
		index[s.ID] = i
	}
	for _, v := range values {
		i, known := index[v.ID]
		switch {
		case v.Plan != digest:
			return nil, fmt.Errorf("%w: sensor %q reports under plan %s, want %s", ErrMismatch, v.ID, v.Plan, digest)
		case v.ReleaseID != r.id:
			return nil, fmt.Errorf("%w: sensor %q reports release %q, others %q", ErrMismatch, v.ID, v.ReleaseID, r.id)
		case !known:
			return nil, fmt.Errorf("privacy: %q is no sensor of the plan, or it is given twice", v.ID)
		case v.SchemaVersion != SchemaVersion:
			return nil, fmt.Errorf("privacy: sensor %q reports in schema version %d, want %d", v.ID, v.SchemaVersion, SchemaVersion)
		case v.Exponent != p.Sensors[i].Exponent || v.Value != value(v.Steps, v.Exponent):
			return nil, fmt.Errorf("privacy: sensor %q: %v is not %d steps of 2^%d", v.ID, v.Value, v.Steps, p.Sensors[i].Exponent)
		case escrow != (v.Nonce != nil) || escrow != (v.Deployment != "") || v.Deployment != r.deployment || v.Epoch != r.epoch:
			return nil, fmt.Errorf("privacy: sensor %q disagrees with the others about escrow", v.ID)
		}
		r.x[i] = v.Steps
		if escrow {
			r.nonces[i] = *v.Nonce
		}
		delete(index, v.ID)
	}
	for _, s := range p.Sensors {
		if _, missing := index[s.ID]; missing {
			return nil, fmt.Errorf("privacy: %d of %d sensors sent nothing, the first is %q", len(index), len(p.Sensors), s.ID)
		}
	}
	return r, nil
}
