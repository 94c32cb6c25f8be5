// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// units copies the units into a folder, as an instance each, with a program that is there.
func units(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"graphcloak@.service", "graphcloak@.timer", "graphcloak-serve.service"} {
		text, err := os.ReadFile(filepath.Join("..", "systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, strings.Replace(name, "@.", "@risk.", 1))
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/bin/graphcloak", "/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestUnits: systemd finds nothing to say about the units, and little that the services
// may do.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("the units are checked by systemd-analyze: install the package systemd")
	}
	paths := units(t)
	out, err := exec.Command(analyze, append([]string{"verify", "--man=no"}, paths...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, path := range paths {
		if !strings.HasSuffix(path, ".service") {
			continue
		}
		// From 0, nothing is exposed, to 100: a service without a sandbox has 96.
		out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", "--threshold=18", path).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Log(lines[len(lines)-1])
		if err != nil {
			t.Errorf("%s is exposed: %v\n%s", filepath.Base(path), err, out)
		}
	}
}

// TestServiceEnvironment starts the program as the service does, with nothing but the
// environment that systemd would give: it reads its settings and its password, finds its
// folders, and goes as far as the server, which is not there.
func TestServiceEnvironment(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "systemd", "graphcloak@.service"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"password":  "secret\n",
		"risk.yaml": "sourceProperty: risk\nnodeKey: id\nepsilon: 0.5\ndelta: 1.0e-5\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(dir, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	specifiers := strings.NewReplacer("%d", dir, "%i", "risk", "/etc/graphcloak", dir)
	// two are those of the EnvironmentFile
	env := []string{"STATE_DIRECTORY=" + state, "NEO4J_URI=bolt://127.0.0.1:1", "NEO4J_USERNAME=neo4j"}
	var command []string
	for line := range strings.Lines(string(text)) {
		line = specifiers.Replace(strings.TrimSpace(line))
		if value, ok := strings.CutPrefix(line, "Environment="); ok {
			env = append(env, value)
		}
		if value, ok := strings.CutPrefix(line, "ExecStart=/usr/bin/graphcloak "); ok {
			command = strings.Fields(value)
		}
	}
	cmd := exec.Command(build(t), command...)
	cmd.Env, cmd.Dir = env, "/"
	out, _ := cmd.CombinedOutput() // the exit code is compared
	if exit := cmd.ProcessState.ExitCode(); exit != 8 {
		t.Errorf("exit %d, want 8, for the server is not there:\n%s", exit, out)
	}
}
