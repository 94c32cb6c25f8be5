// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/expm/tau"
)

// A range has one τ for what takes one: the middle on a logarithmic scale, within it.
func TestTauRange(t *testing.T) {
	for text, want := range map[string]struct {
		tau   tau.Range
		value float64
	}{
		"auto":          {tau.Range{}, 0},
		"3":             {tau.At(3), 3},
		"1.5..2.5":      {tau.Range{From: 1.5, To: 2.5}, 1.936},
		"1..4":          {tau.Range{From: 1, To: 4}, 2},
		"1..1.0001":     {tau.Range{From: 1, To: 1.0001}, 1},
		"1e-300..1e300": {tau.Range{From: 1e-300, To: 1e300}, 1},
	} {
		c := load(t, config.Layers{Flags: flags(t, "--tau", text)})
		got := c.Diffusion.Tau
		if got != want.tau || got.Value() != want.value || got.String() == "" || got.IsWide() != (got.From < got.To) {
			t.Errorf("%s: %+v, one of it %v, want %+v and %v", text, got, got.Value(), want.tau, want.value)
		}
		again := load(t, config.Layers{File: file(t, "c.yaml", "tau: "+got.String()+"\n")})
		if again.Diffusion.Tau != got {
			t.Errorf("%s from a file: %+v", text, again.Diffusion.Tau)
		}
	}
	narrow := tau.Range{From: 1.00001, To: 1.00002}
	if v := narrow.Value(); v < narrow.From || v > narrow.To {
		t.Errorf("%v is outside of %v", v, narrow)
	}
}
