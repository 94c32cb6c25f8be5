// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
)

// certified is a charge under a certificate that may fail.
func certified(release string, cost Cost, certificate byte, beta float64) Charge {
	return Charge{
		Scope: "s", ReleaseID: release, Attempt: "a", Budget: Budget{1000, 0.5}, Cost: cost,
		Certificate: Digest{certificate}, Failure: beta,
	}
}

// spent returns the account after the charges.
func spent(t *testing.T, a Account, charges ...Charge) Account {
	t.Helper()
	for _, c := range charges {
		e := must.Get(a.charge(c, nil))(t)
		a = must.Get(a.Append(*e))(t)
	}
	return a
}

// TestFailuresAdd: distinct certificates add their β, one certificate counts once,
// and the ε of an account is that of δ − Σβ.
func TestFailuresAdd(t *testing.T) {
	const b1, b2, b3 = 1e-13, 3e-13, 5e-13
	a := spent(t, NewAccount("s"), certified("1", 1<<30, 1, b1), certified("2", 1<<30, 2, b2), certified("3", 1<<30, 3, b3),
		certified("4", 1<<30, 3, b3))
	const sum = b1 + b2 + b3
	if f := a.failure(); f < sum || f > sum*(1+1e-12) {
		t.Errorf("Σβ = %v, want %v from above", f, sum)
	}
	const delta = 1e-12
	got := must.Get(a.Epsilon(delta))(t)
	least := must.Get(a.Spent.Epsilon(delta - sum))(t)
	if got < least || got > least*(1+1e-9) {
		t.Errorf("ε(δ) = %v, want that of δ − Σβ, %v, from above", got, least)
	}
}

// TestCapCountsFailures: what a cap of (ε, δ) has room for is what (ε, δ − Σβ) has
// room for, with the β of the release that asks.
func TestCapCountsFailures(t *testing.T) {
	const beta = 4e-13
	limit := Budget{1, 1e-12}
	a := NewAccount("s")
	a.Cap = &Cap{Budget: limit}
	a.Certificates = map[string]float64{"x": beta, "y": beta}
	net := must.Get(capCost(Budget{limit.Epsilon, limit.Delta - 2*beta}))(t)
	whole := must.Get(capCost(limit))(t)
	left, ok := a.Remaining()
	if !ok || left > net || float64(left) < float64(net)*(1-1e-9) || left >= whole {
		t.Errorf("%d units are left below the cap, want %d and not the %d of β = 0", left, net, whole)
	}
	// Another release may take what is left, and not more; its own certificate counts.
	a.Releases = 1
	if _, err := a.charge(certified("r", left, 0, 0), nil); err != nil {
		t.Errorf("a release of all that is left: %v", err)
	}
	for _, c := range []Charge{certified("r", left+1, 0, 0), certified("r", left, 3, beta/4)} {
		if _, err := a.charge(c, nil); !errors.Is(err, ErrExhausted) {
			t.Errorf("%d units with β = %v: %v, want ErrExhausted", c.Cost, c.Failure, err)
		}
	}
}

// TestCertificateHasItsSeed: two certificates of one sensitivity with other coins fail
// apart, so they are two in the ledger; the same coins are one.
func TestCertificateHasItsSeed(t *testing.T) {
	charge := func(seed byte, release string) Charge {
		spec := testSpec(2)
		spec.Sensitivity.Failure, spec.Sensitivity.Seed = 1e-13, Digest{seed}
		return must.Get(mustPlan(t, spec).Charge("s", release, "a"))(t)
	}
	a := spent(t, NewAccount("s"), charge(1, "1"), charge(1, "2"), charge(2, "3"))
	if len(a.Certificates) != 2 || a.failure() < 2e-13 {
		t.Errorf("%d certificates with Σβ = %v, want 2 with 2e-13", len(a.Certificates), a.failure())
	}
}

// TestCertificatesDiffer: certificates of one seed that bound other things may fail
// apart, so each is counted: another bracket, weight, graph or τ.
func TestCertificatesDiffer(t *testing.T) {
	ids := make(map[Digest]string)
	for name, change := range map[string]func(*Spec){
		"same":   func(*Spec) {},
		"upper":  func(s *Spec) { s.Sensitivity.Upper = 0.11 },
		"lower":  func(s *Spec) { s.Sensitivity.Lower = 0.08 },
		"weight": func(s *Spec) { s.Weights = []float64{1, 2} },
		"graph":  func(s *Spec) { s.GraphDigest[0]++ },
		"τ":      func(s *Spec) { s.Tau = 3 },
		"α":      func(s *Spec) { s.Alpha = 2 },
		"β":      func(s *Spec) { s.Sensitivity.Failure = 2e-13 },
	} {
		spec := testSpec(2)
		spec.Sensitivity.Failure, spec.Sensitivity.Seed = 1e-13, Digest{1}
		change(&spec)
		id := mustPlan(t, spec).certificate()
		if other, ok := ids[id]; ok {
			t.Errorf("certificates %q and %q have one id", name, other)
		}
		ids[id] = name
	}
}

