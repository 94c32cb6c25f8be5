// SPDX-License-Identifier: Apache-2.0

// Package python_test runs the tests of the Python package against the program.
package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var allPassed = regexp.MustCompile(`Ran [1-9]\d* tests? in [^\n]*\n\nOK\n`)

func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("no python3 on PATH: install Python 3.11 or later (Debian: apt-get install python3): %v", err)
	}
	binary := filepath.Join(t.TempDir(), "graphcloak")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../cmd/graphcloak").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(python, "-B", "-W", "error", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
	cmd.Env = append(os.Environ(), "GRAPHCLOAK_BINARY="+binary, "XDG_STATE_HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !allPassed.Match(out) {
		t.Fatalf("python3 -m unittest: %v\n%s", err, out)
	}
}
