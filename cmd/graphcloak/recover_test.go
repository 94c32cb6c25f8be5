// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// recovered is what recovery says, bit for bit.
type recovered struct {
	Answer       string
	Communities  []map[string]any
	Posterior    map[string]any
	BPDN         map[string]any
	SigmaMin     float64
	SigmaMax     float64
	Sigma        *float64
	UniformSigma *float64
}

// TestRecoverFromWrittenProperties: what a run wrote says the same as the run, each
// value with its own σ; and one σ for all of an allocated release is refused.
func TestRecoverFromWrittenProperties(t *testing.T) {
	for _, allocation := range []string{"optimal", "uniform"} {
		t.Run(allocation, func(t *testing.T) {
			kit(t)
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			if code, text := told(t, "", "graph", "generate", "sbm,n=60,k=3,in=0.4,out=0.02,seed=7", "g"); code != 0 {
				t.Fatal(text)
			}
			common := []string{"--from", "folder:g", "--tau", "1", "--format", "json"}
			ran := decoded[recovered](t, append([]string{
				"run", "--source-property", "source", "--epsilon", "4", "--delta", "0.1", "--allocation", allocation, "--mode", "write",
			}, common...)...)
			if allocated := allocation == "optimal"; allocated != (ran.Sigma == nil) || allocated != (ran.SigmaMin < ran.SigmaMax) ||
				allocated != (ran.UniformSigma != nil) {
				t.Errorf("the report of %s noise says σ %v from %v to %v, uniform %v", allocation, ran.Sigma, ran.SigmaMin, ran.SigmaMax,
					ran.UniformSigma)
			}
			values := append([]string{"recover", "--measurement-property", "gcPrivateHeat"}, common...)
			again := decoded[recovered](t, values...)
			ran.UniformSigma = nil // not known of values
			if !reflect.DeepEqual(ran, again) {
				t.Errorf("the run says\n%+v\nand its values\n%+v", ran, again)
			}
			for _, sigma := range []float64{ran.SigmaMin, ran.SigmaMax, 2 * ran.SigmaMax} {
				code, _, stderr := called(t, append(slices.Clone(values), "--sigma", fmt.Sprint(sigma))...)
				if right := ran.SigmaMin == sigma && ran.SigmaMax == sigma; right != (code == 0) ||
					!right && (code != exitUsage || !strings.Contains(stderr, "leave --sigma out")) {
					t.Errorf("--sigma %v for σ from %v to %v: exit %d: %s", sigma, ran.SigmaMin, ran.SigmaMax, code, stderr)
				}
			}
		})
	}
}