// TestPerSensorCharge: each sensor is charged its own (Δ_s + g_s + 2η)/σ_s, and the
// release the most of them.
func TestPerSensorCharge(t *testing.T) {
	spec := testSpec(3)
	spec.Guarantee, spec.PerSensor, spec.EntryError = PerSensor, []float64{0.1, 0.4, 0.02}, 1e-4
	// A range so wide that rounding is a real part of each charge.
	spec.Clip = Interval{0, 0x1p57}
	p := mustPlan(t, spec)
	c := must.Get(p.Charge("s", "r", "a"))(t)
	var most Cost
	for k, s := range p.Sensors {
		mu := (spec.PerSensor[k] + s.Step() + 2e-4) / s.Sigma()
		got := c.Sensors[string(s.ID)]
		if want := mu * mu / 2; got.Rho() < want || got.Rho() > want*(1+1e-9)+costUnit {
			t.Errorf("sensor %q is charged ρ = %v, want %v from above", s.ID, got.Rho(), want)
		}
		most = max(most, got)
	}
	if c.Cost != most {
		t.Errorf("the release is charged %d, the sensor that pays most %d", c.Cost, most)
	}
}

// TestScopeHoldsOneGuarantee: joint and perSensor costs do not add, so a scope takes
// the kind of its first release only.
func TestScopeHoldsOneGuarantee(t *testing.T) {
	joint := certified("1", 1<<30, 0, 0)
	each := certified("2", 1<<30, 0, 0)
	each.Guarantee, each.Sensors = PerSensor, map[string]Cost{"x": 1 << 30}
	for _, pair := range [][2]Charge{{joint, each}, {each, joint}} {
		a := spent(t, NewAccount("s"), pair[0])
		if _, err := a.charge(pair[1], nil); err == nil {
			t.Errorf("a %s release went into a scope of %s ones", pair[1].Guarantee, pair[0].Guarantee)
		}
	}
}

// TestReleaseDigest: the digest that the ledger records is another one for every part
// of what is published.
func TestReleaseDigest(t *testing.T) {
	spec := testSpec(2)
	spec.Randomness = EscrowRandomness
	e := must.Get(NewEscrow(masterKey(), "d", 1))(t)
	r := must.Get(mustPlan(t, spec).Perturb([]float64{0.1, 0.2}, "r", e))(t)
	seen := make(map[Digest]string)
	for name, change := range map[string]func(*Release){
		"same":       func(*Release) {},
		"X":          func(r *Release) { r.x[1]++ },
		"first X":    func(r *Release) { r.x[0]-- },
		"id":         func(r *Release) { r.id = "s" },
		"nonce":      func(r *Release) { r.nonces[0][15]++ },
		"deployment": func(r *Release) { r.deployment = "e" },
		"epoch":      func(r *Release) { r.epoch++ },
		"plan":       func(r *Release) { r.plan = mustPlan(t, testSpec(2)) },
	} {
		q := *r
		q.x, q.nonces = slices.Clone(r.x), slices.Clone(r.nonces)
		change(&q)
		d := must.Get(q.Digest())(t)
		if other, ok := seen[d]; ok {
			t.Errorf("releases %q and %q have one digest", name, other)
		}
		seen[d] = name
	}
}

// TestCapIsTight: all releases that fit below a cap are (ε, δ)-private together, in
// exact arithmetic, and a millionth more is not.
func TestCapIsTight(t *testing.T) {
	for _, b := range []Budget{{4, 0.1}, {1, 1e-5}, {0.1, 1e-10}, {1, 1e-12}, {30, 1e-6}} {
		c := must.Get(capCost(b))(t)
		delta := func(cost float64) *big.Float { return profile(b.Epsilon, math.Sqrt(2*cost*costUnit)) }
		limit := new(big.Float).SetFloat64(b.Delta)
		if d := delta(float64(c)); d.Cmp(limit) > 0 {
			t.Errorf("%+v: the cap has room for δ = %.10g", b, d)
		}
		if d := delta(float64(c)*(1+1e-6) + 1); d.Cmp(limit) <= 0 {
			t.Errorf("%+v: the cap is wasteful: a millionth more still has δ = %.10g", b, d)
		}
	}
}

