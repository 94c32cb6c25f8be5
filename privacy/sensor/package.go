// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Package is everything that one sensor needs to know, all of it public: no
// reading and no key is in it.
type Package struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Plan          privacy.Digest      `json:"plan"`
	GraphDigest   privacy.Digest      `json:"graphDigest"`
	Sensor        privacy.SensorNoise `json:"sensor"` // σ and lattice
	SigmaMin      float64             `json:"sigmaMin"`
	Clip          privacy.Interval    `json:"clip"`
	Randomness    privacy.Randomness  `json:"randomness"`
	Deployment    string              `json:"deployment,omitempty"` // escrow only
	Epoch         uint32              `json:"epoch,omitempty"`      // escrow only
	Cost          privacy.Cost        `json:"cost"`                 // of one release, in units of 2⁻⁴⁰ of ρ
	Limit         privacy.Cost        `json:"limit"`                // of all releases of this sensor together; 0: none
	Guarantee     string              `json:"guarantee"`            // the plan's sentence
}

// Options of [Packages].
type Options struct {
	Deployment string // escrow only
	Epoch      uint32 // escrow only
	// Releases is how many releases each sensor may make before it refuses. Zero
	// means no limit of its own.
	Releases int64
}

// Packages returns a package for each reporting sensor, in the order of the plan.
// A silent sensor gets none.
func Packages(p *privacy.Plan, opts Options) ([]Package, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	if (p.Randomness == privacy.EscrowRandomness) != (opts.Deployment != "") {
		return nil, errors.New("sensor: a deployment is named with escrow randomness, and only there")
	}
	cost := p.Cost()
	if opts.Releases < 0 || opts.Releases > 0 && int64(cost) > math.MaxInt64/opts.Releases {
		return nil, fmt.Errorf("sensor: the limit is %d releases, want 0 to %d", opts.Releases, math.MaxInt64/int64(cost))
	}
	sentence := p.Sentence()
	packages := make([]Package, len(p.Sensors))
	for i, s := range p.Sensors {
		packages[i] = Package{
			SchemaVersion: privacy.SchemaVersion, Plan: digest, GraphDigest: p.GraphDigest,
			Sensor: s, SigmaMin: s.Sigma(), Clip: p.Clip, Randomness: p.Randomness,
			Deployment: opts.Deployment, Epoch: opts.Epoch,
			Cost: cost, Limit: cost * privacy.Cost(opts.Releases), Guarantee: sentence,
		}
	}
	return packages, nil
}

// Read reads one package and checks it.
func Read(r io.Reader) (Package, error) {
	data, err := disk.All(r, "a package", 1<<20)
	if err != nil {
		return Package{}, fmt.Errorf("sensor: read package: %w", err)
	}
	var p Package
	if err := strictjson.Unmarshal(data, &p); err != nil {
		return Package{}, fmt.Errorf("sensor: read package: %w", err)
	}
	if err := p.Validate(); err != nil {
		return Package{}, err
	}
	stated, err := json.Marshal(p)
	if err != nil {
		return Package{}, fmt.Errorf("sensor: read package: %w", err)
	}
	if err := strictjson.Compare(data, stated, ""); err != nil {
		return Package{}, fmt.Errorf("sensor: read package: %w", err)
	}
	return p, nil
}

// Validate refuses a package that no plan could have made, or whose σ is below its
// own minimum.
func (p Package) Validate() error {
	if err := p.Sensor.Validate(p.Clip); err != nil {
		return fmt.Errorf("sensor: %w", err)
	}
	switch {
	case p.SchemaVersion != privacy.SchemaVersion:
		return fmt.Errorf("sensor: package has schema version %d, want %d", p.SchemaVersion, privacy.SchemaVersion)
	case !(p.SigmaMin > 0 && p.Sensor.Sigma() >= p.SigmaMin):
		return fmt.Errorf("sensor: σ = %v is below the minimum %v of sensor %q", p.Sensor.Sigma(), p.SigmaMin, p.Sensor.ID)
	case p.Cost < 1 || p.Limit < 0:
		return fmt.Errorf("sensor: a release costs %d of a limit of %d, want ≥ 1 and ≥ 0", p.Cost, p.Limit)
	case (p.Randomness == privacy.EscrowRandomness) != (p.Deployment != ""):
		return errors.New("sensor: the package names a deployment with escrow randomness, and only there")
	}
	return nil
}
