// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/faultproxy"
	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// campaign asks for every fault at every commit, more kills and more names.
var campaign = flag.Bool("campaign", false, "break every commit in every way, kill the server ten times, try 20,000 names; takes minutes")

// broken is a run of the command behind a proxy.
type broken struct {
	cli
	proxy         *faultproxy.Proxy
	label, prefix string
}

func newBroken(t *testing.T) *broken {
	t.Helper()
	uri := must.Get(url.Parse(Server(t).URI))(t)
	p := must.Get(faultproxy.Listen(uri.Host))(t)
	t.Cleanup(func() { p.Close() })
	setUp(t)
	c := newCLI(t)
	c.env = append(c.env, "NEO4J_URI=bolt://"+p.Addr())
	b := &broken{cli: c, proxy: p, label: Load(t, Shipped("karate"), ownType), prefix: "ft" + token()}
	source(t, b.label, 16)
	return b
}

// args are those of a run on a property of its own.
func (b *broken) args(property string, more ...string) []string {
	return append([]string{
		"run", "--node-labels", b.label, "--relationship-types", b.label, "--node-key", "id", "--source-property", property,
		"--community-property", "club",
		"--epsilon", "4", "--delta", "0.1", "--allocation", "uniform", "--property-prefix", b.prefix,
	}, more...)
}

// commitsOfARun is their number once one has been counted: it is the same for every run.
var commitsOfARun struct {
	sync.Mutex
	number int
}

// commits is the number of commits of an undisturbed run that may write.
func (b *broken) commits(t *testing.T) int {
	t.Helper()
	commitsOfARun.Lock()
	defer commitsOfARun.Unlock()
	if commitsOfARun.number == 0 {
		b.proxy.Arm(0, faultproxy.None, false)
		b.ok(t, b.args(secret(t, b.label))...)
		commitsOfARun.number = b.proxy.Commits()
	}
	if n := commitsOfARun.number; n < 6 { // reserve, spend, begin, one batch, finish, mark as written
		t.Fatalf("a run has %d commits, want at least 6", n)
	}
	return commitsOfARun.number
}

// spends counts the entries about a property by kind, whose chain must be whole.
func (b *broken) spends(t *testing.T, property string) map[privacy.Kind]int {
	t.Helper()
	l, scope := connect(t).Ledger(), "property="+property
	if _, err := privacy.VerifyLedger(t.Context(), l, scope); err != nil {
		t.Error(err)
	}
	entries := must.Get(l.Entries(t.Context(), scope))(t)
	kinds := map[privacy.Kind]int{}
	for _, e := range entries {
		kinds[e.Kind]++
	}
	return kinds
}

// finished checks that the property has paid once for one finished run, whose values are
// on every node.
func (b *broken) finished(t *testing.T, property string, rep map[string]any) {
	t.Helper()
	if k := b.spends(t, property); k[privacy.KindSpent] != 1 || k[privacy.KindWritten] != 1 {
		t.Errorf("the ledger holds %v, want one release, spent and written", k)
	}
	rows := Query(t, "MATCH (n:`"+b.label+"`) WHERE n.`"+b.prefix+"RunId` = $run RETURN count(n)", map[string]any{"run": rep["runId"]})
	if rows[0][0] != int64(34) {
		t.Errorf("%v nodes carry run %v, want 34", rows[0][0], rep["runId"])
	}
	rows = Query(t, "MATCH (r:GraphCloakRun {runId: $run}) RETURN r.status", map[string]any{"run": rep["runId"]})
	if len(rows) != 1 || rows[0][0] != "FINISHED" {
		t.Errorf("run %v is %v, want FINISHED", rep["runId"], rows)
	}
	if left := b.staged(t); len(left) != 0 {
		t.Errorf("%q is still kept", left)
	}
}

// running is a command that runs.
type running struct {
	*exec.Cmd
	stdout bytes.Buffer
	stderr lockedbuffer.Buffer
}

func (b *broken) begin(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{Cmd: exec.Command(b.path, args...)}
	r.Env = append(os.Environ(), b.env...)
	r.Dir = t.TempDir()
	r.Stdout, r.Stderr = &r.stdout, &r.stderr
	must.Do(t, r.Start())
	t.Cleanup(func() { _ = r.Process.Kill() })
	return r
}

// untilHit returns when the proxy has hit a command.
func untilHit(t *testing.T, hit <-chan struct{}, r *running) {
	t.Helper()
	select {
	case <-hit:
	case <-time.After(5 * time.Minute):
		t.Fatalf("the connection was not cut\n%s", &r.stderr)
	}
}

// problem is the failure that a command printed.
func (r *running) problem(t *testing.T) (p struct {
	Code       string
	ExitCode   int    `json:"exit_code"`
	ResourceID string `json:"resource_id"`
	Suggestion string
	Retryable  bool
},
) {
	t.Helper()
	_ = r.Wait() // its code is looked at
	var v struct{ Error json.RawMessage }
	if err := json.Unmarshal(r.stdout.Bytes(), &v); err != nil || json.Unmarshal(v.Error, &p) != nil ||
		p.ExitCode != r.ProcessState.ExitCode() {
		t.Errorf("exit %d, the failure as JSON is %q (%v)\n%s", r.ProcessState.ExitCode(), &r.stdout, err, &r.stderr)
	}
	return p
}

