// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"fmt"
)

// Charge returns what the ledger is asked for before a release under the plan.
func (p *Plan) Charge(scope, releaseID, attempt string) (Charge, error) {
	digest, err := p.Digest()
	if err != nil {
		return Charge{}, err
	}
	c := Charge{
		Scope: scope, ReleaseID: releaseID, Attempt: attempt, Plan: digest,
		Guarantee: p.Guarantee, Budget: p.Budget, Cost: p.Cost(), Failure: p.Sensitivity.Failure,
	}
	if p.Sensitivity.Failure > 0 {
		c.Certificate = p.certificate()
	}
	if p.Guarantee == PerSensor {
		c.Sensors = make(map[string]Cost, len(p.Sensors))
		for _, s := range p.Sensors {
			cost, err := CostOf(up((s.Bound+s.Step()+2*p.entryError())/s.Sigma(), 16))
			if err != nil {
				return Charge{}, err
			}
			c.Sensors[string(s.ID)] = cost
		}
	}
	return c, c.validate()
}

// certificate identifies the random certificate behind the sensitivity: two plans
// with one certificate share its random bits and its failure.
func (p *Plan) certificate() Digest {
	h := partsHash{sha256.New()}
	h.add([]byte("graphcloak/v1/certificate"), p.GraphDigest[:], []byte(p.Laplacian), []byte(p.Metric),
		fmt.Appendf(nil, "%x %x %x %x %x", p.Tau, p.Alpha, p.Sensitivity.Lower, p.Sensitivity.Upper, p.Sensitivity.Failure),
		p.Sensitivity.Seed[:])
	for _, s := range p.Sensors {
		h.add([]byte(s.ID), fmt.Appendf(nil, "%x %x", s.Weight, s.Bound))
	}
	return h.sum()
}

// Verify re-checks a release against a plan without any secret: the plan's noise
// and cost, that both are the same plan, and that every value is a multiple of its
// lattice constant. It cannot show that noise was drawn as stated. It returns
// [ErrMismatch] for a release of another plan, and the errors of [Plan.Validate].
func Verify(r *Release, p *Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	want, err := p.Digest()
	if err != nil {
		return err
	}
	got, err := r.plan.Digest()
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: release %q has plan %s, want %s", ErrMismatch, r.id, got, want)
	}
	if len(r.x) != len(p.Sensors) {
		return fmt.Errorf("%w: release %q has %d values for %d sensors", ErrMismatch, r.id, len(r.x), len(p.Sensors))
	}
	return nil
}

// VerifyEntry checks that a ledger's entry paid for the release in full. It returns
// [ErrMismatch] where it did not.
func VerifyEntry(r *Release, e Entry) error {
	return e.PaysFor(r.id, r.plan.Charge)
}

// PaysFor checks that the entry paid what a plan's charge function asks for a release.
// [ErrMismatch] where it did not.
func (e Entry) PaysFor(releaseID string, charge func(scope, releaseID, attempt string) (Charge, error)) error {
	if e.Charge == nil {
		return fmt.Errorf("%w: the entry is no payment", ErrMismatch)
	}
	c, err := charge(e.Charge.Scope, releaseID, e.Charge.Attempt)
	if err != nil {
		return err
	}
	c.NodeKey, c.PublicProperties = e.Charge.NodeKey, e.Charge.PublicProperties // the plan does not say them
	if !e.Charge.equal(c) || e.Hash != e.hash() {
		return fmt.Errorf("%w: release %q and what was paid for", ErrMismatch, releaseID)
	}
	return nil
}
