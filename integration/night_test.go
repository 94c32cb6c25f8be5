// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/privacy"
)

// TestOneNight starts the same run of a scheduler six times at once, each on a machine
// of its own: one pays, the others are in its way or find it done, and nothing is spent
// twice. Then a cap that slides, by the server's clock.
func TestOneNight(t *testing.T) {
	t.Parallel()
	c, label, suffix := newCLI(t), Load(t, Shipped("karate"), ownType), token()
	source(t, label, 16)
	property := secret(t, label)
	scope := "property=" + property
	args := func(more ...string) []string {
		return append([]string{
			"run", "--node-labels", label, "--relationship-types", label, "--node-key", "id", "--source-property", property, "--epsilon",
			"1", "--delta", "0.1",
			"--allocation", "uniform", "--property-prefix", "nt",
		}, more...)
	}
	const machines = 6
	results := make([]result, machines)
	var wg sync.WaitGroup
	for k := range machines {
		own := cli{c.path, slices.Concat(c.env, []string{"XDG_STATE_HOME=" + t.TempDir()})}
		wg.Go(func() { results[k] = own.run(t, args("--release-id", "night-"+suffix)...) })
	}
	wg.Wait()
	paid := 0
	for _, r := range results {
		switch {
		case r.exit == 0 && !strings.Contains(r.stdout, `"skipped"`):
			paid++
		case r.exit != 0 && r.exit != 8:
			t.Errorf("exit %d: %s", r.exit, r.stderr)
		}
	}
	account, err := privacy.VerifyLedger(t.Context(), connect(t).Ledger(), scope)
	if err != nil || account.Releases != 1 || paid != 1 {
		t.Errorf("%d releases in the ledger, %d paid, want one: %v", account.Releases, paid, err)
	}
	if v := c.ok(t, args("--release-id", "night-"+suffix)...); v["skipped"] != true || v["run"] == nil {
		t.Errorf("once more: %v", v)
	}
	if v := c.ok(t, args("--once-per", "20h", "--mode", "stats")...); v["skipped"] != true {
		t.Errorf("once per 20 hours: %v", v)
	}

	c.ok(t, "budget", "set", "--budget-scope", scope, "--epsilon", "1", "--delta", "0.1", "--per", "30d")
	c.refused(t, 9, "it has room for it from 20", args()...)
}