// TestFinalCheckIsTight: the check that every plan and every release repeats lets
// through no μ whose δ is more than 1e-10 above the net δ, relatively, and refuses
// none that is as much below.
func TestFinalCheckIsTight(t *testing.T) {
	for _, b := range []Budget{{4, 0.1}, {1, 1e-5}, {0.1, 1e-10}, {1, 1e-12}} {
		spec := testSpec(2)
		spec.Budget = b
		spec.Sensitivity.Failure = min(1e-12, b.Delta/100)
		p := mustPlan(t, spec)
		net := b.Delta - spec.Sensitivity.Failure
		for _, c := range []struct {
			excess float64
			want   bool
		}{{-1e-10, true}, {1e-10, false}, {1e-2, false}} {
			target := new(big.Float).SetFloat64(net * (1 + c.excess))
			lo, hi := 0.0, p.Mu*2 // δ grows with μ
			for range 56 {
				if mid := (lo + hi) / 2; profile(b.Epsilon, mid).Cmp(target) < 0 {
					lo = mid
				} else {
					hi = mid
				}
			}
			if ok, err := p.permits(lo); err != nil || ok != c.want {
				t.Errorf("%+v: μ = %v, whose δ is %v of the net δ, is permitted: %v (%v), want %v", b, lo, 1+c.excess, ok, err, c.want)
			}
		}
	}
}

// undated is a chain of n releases as an earlier version wrote it.
func undated(t *testing.T, n int) (Account, []Entry) {
	t.Helper()
	a := NewAccount("s")
	var entries []Entry
	for i := range n {
		e := must.Get(a.charge(Charge{Scope: "s", ReleaseID: strconv.Itoa(i), Attempt: "a", Budget: Budget{1, 1e-5}, Cost: 1000}, nil))(t)
		a = must.Get(a.Append(*e))(t)
		entries = append(entries, *e)
	}
	return a, entries
}

// Releases of a version that kept no times count until the next entry that has one
// leaves the window; before there is one, they count always.
func TestUndatedReleasesCount(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, entries := undated(t, 3)
	limit := Cap{Budget{1, 1e-5}, 3600}
	capped := a
	capped.Cap = &limit
	if recent, err := capped.Recent(entries, now.AddDate(1000, 0, 0)); err != nil || recent.Spent != 3000 {
		t.Errorf("%+v, %v, want all three", recent, err)
	}
	e := a.stamp(*a.next(Entry{Kind: KindCap, Cap: &limit}), now)
	dated := must.Get(a.Append(e))(t)
	entries = append(entries, e)
	for after, want := range map[time.Duration]Cost{time.Hour - 1: 3000, time.Hour: 0} {
		recent, err := dated.Recent(entries, now.Add(after))
		if err != nil || recent.Spent != want {
			t.Errorf("%v later: %d, %v, want %d", after, recent.Spent, err, want)
		}
	}
}

// A chain whose times go back, or were changed, is broken, however sound its hashes.
func TestTimesOfAChain(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, entries := undated(t, 1)
	for i := range 2 {
		e := a.stamp(*a.next(Entry{Kind: KindVoid, ReleaseID: strconv.Itoa(i)}), now.Add(time.Duration(i)*time.Hour))
		a = must.Get(a.Append(e))(t)
		entries = append(entries, e)
	}
	must.Get(Replay("s", entries))(t)
	for name, to := range map[string]time.Time{"earlier": now.Add(-time.Hour), "later": now.Add(time.Minute), "none": {}} {
		forged := append([]Entry(nil), entries...)
		forged[2].Time = to
		if _, err := Replay("s", forged); !errors.Is(err, ErrChain) {
			t.Errorf("%s: %v, want ErrChain", name, err)
		}
		forged[2].Hash = forged[2].hash()
		if _, err := Replay("s", forged); (name == "earlier") != errors.Is(err, ErrChain) {
			t.Errorf("%s, with a hash of its own: %v", name, err)
		}
	}
}

// Of two caps none allows what the lower one does not: for ever is the longest window.
func TestLowerCap(t *testing.T) {
	b := Budget{1, 1e-5}
	for _, c := range []struct{ a, b, want int64 }{{0, 60, 0}, {60, 0, 0}, {60, 3600, 3600}, {0, 0, 0}} {
		if got := stricterCap(&Cap{b, c.a}, &Cap{b, c.b}); got.PerSeconds != c.want {
			t.Errorf("%d s and %d s: %d s, want %d", c.a, c.b, got.PerSeconds, c.want)
		}
	}
	for _, c := range [][2]Budget{{{1, 1e-5}, {2, 1e-9}}, {{2, 1e-9}, {1, 1e-5}}} {
		if got := stricterCap(&Cap{Budget: c[0]}, &Cap{Budget: c[1]}); got.Budget != (Budget{1, 1e-9}) {
			t.Errorf("of %v the lower cap is %v", c, got.Budget)
		}
	}
}

// The difference of two accounts that are not one before the other is refused.
func TestSince(t *testing.T) {
	a, _ := undated(t, 2)
	b, _ := undated(t, 3)
	if _, err := a.since(b); !errors.Is(err, ErrChain) {
		t.Errorf("%v, want ErrChain", err)
	}
}
