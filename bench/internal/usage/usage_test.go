// SPDX-License-Identifier: Apache-2.0

package usage_test

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/bench/internal/usage"
)

// Work takes processor time and memory, of this process and of another.
func TestUsage(t *testing.T) {
	before, user := usage.CPU(), usage.User()
	sum, x := 0.0, make([]float64, 1<<22)
	for range 20 {
		for i := range x {
			x[i] += float64(i)
			sum += x[i]
		}
	}
	if !(sum > 0) || usage.CPU() <= before || usage.User() <= user || usage.User() > usage.CPU() {
		t.Errorf("%v after %v, of it %v outside of the system", usage.CPU(), before, usage.User())
	}
	if runtime.GOOS == "windows" {
		return
	}
	if usage.Peak() < 8<<22 {
		t.Errorf("%d bytes, with %d in one slice", usage.Peak(), 8<<22)
	}
	cmd := exec.Command("sh", "-c", "exit 0")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if peak := usage.PeakOf(cmd.ProcessState); peak < 1<<17 || peak > 1<<30 {
		t.Errorf("a shell takes %d bytes", peak)
	}
}
