// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// processReleases is the number of releases that processes pay for.
const processReleases = 20

// workerFolder names the folder to a child that pays.
const workerFolder = "GRAPHCLOAK_TEST_WORKER_FOLDER"

func processRelease(k int) string { return fmt.Sprint("nightly-", k) }

// TestKilledProcesses lets three processes pay for the same releases on one folder, and kills
// them at any time: each release is paid for once.
func TestKilledProcesses(t *testing.T) {
	dir := files(t, "id\n1\n2\n", "source,target\n1,2\n")
	var wg sync.WaitGroup
	kills := make([]int, 3)
	for i := range kills {
		wg.Go(func() { kills[i] = supervise(t, dir) })
	}
	wg.Wait()
	a, err := privacy.VerifyLedger(t.Context(), open(t, dir).Ledger(), "data")
	if err != nil || a.Releases != processReleases || a.Spent != processReleases {
		t.Errorf("the ledger holds %d releases of cost %v, %v, want %d", a.Releases, a.Spent, err, processReleases)
	}
	if kills[0]+kills[1]+kills[2] == 0 {
		t.Error("no process was killed: nothing was tried")
	}
}

// supervise runs a child, and another in its place after each kill, until one has come
// to the end. Each is given more time than the one before it, so that a
// slow machine comes to the end too.
func supervise(t *testing.T, dir string) (kills int) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledProcessesChild$")
		child.Env = append(os.Environ(), workerFolder+"="+dir)
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Error(err)
			return kills
		}
		_, _ = bufio.NewReader(out).ReadString('\n') // it is at work, or has failed
		stop := time.AfterFunc(time.Duration(1+kills)*(50*time.Millisecond+rand.N(250*time.Millisecond)),
			func() { _ = child.Process.Kill() })
		err = child.Wait()
		stop.Stop()
		switch exit, ok := errors.AsType[*exec.ExitError](err); {
		case err == nil:
			return kills
		case !ok || exit.ExitCode() >= 0:
			t.Errorf("a child failed: %v", err)
			return kills
		}
		kills++
	}
	t.Error("the payments did not come to an end")
	return kills
}

// TestKilledProcessesChild is the task of a child.
func TestKilledProcessesChild(t *testing.T) {
	dir := os.Getenv(workerFolder)
	if dir == "" {
		return
	}
	s := must.Get(folder.New(t.Context(), dir, folder.Options{LockWait: time.Minute}))(t)
	fmt.Println("at work")
	for k := range processReleases {
		c := privacy.Charge{
			Scope: "data", ReleaseID: processRelease(k), Attempt: "kept", Guarantee: privacy.Joint,
			Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Cost: 1,
		}
		_, err := privacy.Spend(t.Context(), s.Ledger(), c)
		if err == nil {
			time.Sleep(rand.N(30 * time.Millisecond))
			_, err = privacy.MarkWritten(t.Context(), s.Ledger(), "data", c.ReleaseID, privacy.Digest{1})
		}
		if err != nil && !errors.Is(err, privacy.ErrReplay) { // written by another
			t.Fatal(err)
		}
	}
}
