// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestJobsOfAFile: each form of file has a list of jobs, whose keys keep their case.
func TestJobsOfAFile(t *testing.T) {
	for name, text := range map[string]string{
		"a.yaml": "epsilon: 2\nnodeLabels: [Person, \"a.b\"]\njobs:\n  - name: nightly\n    schedule: '@daily'\n    sourceProperty: risk\n",
		"a.json": `{"epsilon": 2, "nodeLabels": ["Person", "a.b"], "jobs": [{"name": "nightly", "schedule": "@daily", "sourceProperty": "risk"}]}`,
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		c := must.Get(Load(Layers{File: path}))(t)
		if len(c.Jobs) != 1 || c.Jobs[0]["name"] != "nightly" || c.Jobs[0]["sourceProperty"] != "risk" || c.Privacy.Epsilon != 2 ||
			!slices.Equal(c.Projection.NodeLabels, []string{"Person", "a.b"}) {
			t.Errorf("%s: %v, %+v", name, c.Jobs, c.Projection)
		}
	}
}

// TestJobsRefused: a list of jobs that is none is named, with where it stands.
func TestJobsRefused(t *testing.T) {
	many := "jobs:\n" + strings.Repeat("  - {name: a}\n", maxJobs+1)
	for _, text := range []string{"jobs: nightly\n", "jobs: {name: a}\n", "jobs: [a, b]\n", "jobs: 5\n", many} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := Load(Layers{File: path}); err == nil || !strings.Contains(err.Error(), "config: jobs is") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%.30q: %v", text, err)
		}
		if err := LoadFile(path); err == nil {
			t.Errorf("%.30q is a valid file", text)
		}
	}
}

// TestOverlay: a job's values go over the command's, and only those that it may set.
func TestOverlay(t *testing.T) {
	t.Setenv("GRAPHCLOAK_EPSILON", "3")
	base := must.Get(Load(Layers{}))(t)
	groups := []Group{GroupPrivacy, GroupSignal}
	o, err := base.Overlay("nightly", map[string]any{"delta": 1e-6, "sourceProperty": "risk", "alpha": int64(5)}, groups)
	if err != nil {
		t.Fatal(err)
	}
	if o.Privacy.Epsilon != 3 || o.Privacy.Delta != 1e-6 || o.Signal.SourceProperty != "risk" || o.Privacy.Alpha != 5 {
		t.Errorf("%+v %+v", o.Privacy, o.Signal)
	}
	if base.Privacy.Delta != 1e-5 || base.Signal.SourceProperty != "" || base.Origin("delta").Layer != LayerDefault {
		t.Errorf("the job changed the command's own settings: %+v", base.Privacy)
	}
	if origin := o.Origin("delta"); origin.String() != "job nightly" {
		t.Errorf("delta comes from %q", origin)
	}
	for key, want := range map[string]string{
		"epsilon": "want", "epsilom": "did you mean epsilon?", "keyFile": "forbidden key", "neo4jPassword": "forbidden key",
		"force":     "forbidden key",
		"nodeQuery": "forbidden key",
	} {
		_, err := base.Overlay("nightly", map[string]any{key: "x y"}, groups)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nightly") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
