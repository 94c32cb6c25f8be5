// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
)

// Validate refuses a σ or lattice that no plan with this clip could have chosen.
func (s SensorNoise) Validate(clip Interval) error {
	if err := CheckID("sensor id", string(s.ID)); err != nil {
		return err
	}
	if err := clip.validate(); err != nil {
		return err
	}
	return s.validateNoise(clip, clip.finest())
}

// Perturb clips, rounds and adds noise to the reading of one sensor, on its own.
// key is the sensor's escrow key, or nil for the system's randomness. The result
// lacks what the sensor's package adds: plan, deployment and epoch.
//
// Proof: docs/proofs/mechanism.md.
func (s SensorNoise) Perturb(reading float64, clip Interval, releaseID string, key *SensorKey) (SensorValue, error) {
	if err := s.Validate(clip); err != nil {
		return SensorValue{}, err
	}
	if err := CheckID("release id", releaseID); err != nil {
		return SensorValue{}, err
	}
	if math.IsNaN(reading) || math.IsInf(reading, 0) {
		return SensorValue{}, fmt.Errorf("privacy: the reading of sensor %q is not a finite number", s.ID)
	}
	v := SensorValue{SchemaVersion: SchemaVersion, ReleaseID: releaseID, ID: s.ID, Exponent: s.Exponent}
	var noise int64
	var err error
	rounded := clip.round(reading, s.Exponent)
	if key == nil {
		src := &systemWords{}
		defer src.wipe()
		noise, err = sample(src, s.Steps)
	} else {
		v.Nonce = new(Nonce)
		noise, *v.Nonce, err = key.newMAC().noise(releaseID, s.calibration(), rounded, s.Steps)
	}
	if err != nil {
		return SensorValue{}, err
	}
	v.Steps = rounded + noise
	v.Value = value(v.Steps, s.Exponent)
	return v, nil
}
