// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/plan"
)

// The hint on an unknown scenario names the graphs of the plan, or the one that is like it.
func TestUnknownScenarioNamesThePlans(t *testing.T) {
	planned := []plan.Alternative{{Name: "closed valve"}}
	for name, want := range map[string]string{"zzzzzzzz": "the plan's own: closed valve", "closed vlave": "--scenario closed valve"} {
		err, ok := errors.AsType[*failure](errScenario(name, planned))
		if !ok || !strings.Contains(err.suggestion, want) {
			t.Errorf("%s: %v has no hint with %q", name, err, want)
		}
	}
}
