// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// The digest is that of the text whatever was asked for before, and whatever became of the plan
// since: no change of it finds the digest that it had.
func TestDigestFollowsPlan(t *testing.T) {
	p := manySensors(t, 3000)
	seen := map[Digest]string{}
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"nothing", func() {}},
		{"tau", func() { p.Tau = 3 }},
		{"epsilon", func() { p.Epsilon = 2 }},
		{"mu", func() { p.Mu *= 2 }},
		{"the first weight", func() { p.Sensors[0].Weight = 2 }},
		{"a node", func() { p.Sensors[1023].Node = 7 }},
		{"an id", func() { p.Sensors[1024].ID = "n" }},
		{"steps", func() { p.Sensors[2047].Steps++ }},
		{"a bound", func() { p.Sensors[2048].Bound = .5 }},
		{"the last exponent", func() { p.Sensors[2999].Exponent-- }},
		{"the order", func() { p.Sensors[5], p.Sensors[6] = p.Sensors[6], p.Sensors[5] }},
		{"a sensor less", func() { p.Sensors = p.Sensors[:2999] }},
	} {
		c.change()
		text := must.Get(p.MarshalJSON())(t)
		for range 2 {
			if d, err := p.Digest(); err != nil || d != planDigest(text) {
				t.Errorf("after a change of %s: %s, %v; the text has %s", c.what, d, err, planDigest(text))
			}
		}
		if before, ok := seen[planDigest(text)]; ok {
			t.Errorf("a change of %s gives the text of %s", c.what, before)
		}
		seen[planDigest(text)] = c.what
	}
}
