// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestReplayFindsRewriting: an old entry that is replaced by a sound one, hash and
// all, no longer fits the next.
func TestReplayFindsRewriting(t *testing.T) {
	a, entries := undated(t, 4)
	if got, err := Replay("s", entries); err != nil || !got.equal(a) {
		t.Fatalf("%+v (%v), want %+v", got, err, a)
	}
	cheaper := *entries[1].Charge
	cheaper.Cost = 1
	entries[1].Charge = &cheaper
	entries[1].Hash = entries[1].hash()
	if _, err := Replay("s", entries); !errors.Is(err, ErrChain) {
		t.Errorf("err = %v, want ErrChain", err)
	}
}

// TestEntryPaysInFull: an entry whose charge or hash is another pays for nothing.
func TestEntryPaysInFull(t *testing.T) {
	p := mustPlan(t, testSpec(3))
	r := must.Get(p.Perturb(make([]float64, 3), "r", nil))(t)
	c := must.Get(p.Charge("s", "r", "a"))(t)
	for name, change := range map[string]func(e *Entry){
		"":           func(*Entry) {},
		"number":     func(e *Entry) { e.Seq++ },
		"hash":       func(e *Entry) { e.Hash[0]++ },
		"cost":       func(e *Entry) { e.Charge.Cost--; e.Hash = e.hash() },
		"no payment": func(e *Entry) { e.Charge = nil; e.Hash = e.hash() },
	} {
		paid := c
		e := NewAccount("s").next(Entry{Kind: KindSpent, ReleaseID: "r", Charge: &paid})
		change(e)
		if err := VerifyEntry(r, *e); (name == "") != (err == nil) || err != nil && !errors.Is(err, ErrMismatch) {
			t.Errorf("another %q: %v", name, err)
		}
	}
}

// TestAccountsAreValues: Append leaves the account it is called on alone.
func TestAccountsAreValues(t *testing.T) {
	before := NewAccount("s")
	c := Charge{
		Scope: "s", ReleaseID: "r", Attempt: "a", Budget: Budget{1, 1e-5}, Cost: 9, Guarantee: PerSensor,
		Sensors: map[string]Cost{"x": 9}, Failure: 1e-13, Certificate: Digest{1},
	}
	e := must.Get(before.charge(c, nil))(t)
	one := must.Get(before.Append(*e))(t)
	c.ReleaseID = "r2"
	e = must.Get(one.charge(c, nil))(t)
	two := must.Get(one.Append(*e))(t)
	if before.Releases != 0 || one.Sensors["x"] != 9 || two.Sensors["x"] != 18 || two.failure() != one.failure() || one.failure() < 1e-13 {
		t.Errorf("accounts %+v, %+v, %+v: one certificate counts once, and none changes", before, one, two)
	}
}

// TestChargeMatchesItsBudget: a charge cannot claim a budget that its cost exceeds.
func TestChargeMatchesItsBudget(t *testing.T) {
	c := must.Get(mustPlan(t, testSpec(3)).Charge("s", "r", "a"))(t)
	c.Budget.Epsilon = 3.999
	if e, err := NewAccount("s").charge(c, nil); err == nil {
		t.Errorf("a release of ε = 4 was charged as ε = %v", e.Charge.Budget.Epsilon)
	}
}

// TestNodeKeys: an account takes one key.
func TestNodeKeys(t *testing.T) {
	charge := func(id, key string, sensors ...string) Charge {
		c := Charge{
			Scope: "s", ReleaseID: id, Attempt: "a", Budget: Budget{1, 1e-5}, Cost: 9, Guarantee: PerSensor,
			Sensors: map[string]Cost{}, NodeKey: key,
		}
		for _, s := range sensors {
			c.Sensors[s] = 9
		}
		return c
	}
	a := NewAccount("s")
	for i, step := range []struct {
		key, sensor string
		ok          bool
	}{
		{"id", "x", true},
		{"name", "z", false},
		{"id", "y", true},
		{"name", "y", false},
		{"", "y", false},
	} {
		e, err := a.charge(charge(strconv.Itoa(i), step.key, step.sensor), nil)
		if (err == nil) != step.ok || err != nil && !errors.Is(err, ErrInput) {
			t.Errorf("step %d: %v, want it granted: %t", i, err, step.ok)
		}
		if err != nil {
			continue
		}
		a = must.Get(a.Append(*e))(t)
	}
	other := must.Get(NewAccount("t").add(charge("r", "name", "x")))(t)
	if _, err := a.absorb(other); !errors.Is(err, ErrJoin) {
		t.Errorf("accounts under two keys: %v, want ErrJoin", err)
	}
}