// TestLostCommits cuts the connection right before and right after each commit of a
// run: the run goes on and is paid for once.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	for commit := range b.commits(t) {
		for _, fault := range []faultproxy.Fault{faultproxy.LoseRequest, faultproxy.LoseReply} {
			if !*campaign && fault == faultproxy.LoseRequest && commit != 1 { // what was never done is done anew: the spend stands for all
				continue
			}
			t.Run(fmt.Sprint(commit+1, " ", fault), func(t *testing.T) {
				property := secret(t, b.label)
				hit := b.proxy.Arm(commit+1, fault, false)
				rep := b.ok(t, b.args(property)...)
				select {
				case <-hit:
				default:
					t.Error("the connection was not cut")
				}
				b.finished(t, property, rep)
			})
		}
	}
}

// TestServerGone breaks each commit of a run and takes the server away, and stops the
// run with SIGTERM: what it says is true of the ledger, and the same command again
// ends with one release that is paid for once.
func TestServerGone(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	n := b.commits(t)
	for commit := 1; commit <= n; commit++ {
		for k, fault := range faultproxy.Faults {
			if !*campaign && k != commit%len(faultproxy.Faults) {
				continue
			}
			t.Run(fmt.Sprint(commit, " ", fault), func(t *testing.T) { b.gone(t, commit, fault) })
		}
	}
}

func (b *broken) gone(t *testing.T, commit int, fault faultproxy.Fault) {
	property := secret(t, b.label)
	hit := b.proxy.Arm(commit, fault, true)
	r := b.begin(t, b.args(property)...)
	untilHit(t, hit, r)
	must.Do(t, r.Process.Signal(syscall.SIGTERM))
	if p := r.problem(t); p.ExitCode != 143 || p.Retryable || p.ResourceID == "" ||
		!strings.Contains(p.Suggestion, "--resume "+p.ResourceID) {
		t.Errorf("%+v, want 143 and how to resume\n%s", p, &r.stderr)
	}
	b.proxy.Heal() // and the server ends what was swallowed
	if k := b.spends(t, property); k[privacy.KindSpent] > 1 || k[privacy.KindWritten] > 0 && commit < 6 {
		t.Errorf("the ledger holds %v", k)
	}
	b.finished(t, property, b.ok(t, b.args(property)...))
}

// TestLostSpend breaks the commit of the spend and takes the server away until the
// run gives up: exit 13, whether or not it was paid for, and --resume tells which.
func TestLostSpend(t *testing.T) {
	t.Parallel()
	const spend = 2
	for _, fault := range []faultproxy.Fault{faultproxy.LoseRequest, faultproxy.LoseReply} {
		b := newBroken(t)
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel() // each waits until the run gives up
			property := secret(t, b.label)
			b.proxy.Arm(spend, fault, true)
			r := b.begin(t, b.args(property, "--tau", "1")...)
			p := r.problem(t)
			if p.ExitCode != 13 || p.Code != "unfinished" || p.Retryable || p.ResourceID == "" {
				t.Fatalf("%+v, want 13, unfinished\n%s", p, &r.stderr)
			}
			b.proxy.Heal()
			paid := b.spends(t, property)[privacy.KindSpent]
			if want := map[faultproxy.Fault]int{faultproxy.LoseRequest: 0, faultproxy.LoseReply: 1}[fault]; paid != want {
				t.Fatalf("%d spends, want %d", paid, want)
			}
			if paid == 1 {
				b.finished(t, property, b.ok(t, "run", "--resume", p.ResourceID))
				return
			}
			b.refused(t, 3, "nothing was spent", "run", "--resume", p.ResourceID)
			b.refused(t, 3, "nothing is kept of run", "run", "--resume", p.ResourceID)
			b.finished(t, property, b.ok(t, b.args(property)...))
		})
	}
}

// TestWaitForLock: the server keeps the lock of a transaction whose client vanished.
// Who waits for it is told so.
func TestWaitForLock(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	property := secret(t, b.label)
	hit := b.proxy.Arm(2, faultproxy.SwallowRequest, false)
	r := b.begin(t, b.args(property)...)
	untilHit(t, hit, r)
	must.Do(t, r.Process.Kill())
	_ = r.Wait() // it was killed
	again := b.begin(t, b.args(property)...)
	for deadline := time.Now().Add(5 * time.Minute); !strings.Contains(again.stderr.String(),
		"Waiting for the server"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is said of the lock:\n%s", &again.stderr)
		}
	}
	b.proxy.Heal()
	if err := again.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &again.stderr)
	}
	var rep map[string]any
	must.Do(t, json.Unmarshal(again.stdout.Bytes(), &rep))
	b.finished(t, property, rep)
}

// TestRacingRuns starts the same run several times at once: one spend for each that
// is finished, and the loser says which run is in the way and has paid nothing.
func TestRacingRuns(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	property := secret(t, b.label)
	all, finished := make([]*running, 4), 0
	for i := range all {
		all[i] = b.begin(t, b.args(property)...)
	}
	for _, r := range all {
		if r.Wait() == nil {
			finished++
			continue
		}
		var v struct {
			Error struct {
				ExitCode     int    `json:"exit_code"`
				ResourceType string `json:"resource_type"`
				Suggestion   string
			}
		}
		if err := json.Unmarshal(r.stdout.Bytes(), &v); err != nil || v.Error.ExitCode != 5 || v.Error.ResourceType != "run" ||
			!strings.Contains(v.Error.Suggestion, "nothing was spent by this command") {
			t.Errorf("who lost says %+v (%v)\n%s", v.Error, err, &r.stderr)
		}
	}
	if k := b.spends(t, property); finished == 0 || k[privacy.KindSpent] != finished || k[privacy.KindWritten] != finished {
		t.Errorf("%d runs are finished, the ledger holds %v", finished, k)
	}
}
