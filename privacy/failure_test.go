// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"math"
	"math/big"
	"testing"
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
		e, err := a.charge(c)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = a.Append(*e); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// TestFailuresAdd: distinct certificates add their β, one certificate counts once,
// and the ε of an account is that of δ − Σβ.
func TestFailuresAdd(t *testing.T) {
	const b1, b2, b3 = 1e-13, 3e-13, 5e-13
	a := spent(t, NewAccount("s"), certified("1", 1<<30, 1, b1), certified("2", 1<<30, 2, b2), certified("3", 1<<30, 3, b3), certified("4", 1<<30, 3, b3))
	const sum = b1 + b2 + b3
	if f := a.failure(); f < sum || f > sum*(1+1e-12) {
		t.Errorf("Σβ = %v, want %v from above", f, sum)
	}
	const delta = 1e-12
	got, err := a.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	least, err := a.Spent.Epsilon(delta - sum)
	if err != nil {
		t.Fatal(err)
	}
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
	a.Cap = &limit
	a.Certificates = map[string]float64{"x": beta, "y": beta}
	net, err := capCost(Budget{limit.Epsilon, limit.Delta - 2*beta})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := capCost(limit)
	if err != nil {
		t.Fatal(err)
	}
	left, ok := a.Remaining()
	if !ok || left > net || float64(left) < float64(net)*(1-1e-9) || left >= whole {
		t.Errorf("%d units are left below the cap, want %d and not the %d of β = 0", left, net, whole)
	}
	// Another release may take what is left, and not more; its own certificate counts.
	a.Releases = 1
	if _, err := a.charge(certified("r", left, 0, 0)); err != nil {
		t.Errorf("a release of all that is left: %v", err)
	}
	for _, c := range []Charge{certified("r", left+1, 0, 0), certified("r", left, 3, beta/4)} {
		if _, err := a.charge(c); !errors.Is(err, ErrExhausted) {
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
		c, err := mustPlan(t, spec).Charge("s", release, "a")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := spent(t, NewAccount("s"), charge(1, "1"), charge(1, "2"), charge(2, "3"))
	if len(a.Certificates) != 2 || a.failure() < 2e-13 {
		t.Errorf("%d certificates with Σβ = %v, want 2 with 2e-13", len(a.Certificates), a.failure())
	}
}

// TestCapIsTight: all releases that fit below a cap are (ε, δ)-private together, in
// exact arithmetic, and a millionth more is not.
func TestCapIsTight(t *testing.T) {
	for _, b := range []Budget{{4, 0.1}, {1, 1e-5}, {0.1, 1e-10}, {1, 1e-12}, {30, 1e-6}} {
		c, err := capCost(b)
		if err != nil {
			t.Fatal(err)
		}
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
			for range 80 {
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
