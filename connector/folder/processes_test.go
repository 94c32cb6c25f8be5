// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// processTicks is the number of ticks that processes work off.
const processTicks = 20

// workerFolder names the folder to a child that works off its ticks.
const workerFolder = "GRAPHCLOAK_TEST_WORKER_FOLDER"

func processTick(k int) jobs.Tick {
	return jobs.NewTick("nightly", time.Date(2026, 3, 1, 0, k, 0, 0, time.UTC))
}

// TestKilledProcesses lets three processes work off the ticks of a job on one folder,
// and kills them at any time: each tick ends once, under one release that is paid for
// once.
func TestKilledProcesses(t *testing.T) {
	dir := files(t, "id\n1\n2\n", "source,target\n1,2\n")
	var wg sync.WaitGroup
	kills := make([]int, 3)
	for i := range kills {
		wg.Go(func() { kills[i] = supervise(t, dir) })
	}
	wg.Wait()
	s := open(t, dir)
	ticks, err := s.Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: "nightly"})
	if err != nil || len(ticks) != processTicks {
		t.Fatalf("%d ticks have records, %v, want %d", len(ticks), err, processTicks)
	}
	for _, c := range ticks {
		if c.Status != jobs.Finished || c.RunID != c.ReleaseID() {
			t.Errorf("the tick %+v", c)
		}
	}
	if a, err := privacy.VerifyLedger(t.Context(), s.Ledger(), "data"); err != nil || a.Releases != processTicks {
		t.Errorf("the ledger holds %d releases, %v, want %d", a.Releases, err, processTicks)
	}
	if kills[0]+kills[1]+kills[2] == 0 {
		t.Error("no process was killed: nothing was tried")
	}
}

// supervise runs a child, and another in its place after each kill, until one has come
// to the end of the ticks. Each is given more time than the one before it, so that a
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
		stop := time.AfterFunc(time.Duration(1+kills)*(50*time.Millisecond+rand.N(250*time.Millisecond)), func() { _ = child.Process.Kill() })
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
	t.Error("the ticks did not come to an end")
	return kills
}

// TestKilledProcessesChild is the task of a child.
func TestKilledProcessesChild(t *testing.T) {
	dir := os.Getenv(workerFolder)
	if dir == "" {
		return
	}
	s, err := folder.New(t.Context(), dir, folder.Options{LockWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("at work")
	for k := 0; k < processTicks; {
		err := work(t, s, processTick(k))
		switch {
		case errors.Is(err, jobs.ErrPast):
			k++
		case err != nil && !errors.Is(err, jobs.ErrHeld) && !errors.Is(err, jobs.ErrLost):
			t.Fatal(err)
		}
		time.Sleep(rand.N(5 * time.Millisecond))
	}
}

// work claims a tick, keeps who began it, pays for its release and ends it. What pays
// is what was kept first, so that a payment is repeated and not added to.
func work(t *testing.T, s *folder.Store, at jobs.Tick) error {
	ctx, j := t.Context(), s.Jobs()
	by := jobs.Holder{Instance: strconv.Itoa(os.Getpid()), Token: privacy.NewAttempt()}
	c, err := j.Claim(ctx, at, by, 300*time.Millisecond)
	if err != nil {
		return err
	}
	saved := c.Saved
	if len(saved) == 0 {
		saved = []byte(fmt.Sprint("begun by ", by.Token))
		if err := j.Save(ctx, at, by.Token, saved); err != nil {
			return err
		}
	}
	time.Sleep(10*time.Millisecond + rand.N(30*time.Millisecond))
	charge := privacy.Charge{
		Scope: "data", ReleaseID: at.ReleaseID(), Attempt: string(saved), Guarantee: privacy.Joint,
		Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Cost: 1,
	}
	if _, err := privacy.Spend(ctx, s.Ledger(), charge); err != nil {
		return err
	}
	return j.Finish(ctx, at, by.Token, jobs.Outcome{Status: jobs.Finished, RunID: at.ReleaseID()})
}
