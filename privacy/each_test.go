// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// Releases that are made together have the bits of releases that are made one by one.
func TestPerturbEach(t *testing.T) {
	spec := testSpec(9)
	spec.Randomness = EscrowRandomness
	p := mustPlan(t, spec)
	escrow := must.Get(NewEscrow(masterKey(), "d", 1))(t)
	var readings [][]float64
	var ids []string
	for k := range 5 {
		y := make([]float64, len(p.Sensors))
		for i := range y {
			y[i] = float64((i+3*k)%7) / 7
		}
		readings, ids = append(readings, y), append(ids, "r"+strconv.Itoa(k))
	}
	releases, err := p.PerturbEach(readings, ids, escrow)
	if err != nil || len(releases) != len(ids) {
		t.Fatalf("%d releases, %v", len(releases), err)
	}
	for k, r := range releases {
		alone := must.Get(p.Perturb(readings[k], ids[k], escrow))(t)
		got, _ := json.Marshal(r)
		want, _ := json.Marshal(alone)
		if string(got) != string(want) {
			t.Errorf("release %d is %s, alone %s", k, got, want)
		}
	}
	spec.Randomness = SystemRandomness
	for name, f := range map[string]func() ([]*Release, error){
		"one id short":       func() ([]*Release, error) { return p.PerturbEach(readings, ids[1:], escrow) },
		"a reading short":    func() ([]*Release, error) { return p.PerturbEach([][]float64{readings[0][1:]}, ids[:1], escrow) },
		"an id of nothing":   func() ([]*Release, error) { return p.PerturbEach(readings[:1], []string{""}, escrow) },
		"a plan of system's": func() ([]*Release, error) { return mustPlan(t, spec).PerturbEach(readings, ids, escrow) },
	} {
		if r, err := f(); err == nil || r != nil {
			t.Errorf("%s: released", name)
		}
	}
	// The nonces of equal readings would be equal.
	if r, err := p.PerturbEach(readings, []string{"a", "b", "c", "d", "b"}, escrow); !errors.Is(err, ErrInput) || r != nil {
		t.Errorf("two releases of one id: %v, want ErrInput", err)
	}
}
