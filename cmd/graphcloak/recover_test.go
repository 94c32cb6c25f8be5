// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
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
		})
	}
}

// TestFaultySensorsAreRecorded: a run of which most sensors are suspect is told as such by its record too: in the list, and by
// the page that is made of it later, which must not call a fit of the others a Yes.
func TestFaultySensorsAreRecorded(t *testing.T) {
	kit(t)
	nodes, edges := "id,reading\n", "source,target\n"
	for k := range 12 {
		nodes += fmt.Sprintf("n%d,0.3\n", k)
		if k > 0 {
			edges += fmt.Sprintf("n%d,n%d\n", k-1, k)
		}
	}
	writeGraph(t, "g", nodes, edges)
	const run = "run --from folder:g --measurement-property reading --tau 1 --epsilon 1000 --delta 0.01 --mode write --format json"
	exit, stdout, stderr := called(t, strings.Fields(run)...)
	if exit != 0 || !strings.Contains(stdout, `"faultySensorCount": `) {
		t.Fatalf("exit %d: %s%s", exit, stdout, stderr)
	}
	listed := decoded[struct {
		Runs []struct {
			RunID             string
			FaultySensorCount int
		}
	}](t, "runs", "list", "--from", "folder:g").Runs
	if len(listed) != 1 || listed[0].FaultySensorCount < 6 || listed[0].FaultySensorCount > 12 {
		t.Fatalf("%+v", listed)
	}
	want := fmt.Sprintf("│ misfit │ %d │", listed[0].FaultySensorCount)
	if _, stdout, _ := called(t, strings.Fields("runs list --from folder:g --format table")...); !strings.Contains(
		strings.Join(strings.Fields(stdout), " "), want) || !strings.Contains(stdout, "more likely faulty than sound") {
		t.Errorf("%q is not in\n%s", want, stdout)
	}
	if code, text := told(t, "", "report", listed[0].RunID, "--from", "folder:g", "--report", "again.html"); code != 0 {
		t.Fatal(text)
	}
	page := must.Get(os.ReadFile("again.html"))(t)
	if !strings.Contains(string(page), "Sensors that may be faulty") {
		t.Error("the page of the record does not list them")
	}
	if want := fmt.Sprintf("No: %d of 12 sensors are more likely faulty than sound",
		listed[0].FaultySensorCount); !strings.Contains(string(page), want) {
		t.Errorf("the page of the record does not say %q", want)
	}
}
