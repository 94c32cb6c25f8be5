// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// testSpec returns a valid spec with m sensors.
func testSpec(m int) Spec {
	s := Spec{
		Public: Public{
			GraphDigest: Digest{1, 2, 3}, NodeCount: m, RelationshipCount: m, ComponentCount: 1,
			Tau: 2, Laplacian: "combinatorial", Metric: "hops", Alpha: 1,
		},
		Budget:      Budget{Epsilon: 4, Delta: 0.1},
		Sensitivity: Sensitivity{Lower: 0.09, Upper: 0.1, Edge: [2]graph.ID{"a", "b"}},
	}
	for i := range m {
		s.Sensors = append(s.Sensors, Sensor{Node: i, ID: graph.ID("s" + string(rune('a'+i)))})
	}
	return s
}

func mustPlan(t testing.TB, s Spec) *Plan {
	t.Helper()
	return must.Get(NewPlan(s))(t)
}

// TestUniformPlan checks the arithmetic of privacy.md: g before Δ' before S.
func TestUniformPlan(t *testing.T) {
	p := mustPlan(t, testSpec(9))
	const r = 0.485540335
	k := int(math.Floor(math.Log2(r*0.1))) - 34
	g := math.Ldexp(1, k)
	want := r * (0.1 + 3*g)
	s := p.Sensors[0]
	if s.Exponent != k || math.Abs(s.Sigma()/want-1) > 1e-8 || s.Steps < 1<<34 || p.Sigma() != s.Sigma() {
		t.Errorf("k = %d, σ = %v, S = %d; want %d, %v, at least 2³⁴", s.Exponent, s.Sigma(), s.Steps, k, want)
	}
	if p.Mu > 1/r*(1+1e-9) || p.Mu < 1/r*(1-1e-8) {
		t.Errorf("μ = %v, want just below %v", p.Mu, 1/r)
	}
}

func TestReleaseRoundTrip(t *testing.T) {
	escrow := must.Get(NewEscrow(masterKey(), "test", 1))(t)
	y := []float64{0.1, 0.9, 7}
	for _, noise := range []Noise{System{}, escrow} {
		s := testSpec(3)
		s.Randomness = noise.randomness()
		p := mustPlan(t, s)
		r := must.Get(p.Perturb(y, "r1", noise))(t)
		data := must.Get(json.Marshal(r))(t)
		var q Release
		must.Do(t, json.Unmarshal(data, &q))
		if !reflect.DeepEqual(r, &q) {
			t.Error("release changed on the way through JSON")
		}
		if err := Verify(&q, p); err != nil {
			t.Error(err)
		}
		if noise == escrow {
			got := must.Get(escrow.Reveal(&q))(t)
			for i := range got {
				if math.Abs(got[i]-min(y[i], 1)) > p.Sensors[i].Step()/2 {
					t.Errorf("revealed %v, want %v within half a step", got[i], y[i])
				}
			}
		}
	}
}

// TestEverySensorIsValidated: noise that the sampler has no room for is refused at whichever
// sensor it stands, also where μ is as stated.
func TestEverySensorIsValidated(t *testing.T) {
	spec := testSpec(6)
	spec.Weights = []float64{1, 1, .5, .5, .25, .25}
	for at := range spec.Weights {
		p := mustPlan(t, spec)
		s := &p.Sensors[at]
		s.Exponent, s.Steps = s.Exponent-10, s.Steps<<10
		p.Mu, p.JointMu = p.charge()
		if p.validate() == nil {
			t.Errorf("sensor %d has σ of %d steps, at most %d can be drawn", at, s.Steps, int64(maxSteps))
		}
	}
}

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
		{"a letter", func() { p.Sensors[1024].ID = "m" }},
		{"steps", func() { p.Sensors[2047].Steps++ }},
		{"a bound", func() { p.Sensors[2048].Bound = .5 }},
		{"the last exponent", func() { p.Sensors[2999].Exponent-- }},
		{"the order", func() { p.Sensors[5], p.Sensors[6] = p.Sensors[6], p.Sensors[5] }},
		{"a sensor less", func() { p.Sensors = p.Sensors[:2999] }},
	} {
		c.change()
		text := must.Get(p.MarshalJSON())(t)
		want := hash([]byte("graphcloak/v1/plan"), text)
		for range 2 {
			if d, err := p.Digest(); err != nil || d != want {
				t.Errorf("after a change of %s: %s, %v; the text has %s", c.what, d, err, want)
			}
		}
		if before, ok := seen[want]; ok {
			t.Errorf("a change of %s gives the text of %s", c.what, before)
		}
		seen[want] = c.what
	}
}

// An id that is given twice is found where it comes again, in whatever order the ids are.
func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		ids   []graph.ID
		twice int // −1: none
	}{
		{nil, -1},
		{[]graph.ID{"1", "2", "9", "10", "11", "a1"}, -1},
		{[]graph.ID{"1", "2", "2"}, 2},
		{[]graph.ID{"1", "2", "10", "2", "10"}, 3},
		{[]graph.ID{"b", "a", "c", "aa"}, -1},
		{[]graph.ID{"b", "a", "c", "b"}, 3},
		{[]graph.ID{"2", "1", "3", "3"}, 3},
	} {
		var sensors []SensorNoise
		for _, id := range c.ids {
			sensors = append(sensors, SensorNoise{Sensor: Sensor{ID: id}})
		}
		if found := repeated(sensors); found != c.twice {
			t.Errorf("%q: found at %d, want %d", c.ids, found, c.twice)
		}
	}
}

// A hash is that of its parts behind their lengths.
func TestHashOfParts(t *testing.T) {
	parts := [][]byte{[]byte("graphcloak"), nil, make([]byte, 70_000)}
	if got, want := hash(parts...), Digest(sha256.Sum256(lp(parts...))); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
