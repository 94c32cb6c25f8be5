// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// releases is what of goreleaser's settings is about images.
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

// TestReleaseImages runs what a release does after it has built a binary, and looks for
// the image where a release and its checksums take it from. Other systems get none.
func TestReleaseImages(t *testing.T) {
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
	for _, system := range []string{"linux", "windows"} {
		var line strings.Builder
		err := hook.Execute(&line, map[string]string{
			"Os": system, "Arch": "amd64", "Path": program, "Version": "0.0.1",
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
	want := []string{filepath.Join(dist, "graphcloak_0.0.1_amd64.oci.tar")}
	for _, files := range [][]struct {
		Glob string `json:"glob"`
	}{r.Checksum.ExtraFiles, r.Release.ExtraFiles} {
		if len(files) != 1 {
			t.Fatalf("%+v is not one glob", files)
		}
		found, err := filepath.Glob(filepath.Join(dist, strings.TrimPrefix(files[0].Glob, "./dist/")))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s finds %q, want %q", files[0].Glob, found, want)
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
