// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"regexp"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// The error of a τ that is too large names one that is not, and not far from the largest:
// a plan can be made for it, and for 1.2 times as much there is none.
func TestTooLargeTau(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for _, guarantee := range []privacy.Guarantee{privacy.Joint, privacy.PerSensor} {
		for _, tau := range []float64{64, 1e9} {
			job := paperJob()
			job.Plan.Guarantee = guarantee
			try := func(tau float64) error {
				job.Settings.Tau = tau
				m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{})
				if err == nil {
					_, err = m.Plan(t.Context(), job.Plan)
				}
				return err
			}
			err := try(tau)
			if !errors.Is(err, plan.ErrTau) {
				t.Fatalf("tau %v: %v, want ErrTau", tau, err)
			}
			named := regexp.MustCompile(`at tau = \S+ .* up to about (\S+)$`).FindStringSubmatch(err.Error())
			if named == nil {
				t.Fatalf("tau %v: %v names none", tau, err)
			}
			most, _ := strconv.ParseFloat(named[1], 64)
			if err := try(most); err != nil {
				t.Errorf("%v tau %v names %v, for which: %v", guarantee, tau, most, err)
			}
			if err := try(1.2 * most); err == nil {
				t.Errorf("%v tau %v names %v, but %v can be planned for", guarantee, tau, most, 1.2*most)
			}
		}
	}
}

// Where e^{-τL} itself is out of reach, the largest τ is named too.
func TestTauOutOfReach(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := paperJob()
	job.Settings.Method = expm.Chebyshev
	try := func(tau float64) error {
		job.Settings.Tau = tau
		_, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{})
		return err
	}
	for _, tau := range []float64{1e8, 1e13} {
		err := try(tau)
		if !errors.Is(err, expm.ErrAccuracy) {
			t.Fatalf("tau %v: %v, want ErrAccuracy", tau, err)
		}
		named := regexp.MustCompile(`up to (\S+) is in reach`).FindStringSubmatch(err.Error())
		if named == nil {
			t.Fatalf("tau %v: %v names none", tau, err)
		}
		most, _ := strconv.ParseFloat(named[1], 64)
		if err := try(0.9 * most); err != nil {
			t.Errorf("tau %v names %v: %v", tau, most, err)
		}
	}
}
