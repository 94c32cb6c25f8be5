// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestCloakIsSmallAndAlone: while it works, `graphcloak cloak` holds no socket,
// even where a server is named in its environment, and less than 8 MiB of its
// own at any reading. Pages of the program's file do not count: they are shared
// between processes, given back under pressure, and how many are mapped around
// each one that is read is the kernel's choice. It is built without the race
// detector's shadow memory, as it ships.
func TestCloakIsSmallAndAlone(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "graphcloak")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	plan := exec.Command(binary, "plan", "--from", "generate:path,n=5", "--trials", "0", "--sensor-package-dir", "packages",
		"-o", "plan.json")
	plan.Dir = dir
	plan.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "xdg"), "HOME="+dir)
	if out, err := plan.CombinedOutput(); err != nil {
		t.Fatalf("plan: %v\n%s", err, out)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "packages", "*.json"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no packages: %v", err)
	}
	cmd := exec.Command(binary, "cloak", "--package", packages[0], "--state-dir", filepath.Join(dir, "state"))
	cmd.Env = append(os.Environ(), "NEO4J_URI=neo4j://localhost:7687", "HOME="+dir)
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	proc := filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid))
	lines, peak := bufio.NewScanner(out), 0
	for i := range 50 {
		must.Get(fmt.Fprintf(in, "{\"releaseId\": \"%d\", \"reading\": 0.5}\n", i+1))(t)
		if !lines.Scan() {
			t.Fatalf("no value for reading %d", i+1)
		}
		peak = max(peak, ownKiB(t, proc))
	}
	files, err := filepath.Glob(filepath.Join(proc, "fd", "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d open files: %v", len(files), err)
	}
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.HasPrefix(to, "socket:") {
			t.Errorf("%s is %s", f, to)
		}
	}
	if peak >= 8<<10 {
		t.Errorf("%d KiB of its own, want below 8 MiB", peak)
	}
	t.Logf("at most %.1f MiB of its own", float64(peak)/1024)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// ownKiB returns the resident memory that the process of a folder of /proc
// shares with nobody, in KiB.
func ownKiB(t *testing.T, proc string) int {
	t.Helper()
	status := must.Get(os.ReadFile(filepath.Join(proc, "status")))(t)
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatal("no RssAnon in /proc")
	}
	return must.Get(strconv.Atoi(fields[0]))(t)
}
