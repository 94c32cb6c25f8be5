// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// Release is one private ỹ: the only thing that leaves the trust boundary. It is
// made by [Plan.Perturb] or [Plan.FromSensors], or read from JSON and checked.
type Release struct {
	plan       *Plan
	id         string
	x          []int64
	nonces     []Nonce // escrow only
	deployment string  // escrow only
	epoch      uint32  // escrow only
}

// Perturb adds the noise of every reporting sensor to its reading. readings runs
// beside p.Sensors; each is clipped to p.Clip, and none may be NaN or infinite.
// noise must be of the plan's randomness; nil is [System]. Spend the plan's
// [Plan.Charge] first.
//
// Proof: docs/proofs/mechanism.md.
func (p *Plan) Perturb(readings []float64, releaseID string, noise Noise) (*Release, error) {
	if noise == nil {
		noise = System{}
	}
	if err := p.accepts(noise); err != nil {
		return nil, err
	}
	rounded, err := p.round(readings, releaseID)
	if err != nil {
		return nil, err
	}
	x, nonces, err := noise.perturb(p, releaseID, rounded)
	if err != nil {
		return nil, err
	}
	r := &Release{plan: p, id: releaseID, x: x, nonces: nonces}
	if e, ok := noise.(*Escrow); ok {
		r.deployment, r.epoch = e.deployment, e.epoch
	}
	return r, nil
}

// PerturbEach is [Plan.Perturb] for several releases of one plan, as simulations make them: the same bits
// in less time, for the keys of a sensor are derived once. Each release is charged by itself. Two of one
// id are [ErrInput]: where a sensor reads the same in both, their nonces are equal and say so.
//
// Proof: docs/proofs/escrow.md.
func (p *Plan) PerturbEach(readings [][]float64, releaseIDs []string, noise *Escrow) ([]*Release, error) {
	if err := p.accepts(noise); err != nil {
		return nil, err
	}
	if len(readings) != len(releaseIDs) {
		return nil, fmt.Errorf("privacy: readings of %d releases for %d release ids", len(readings), len(releaseIDs))
	}
	seen := make(map[string]bool, len(releaseIDs))
	rounded := make([][]int64, len(readings))
	for k, y := range readings {
		if seen[releaseIDs[k]] {
			return nil, fmt.Errorf("%w: %q names two of the %d releases", ErrInput, releaseIDs[k], len(releaseIDs))
		}
		seen[releaseIDs[k]] = true
		var err error
		if rounded[k], err = p.round(y, releaseIDs[k]); err != nil {
			return nil, err
		}
	}
	x, nonces, err := noise.perturbEach(p, releaseIDs, rounded)
	if err != nil {
		return nil, err
	}
	releases := make([]*Release, len(x))
	for k := range x {
		releases[k] = &Release{plan: p, id: releaseIDs[k], x: x[k], nonces: nonces[k], deployment: noise.deployment, epoch: noise.epoch}
	}
	return releases, nil
}

// accepts refuses a plan that is not valid, and noise of another kind than it asks for.
func (p *Plan) accepts(noise Noise) error {
	if err := p.validate(); err != nil {
		return err
	}
	if noise.randomness() != p.Randomness {
		return fmt.Errorf("privacy: the plan asks for %s randomness, not %s", p.Randomness, noise.randomness())
	}
	return nil
}

// round clips the readings of a release to lattice steps.
func (p *Plan) round(readings []float64, releaseID string) ([]int64, error) {
	if err := CheckID("release id", releaseID); err != nil {
		return nil, err
	}
	if err := p.CheckReadings(readings); err != nil {
		return nil, err
	}
	rounded := make([]int64, len(readings))
	for i, y := range readings {
		rounded[i] = p.Clip.round(y, p.Sensors[i].Exponent)
	}
	return rounded, nil
}

// CheckReadings refuses what Perturb would refuse. Call it before the release is
// paid for: a refusal after that costs the budget.
func (p *Plan) CheckReadings(readings []float64) error {
	if len(readings) != len(p.Sensors) {
		return fmt.Errorf("privacy: %d readings for %d sensors", len(readings), len(p.Sensors))
	}
	bad := 0
	for _, y := range readings {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			bad++
		}
	}
	if bad > 0 { // which is private
		return fmt.Errorf("privacy: %d of %d readings are not finite numbers", bad, len(readings))
	}
	return nil
}

// ReadingsError says how many nodes hold values under a private property that no
// sensor can have. It never says which nodes or what values: either may be the
// secret, and errors are logged, sent and kept.
type ReadingsError struct {
	Property string
	Wrong    string // such as "is missing"; no value stands in it
	Count    int
}

func (e *ReadingsError) Error() string {
	nodes := "nodes"
	if e.Count == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("%q %s on %d %s", e.Property, e.Wrong, e.Count, nodes)
}

// Plan returns the plan that the release was made under.
func (r *Release) Plan() *Plan { return r.plan }

// ID returns the release id.
func (r *Release) ID() string { return r.id }

// Escrow returns the deployment and epoch whose master secret can remove the noise;
// "" where it came from the system and nobody can.
func (r *Release) Escrow() (deployment string, epoch uint32) { return r.deployment, r.epoch }

// Steps returns a copy of X: ỹ_s = X_s·2^k_s, beside Plan().Sensors.
func (r *Release) Steps() []int64 { return append([]int64(nil), r.x...) }

// Values returns ỹ beside Plan().Sensors. Each value is a multiple of its g:
// rounding X to 53 bits keeps it one.
func (r *Release) Values() []float64 {
	y := make([]float64, len(r.x))
	for i, x := range r.x {
		y[i] = value(x, r.plan.Sensors[i].Exponent)
	}
	return y
}

