// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// What the process that is killed in a write is told.
const (
	childLabel   = "GRAPHCLOAK_TEST_LABEL"
	childRelease = "GRAPHCLOAK_TEST_RELEASE"
)

// TestKilledInWrite kills a process with SIGKILL while it writes: the run stays
// RUNNING, is in the way of another, and can be completed or removed.
func TestKilledInWrite(t *testing.T) {
	const n = 1000
	sel := line(t, n)
	label := sel.NodeLabels[0]
	s := connect(t)
	g := must.Get(s.Graph(t.Context(), sel))(t)
	for _, end := range []string{"resume", "undo"} {
		t.Run(end, func(t *testing.T) {
			release := storetest.Release(t, g, end+"-"+token())
			id := release.ID()
			killInWrite(t, label, release)
			if k := written(t, label, id); k == 0 || k >= n {
				t.Fatalf("the killed process wrote %d of %d nodes; it should have been in the middle", k, n)
			}
			if run, err := s.Run(t.Context(), id); err != nil || run.WriteStatus() != jobs.Running {
				t.Fatalf("the run is %+v, %v, want RUNNING", run, err)
			}
			other := newTable(t, g, "other-"+token())
			err := s.Check(t.Context(), g, other, true)
			if way, ok := errors.AsType[*connector.UnfinishedError](err); !ok || way.RunID != id || !errors.Is(err, connector.ErrConflict) {
				t.Errorf("another run: %v, want ErrConflict that names the run in the way", err)
			}
			if err := s.Write(t.Context(), g, other, true); !errors.Is(err, connector.ErrConflict) {
				t.Errorf("another run writes: %v, want ErrConflict", err)
			}
			if end == "resume" {
				must.Do(t, s.Write(t.Context(), g, storetest.TableOf(t, g, release, "it"), false))
				if k := written(t, label, id); k != n {
					t.Errorf("%d of %d nodes are written after the resume", k, n)
				}
				if run, err := s.Run(t.Context(), id); err != nil || run.WriteStatus() != jobs.Finished || run.Write.Nodes != n {
					t.Errorf("the run is %+v, %v, want FINISHED with %d nodes", run, err, n)
				}
			}
			must.Get(s.Undo(t.Context(), id))(t)
			left := Query(t, "MATCH (n:`"+label+"`) WHERE any(k IN keys(n) WHERE k STARTS WITH 'it') RETURN count(n)", nil)[0][0]
			if left != int64(0) {
				t.Errorf("%v nodes still carry values after the undo", left)
			}
		})
	}
}

// killInWrite starts TestChild in a process of its own and kills it after a batch.
func killInWrite(t *testing.T, label string, release *privacy.Release) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "release.json")
	data := must.Get(json.Marshal(release))(t)
	must.Do(t, os.WriteFile(file, data, 0o600))
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	cmd.Env = append(append(os.Environ(), Server(t).Env()...), childLabel+"="+label, childRelease+"="+file)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "in the middle" {
		t.Log(lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	cmd.Wait() // it was killed
}

// TestChild is the process that is killed; in a test run of its own it has
// nothing to do.
func TestChild(t *testing.T) {
	label, file := os.Getenv(childLabel), os.Getenv(childRelease)
	if label == "" {
		return
	}
	data := must.Get(os.ReadFile(file))(t)
	var release privacy.Release
	must.Do(t, json.Unmarshal(data, &release))
	s := connect(t, func(o *neo4j.Options) {
		o.BatchSize = childBatch
		o.Progress = func(stage string, done, _ int64) {
			if stage == "write" && done >= 3*childBatch {
				fmt.Println("in the middle")
			}
		}
	})
	g := must.Get(s.Graph(t.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: "id"}))(t)
	must.Do(t, s.Write(t.Context(), g, storetest.TableOf(t, g, &release, "it"), false))
}
