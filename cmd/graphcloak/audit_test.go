// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/privacy/audit"
)

// A plan that is refuted ends the command with exit code 6, and says so.
func TestRefutedAudit(t *testing.T) {
	a, stdout, _ := kit(t, "--from", "example:karate", "--tau", "1", "--epsilon", "1", "--delta", "1e-3", "--allocation", "uniform")
	_, _, p, _ := planned(t, a)
	if err := a.showAudit(p.Plan, &audit.Report{}); err != nil {
		t.Errorf("not refuted: %v", err)
	}
	err := a.showAudit(p.Plan, &audit.Report{Refuted: true, Distinguish: audit.Result{Epsilon: 2}})
	failed, ok := errors.AsType[*failure](err)
	if !ok || failed.exit != exitValidation || !strings.Contains(err.Error(), "at least ε = 2.000") ||
		!strings.Contains(stdout.String(), "REFUTED") {
		t.Errorf("refuted: %v, %s", err, stdout)
	}
}
