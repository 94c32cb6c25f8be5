// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/report"
)

// decoded is what a command says in JSON.
func decoded[T any](t *testing.T, args ...string) (v T) {
	t.Helper()
	code, stdout, stderr := called(t, append(args, "--format", "json")...)
	if code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, stderr)
	}
	must.Do(t, json.Unmarshal([]byte(stdout), &v))
	return v
}

// agree reports whether two descriptions of noise are one within a relative tolerance.
func agree(a, b report.Noise, tolerance float64) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) <= tolerance*math.Abs(y) }
	return near(a.Sigma, b.Sigma) && near(a.SigmaMin, b.SigmaMin) && near(a.SigmaMax, b.SigmaMax) && near(a.UniformSigma, b.UniformSigma)
}

// TestNoiseAgrees: every command names the σ of the same settings by the same names
// and says the same numbers. Up to 700 nodes the sensitivity is computed exactly, and
// they agree to rounding; above, each plan is certified again with coins of its own, and
// they agree within the width of its bracket, 0.001.
func TestNoiseAgrees(t *testing.T) {
	const small, large = "sbm,n=60,k=3,in=0.4,out=0.02,seed=7", "sbm,n=750,k=3,in=0.03,out=0.001,seed=7"
	for _, c := range []struct {
		name, graph string
		settings    []string
		tolerance   float64
	}{
		{"uniform", small, []string{"--allocation", "uniform"}, 1e-9},
		{"allocated", small, nil, 1e-9},
		{"per sensor", small, []string{"--guarantee", "perSensor"}, 1e-9},
		{"uniform, by a search", large, []string{"--allocation", "uniform"}, 0.0011},
	} {
		t.Run(c.name, func(t *testing.T) {
			kit(t)
			if code, text := told(t, "", "graph", "generate", c.graph, "g"); code != 0 {
				t.Fatal(text)
			}
			settings := append([]string{"--from", "folder:g", "--tau", "1", "--epsilon", "4", "--delta", "0.1"}, c.settings...)
			with := func(command string, more ...string) []string {
				return slices.Concat([]string{command}, settings, more)
			}
			planned := decoded[struct {
				report.Noise
				Sensors    []struct{ Sigma float64 }
				Allocation *struct{ Uniform report.Noise }
			}](t, with("plan", "--trials", "0", "-o", "-")...)
			var sigmas []float64
			for _, s := range planned.Sensors {
				sigmas = append(sigmas, s.Sigma)
			}
			want := planned.Noise
			if want.SigmaMin != slices.Min(sigmas) || want.SigmaMax != slices.Max(sigmas) ||
				(want.Sigma != 0) != (want.SigmaMin == want.SigmaMax) {
				t.Errorf("the plan says %+v, its sensors have σ from %v to %v", want, slices.Min(sigmas), slices.Max(sigmas))
			}
			if allocated := planned.Allocation != nil; allocated != (want.UniformSigma > 0) || allocated &&
				planned.Allocation.Uniform.Sigma != want.UniformSigma {
				t.Errorf("the plan says %+v beside the allocation %+v", want, planned.Allocation)
			}
			for _, command := range [][]string{
				with("run", "--source-property", "source", "--dry-run"),
				with("evaluate", "--trials", "20"),
				with("run", "--source-property", "source", "--mode", "stats"),
			} {
				if got := decoded[report.Noise](t, command...); !agree(got, want, c.tolerance) {
					t.Errorf("%q says %+v, the plan %+v", command, got, want)
				}
			}
			checkUniform(t, settings, want, c.tolerance)
		})
	}
}

// checkUniform holds what is said of uniform noise without a plan against the plan:
// inspect before a plan adds 2⁻³⁰ and what rounding may have done.
func checkUniform(t *testing.T, settings []string, want report.Noise, tolerance float64) {
	t.Helper()
	uniform := max(want.Sigma, want.UniformSigma)
	if uniform > 0 { // a plan by sensor does not need it
		without := slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return s == "--allocation" || s == "uniform" })
		inspected := decoded[report.Noise](t, append([]string{"inspect"}, without...)...)
		if got := inspected.UniformSigma; math.Abs(got-uniform) > (tolerance+1e-8)*uniform {
			t.Errorf("inspect says uniform σ %v, the plan %v", got, uniform)
		}
	}
}

// TestPriceOfAllocation: a plan says in words what allocation costs, with its own
// numbers, and says nothing where noise is uniform or nothing was simulated.
func TestPriceOfAllocation(t *testing.T) {
	kit(t)
	planned := []string{"plan", "--from", "example:net3", "--tau", "2", "--epsilon", "4", "--delta", "0.1", "--trials", "50"}
	type accuracy struct {
		Known float64 `json:"credibleSetSizeKnownMass"`
	}
	p := decoded[struct {
		ExpectedAccuracy accuracy
		Allocation       struct {
			Uniform struct{ ExpectedAccuracy accuracy }
		}
	}](t, planned...)
	here, uniform := p.ExpectedAccuracy.Known, p.Allocation.Uniform.ExpectedAccuracy.Known
	if !(here < uniform) {
		t.Fatalf("%v nodes under allocated noise, %v under uniform noise: the example is to show a price", here, uniform)
	}
	want := fmt.Sprintf("hides among %.3g nodes on average, under uniform noise among %.3g.", here, uniform)
	for _, c := range []struct {
		more []string
		says bool
	}{{nil, true}, {[]string{"--trials", "0"}, false}, {[]string{"--allocation", "uniform"}, false}} {
		code, text := told(t, "", slices.Concat(planned, c.more, []string{"--format", "table"})...)
		text = strings.Join(strings.Fields(text), " ")
		if code != 0 || strings.Contains(text, want) != c.says || strings.Contains(text, "price of allocation") != c.says {
			t.Errorf("%q: exit %d, want %q: %t, got\n%s", c.more, code, want, c.says, text)
		}
	}
}
