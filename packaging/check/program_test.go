// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// build makes the program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "graphcloak")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", program, "./cmd/graphcloak")
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
