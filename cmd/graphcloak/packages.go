// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// sensorPackages are what a plan hands to sensors that add their noise themselves.
type sensorPackages struct {
	dir      string
	releases int64
	most     int // sensors that report; 0: no limit
	options  sensor.Options
}

func (s *sensorPackages) flags(f *pflag.FlagSet) {
	f.StringVar(&s.dir, "sensor-package-dir", "", "write one package a sensor to this `DIR`, for `graphcloak cloak`")
	f.IntVar(&s.most, "max-sensors", 0, "sensors that report at most, a `NUMBER`; 0: no limit")
	f.Int64Var(&s.releases, "releases", 0, "releases after which each sensor refuses, a `NUMBER`; 0: no limit of its own")
}

// check finds what would stop the packages, before anything is computed.
func (s *sensorPackages) check(c *config.Config) error {
	switch {
	case s.most < 0:
		return fail(exitUsage, "--max-sensors is %d, want a number ≥ 0", s.most)
	case s.dir == "" && s.releases != 0:
		return fail(exitUsage, "--releases is a limit in sensor packages, and none are asked for").hint("give --sensor-package-dir DIR")
	case s.releases < 0:
		return fail(exitUsage, "--releases is %d, want a number ≥ 0", s.releases)
	case s.dir == "":
		return nil
	}
	if entries, err := os.ReadDir(s.dir); err == nil && len(entries) > 0 {
		return fail(exitConflict, "%s is not empty, and packages are never replaced",
			s.dir).hint("name an empty folder with --sensor-package-dir")
	}
	s.options.Releases = s.releases
	s.options.Deployment, s.options.Epoch = c.Escrow.Deployment.Name, c.Escrow.Deployment.Number
	return nil
}

// write leaves the packages of a plan.
func (s *sensorPackages) write(a *app, p *graphcloak.Plan) error {
	if s.dir == "" {
		return nil
	}
	packages, err := sensor.Packages(p.Plan, s.options)
	if err != nil {
		return asRefusal(err)
	}
	if _, err := sensor.WriteDir(s.dir, packages); err != nil {
		return err
	}
	a.note("Wrote %d sensor packages to %s", len(packages), s.dir)
	return nil
}
