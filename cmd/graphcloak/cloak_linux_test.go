// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
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

// TestModes: with a umask that takes nothing away, revealed readings, a staged
// release and the ledger are for their owner alone, and so are the folders of state.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	a, _, _ := kit(t, "--from", "folder:g", "--source-property", "source", "--allocation", "uniform", "--output", "readings.json")
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	ctx := t.Context()
	writeGraph(t, "g", "id,source\na,1\nb,0\n", "source,target\na,b\n")
	s, m, p, job := planned(t, a)
	must.Do(t, a.journal(ctx, s.Ledger(), &job, outputSize(m.Graph), ""))
	r := must.Get(m.Release(ctx, p, job))(t)
	shown := revealedValues[float64]{name: "reading", ids: []graph.ID{"a", "b"}}
	must.Do(t, showRevealed(a, r, shown, []float64{1, 0}, privacy.Entry{}))
	files := 0
	private := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			files++
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 && path != state {
			t.Errorf("%s has mode %04o", path, mode)
		}
		return nil
	}
	for _, root := range []string{"readings.json", state, filepath.Join("g", ".graphcloak")} {
		must.Do(t, filepath.WalkDir(root, private))
	}
	if files < 3 {
		t.Errorf("%d files were looked at, want the readings, the staged release and the ledger", files)
	}
}
