// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// releases is what of goreleaser's settings is about what it packs besides archives.
type releases struct {
	Builds []struct {
		Hooks struct {
			Post []struct {
				Cmd string `json:"cmd"`
			} `json:"post"`
		} `json:"hooks"`
	} `json:"builds"`
	Checksum, Release struct {
		ExtraFiles []struct {
			Glob string `json:"glob"`
		} `json:"extra_files"`
	}
}

// TestReleasePacks runs what a release does after it has built a binary, and looks for the
// image and the wheel where a release and its checksums take them from. Windows on arm64
// gets neither.
func TestReleasePacks(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var r releases
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Builds) != 1 || len(r.Builds[0].Hooks.Post) != 1 {
		t.Fatalf("%+v has not one hook of one build", r.Builds)
	}
	hook, err := template.New("hook").Option("missingkey=error").Parse(r.Builds[0].Hooks.Post[0].Cmd)
	if err != nil {
		t.Fatal(err)
	}
	program, dist := static(t), t.TempDir()
	for system, arch := range map[string]string{"linux": "amd64", "windows": "arm64"} {
		var line strings.Builder
		err := hook.Execute(&line, map[string]string{
			"Os": system, "Arch": arch, "Path": program, "Version": "0.0.1",
			"CommitTimestamp": "1",
		})
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(line.String())
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "DIST="+dist, "GOOS="+system, "GOARCH=arm64", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line.String(), err, out)
		}
	}
	for _, files := range [][]struct {
		Glob string `json:"glob"`
	}{r.Checksum.ExtraFiles, r.Release.ExtraFiles} {
		found := map[string]bool{}
		for _, f := range files {
			if strings.HasSuffix(f.Glob, ".rb") { // goreleaser writes it
				continue
			}
			paths, err := filepath.Glob(filepath.Join(dist, strings.TrimPrefix(f.Glob, "./dist/")))
			if err != nil || len(paths) != 1 {
				t.Fatalf("%s finds %q, want one file: %v", f.Glob, paths, err)
			}
			found[filepath.Ext(paths[0])] = true
		}
		if !found[".tar"] || !found[".whl"] {
			t.Errorf("%+v finds %v, want an image and a wheel", files, found)
		}
	}
}

// static makes the program without a loader.
func static(t *testing.T) string {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0")
	t.Setenv("GOARCH", "amd64")
	return build(t)
}
