// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// TestMain runs the sensor as a process of its own where the kill test asks for it.
func TestMain(m *testing.M) {
	dir := os.Getenv("GRAPHCLOAK_TEST_SENSOR")
	if dir == "" {
		os.Exit(m.Run())
	}
	p, err := sensor.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = sensor.Cloak(context.Background(), p, os.Stdin, os.Stdout, sensor.CloakOptions{StateDir: dir})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestCloakSurvivesKill kills the sensor's process at arbitrary points. Whatever
// value was seen outside is refused afterwards under the same id.
func TestCloakSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	pk := packages(t, plan(t, nil), sensor.Options{})[0]
	data := must.Get(json.Marshal(pk))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "package.json"), data, 0o600))
	self := must.Get(os.Executable())(t)
	last := 0
	for round := range 4 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "GRAPHCLOAK_TEST_SENSOR="+dir)
		in := must.Get(cmd.StdinPipe())(t)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		first := last + 1
		go func() {
			for id := first; ; id++ {
				if _, err := fmt.Fprintf(in, "{\"releaseId\":\"%d\",\"reading\":0.5}\n", id); err != nil {
					return // it was killed
				}
			}
		}()
		seen := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var v privacy.SensorValue
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				break // the last line may be cut
			}
			last = must.Get(strconv.Atoi(v.ReleaseID))(t)
			if seen++; seen == 3+7*round {
				must.Do(t, cmd.Process.Kill())
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		opts := sensor.CloakOptions{StateDir: dir}
		if _, err := cloak(pk, fmt.Sprintf(`{"releaseId":"%d","reading":0.5}`, last), opts); !errors.Is(err, privacy.ErrReplay) {
			t.Fatalf("round %d: release %d was seen and could be made again: %v", round, last, err)
		}
		last += 100 // beyond what was recorded and not seen
		if _, err := cloak(pk, fmt.Sprintf(`{"releaseId":"%d","reading":0.5}`, last), opts); err != nil {
			t.Fatalf("round %d: the state is not usable after a kill: %v", round, err)
		}
	}
}