// Sigmas returns σ of the noise of each value, beside Plan().Sensors.
func (r *Release) Sigmas() []float64 {
	sigmas := make([]float64, len(r.plan.Sensors))
	for i, s := range r.plan.Sensors {
		sigmas[i] = s.Sigma()
	}
	return sigmas
}

func value(x int64, k int) float64 { return math.Ldexp(float64(x), k) }

// Nodes returns the node number of each value.
func (r *Release) Nodes() []int {
	nodes := make([]int, len(r.plan.Sensors))
	for i, s := range r.plan.Sensors {
		nodes[i] = s.Node
	}
	return nodes
}

// Digest returns the hash of everything that is published but the plan's own text:
// release id, plan digest, X, and for escrow deployment, epoch and nonces.
// The ledger records it.
func (r *Release) Digest() (Digest, error) {
	plan, err := r.plan.Digest()
	if err != nil {
		return Digest{}, err
	}
	return r.digest(plan), nil
}

// digest is [Release.Digest] for the digest of the plan.
func (r *Release) digest(plan Digest) Digest {
	h := partsHash{sha256.New()}
	h.add([]byte("graphcloak/v1/release"), []byte(r.id), plan[:], []byte(r.deployment))
	h.add(be64(int64(r.epoch)))
	for _, x := range r.x {
		h.add(be64(x))
	}
	for k := range r.nonces {
		h.add(r.nonces[k][:])
	}
	return h.sum()
}

type releaseDocument struct {
	releaseHead
	Values []valueElement `json:"values"`
	Plan   *Plan          `json:"plan"`
}

// releaseHead is a release without its values and its plan.
type releaseHead struct {
	SchemaVersion int    `json:"schemaVersion"`
	ReleaseID     string `json:"releaseId"`
	PlanDigest    Digest `json:"planDigest"`
	Digest        Digest `json:"digest"`
	Deployment    string `json:"deployment,omitempty"`
	Epoch         uint32 `json:"epoch,omitempty"`
}

type valueElement struct {
	ID    graph.ID `json:"nodeId"`
	Steps int64    `json:"steps"`
	Value float64  `json:"value"`
	Nonce *Nonce   `json:"nonce,omitempty"`
}

// MarshalJSON writes the release with its plan.
func (r *Release) MarshalJSON() ([]byte, error) { return strictjson.Text(r.writeJSON) }

func (r *Release) writeJSON(w io.Writer) error {
	plan, err := r.plan.Digest()
	if err != nil {
		return err
	}
	head, err := json.Marshal(releaseHead{
		SchemaVersion: SchemaVersion, ReleaseID: r.id, PlanDigest: plan, Digest: r.digest(plan), Deployment: r.deployment, Epoch: r.epoch,
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `%s,"values":`, head[:len(head)-1]); err != nil {
		return err
	}
	err = strictjson.WriteList(w, len(r.x), func(i int) valueElement {
		s := r.plan.Sensors[i]
		v := valueElement{ID: s.ID, Steps: r.x[i], Value: value(r.x[i], s.Exponent)}
		if r.nonces != nil {
			v.Nonce = &r.nonces[i]
		}
		return v
	})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, `,"plan":`); err != nil {
		return err
	}
	if err := r.plan.writeJSON(w); err != nil {
		return err
	}
	_, err = io.WriteString(w, "}")
	return err
}

// UnmarshalJSON reads a release and checks its plan, that each value is the stated
// multiple of its lattice constant, and both digests.
func (r *Release) UnmarshalJSON(data []byte) error {
	var d releaseDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("privacy: read release: %w", err)
	}
	if d.SchemaVersion != SchemaVersion {
		return fmt.Errorf("privacy: release has schema version %d, want %d", d.SchemaVersion, SchemaVersion)
	}
	if d.Plan == nil {
		return errors.New("privacy: the release has no plan")
	}
	if err := CheckID("release id", d.ReleaseID); err != nil {
		return err
	}
	if len(d.Values) != len(d.Plan.Sensors) {
		return fmt.Errorf("privacy: release has %d values, its plan %d sensors", len(d.Values), len(d.Plan.Sensors))
	}
	q := Release{plan: d.Plan, id: d.ReleaseID, deployment: d.Deployment, epoch: d.Epoch, x: make([]int64, len(d.Values))}
	escrow := d.Plan.Randomness == EscrowRandomness
	if escrow != (d.Deployment != "") || !escrow && d.Epoch != 0 {
		return errors.New("privacy: a deployment and an epoch belong to escrow randomness, and only there")
	}
	if escrow {
		q.nonces = make([]Nonce, len(d.Values))
	}
	for i, v := range d.Values {
		s := d.Plan.Sensors[i]
		switch {
		case v.ID != s.ID:
			return fmt.Errorf("privacy: value %d is of sensor %q, its plan has %q there", i, v.ID, s.ID)
		case v.Value != value(v.Steps, s.Exponent):
			return fmt.Errorf("privacy: sensor %q: %v is not %d steps of 2^%d", s.ID, v.Value, v.Steps, s.Exponent)
		case escrow != (v.Nonce != nil):
			return fmt.Errorf("privacy: sensor %q: a nonce belongs to escrow randomness, and only there", s.ID)
		}
		q.x[i] = v.Steps
		if escrow {
			q.nonces[i] = *v.Nonce
		}
	}
	plan, err := d.Plan.Digest()
	if err != nil {
		return err
	}
	if plan != d.PlanDigest || q.digest(plan) != d.Digest {
		return fmt.Errorf("privacy: release %q does not have the digests that it states", d.ReleaseID)
	}
	*r = q
	return nil
}
