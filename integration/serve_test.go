// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// fleet is a few servers of one database, that are killed and started again, or suspended.
type fleet struct {
	t        *testing.T
	path     string
	settings string // file of the jobs
	env      []string
	servers  []*member
	kills    int
	taken    int                 // ticks that were taken over from a server that was suspended
	log      lockedbuffer.Buffer // of all
}

// set writes the jobs of the servers that start from now on.
func (f *fleet) set(jobs ...map[string]any) {
	f.t.Helper()
	text, err := json.Marshal(map[string]any{"jobs": jobs})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.settings, text, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// jobOn is a job on a graph of karate, with what else it sets in pairs.
func jobOn(name, schedule, label, property string, more ...any) map[string]any {
	job := map[string]any{
		"name": name, "schedule": schedule, "nodeLabels": []string{label}, "relationshipTypes": []string{label}, "nodeKey": "id",
		"sourceProperty": property, "epsilon": 0.5,
	}
	for i := 0; i < len(more); i += 2 {
		job[more[i].(string)] = more[i+1]
	}
	return job
}

// member is a server.
type member struct {
	*exec.Cmd
	log lockedbuffer.Buffer
}

func newFleet(t *testing.T, n int, jobs ...map[string]any) *fleet {
	c := newCLI(t)
	f := &fleet{t: t, path: c.path, settings: filepath.Join(t.TempDir(), "settings.json"), servers: make([]*member, n)}
	f.env = append(c.env, "GRAPHCLOAK_CONFIG="+f.settings)
	f.set(jobs...)
	for i := range f.servers {
		f.start(i)
	}
	t.Cleanup(func() {
		for _, s := range f.servers {
			s.Process.Kill()
			s.Wait()
		}
		if t.Failed() {
			t.Logf("the servers said:\n%s", f.log.String())
		}
	})
	return f
}

// start runs a server with a folder for state of its own, as on a machine of its own, by
// another command where one is given.
func (f *fleet) start(i int, by ...string) {
	f.t.Helper()
	words := append(by, f.path, "serve", "--listen", "127.0.0.1:0", "--verbose")
	s := &member{Cmd: exec.Command(words[0], words[1:]...)}
	s.Env = append(append(os.Environ(), f.env...), "XDG_STATE_HOME="+filepath.Join(f.t.TempDir(), "state"))
	s.Stderr = io.MultiWriter(&s.log, &f.log)
	if err := s.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.servers[i] = s
}

// kill ends a server with SIGKILL, the holder of an open tick where there is one and
// else one by chance, and starts another in its place.
func (f *fleet) kill(open []jobs.Claim) {
	victim, _ := f.holder(open)
	if victim < 0 {
		victim = rand.IntN(len(f.servers))
	}
	f.servers[victim].Process.Kill()
	f.servers[victim].Wait()
	f.kills++
	f.start(victim)
}

// holder returns the server that is at an open tick, and the tick; -1 where none is.
func (f *fleet) holder(open []jobs.Claim) (int, jobs.Tick) {
	for _, c := range open {
		_, pid, _ := strings.Cut(c.Instance, "/")
		for i, s := range f.servers {
			if pid == strconv.Itoa(s.Process.Pid) {
				return i, c.Tick
			}
		}
	}
	return -1, jobs.Tick{}
}

// suspend stops the holder of an open tick for longer than its lease: until another has taken the tick over.
func (f *fleet) suspend(s jobs.Store, open []jobs.Claim) {
	f.t.Helper()
	victim, at := f.holder(open)
	if victim < 0 {
		return
	}
	must.Do(f.t, f.servers[victim].Process.Signal(syscall.SIGSTOP))
	defer f.servers[victim].Process.Signal(syscall.SIGCONT)
	for attempts, end := int64(0), time.Now().Add(5*time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		all := must.Get(s.Ticks(f.t.Context(), jobs.TickQuery{JobName: at.JobName}))(f.t)
		i := slices.IndexFunc(all, func(c jobs.Claim) bool { return c.Tick == at })
		if attempts == 0 {
			attempts = all[i].Attempts
		}
		if all[i].Attempts > attempts {
			f.taken++
			return
		}
		if !all[i].Open() { // it had ended it
			return
		}
	}
	f.t.Fatal("nobody takes a tick over from a server that is suspended")
}

// stop ends all servers in order, once each is at work.
func (f *fleet) stop() {
	f.t.Helper()
	for _, s := range f.servers {
		for range 3000 {
			if strings.Contains(s.log.String(), "are run") {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		s.Process.Signal(syscall.SIGTERM)
	}
	for _, s := range f.servers {
		if err := s.Wait(); err != nil {
			f.t.Errorf("a server ended after SIGTERM with %v", err)
		}
	}
}

// TestServe: three servers of one database, killed at random and in the middle of runs, or suspended for longer than a
// lease. No tick is missing, each is run to its end once, the ledger holds one payment for each, that of the release whose
// id follows from the tick, and every node holds the values of the newest run.
func TestServe(t *testing.T) {
	t.Parallel()
	ticks, every := 4, 3*time.Second
	if *campaign {
		ticks = 100
	}
	label, name := Load(t, Shipped("karate"), ownType), "serve-"+token()
	source(t, label, 16)
	setUp(t)
	s := connect(t)
	property := secret(t, label)
	scope := "property=" + property
	must.Get(privacy.SetCap(t.Context(), s.Ledger(), scope, privacy.Budget{Epsilon: 500, Delta: 1e-5}))(t)
	forgetJob(t, name)
	t.Cleanup(func() {
		Query(t, "MATCH (j:GraphCloakJob) WHERE j.name STARTS WITH $name DELETE j", map[string]any{"name": name})
	})
	forgetJob(t, name+"-gone")
	good := jobOn(name, "@every 3s", label, property, "missedRuns", "all", "retryDelay", "1s", "spendAtChance", true)
	f := newFleet(t, 3, good, map[string]any{"name": name + "-bad", "schedule": "at night"}, map[string]any{
		"name": name + "-gone", "schedule": "@every 3s", "maxRetries": 0, "nodeLabels": []string{"Vanished"}, "sourceProperty": property,
	})
	ended := f.untilEnded(s.Jobs(), name, ticks)
	f.stop()
	f.set(good)
	ended = f.closed(s.Jobs(), name, ended)
	checkTicks(t, ended, every)
	checkLedger(t, s.Ledger(), scope, ended)
	for _, row := range Query(t, "MATCH (n:`"+label+"`) RETURN n.gcRunId, count(n)", nil) { // with the values, by one statement
		if row[0] != ended[0].RunID {
			t.Errorf("%v nodes hold run %v, want %s", row[1], row[0], ended[0].RunID)
		}
	}
	gone, err := s.Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: name + "-gone", Status: jobs.Failed})
	if err != nil || len(gone) == 0 || !strings.Contains(gone[0].Message, "Vanished") ||
		!strings.Contains(f.log.String(), "no cron expression") {
		t.Errorf("the ticks of the job without nodes are %+v, %v, or the log does not name the bad one", gone, err)
	}
	t.Logf("%d kills", f.kills)
}

// untilEnded kills and suspends servers in turn until so many ticks have ended and two were taken over, one of them from
// a server that was suspended.
func (f *fleet) untilEnded(s jobs.Store, name string, ticks int) []jobs.Claim {
	f.t.Helper()
	end := time.Now().Add(time.Duration(ticks) * 2 * time.Minute)
	for round := 0; ; round++ {
		time.Sleep(50 * time.Millisecond)
		all, err := s.Ticks(f.t.Context(), jobs.TickQuery{JobName: name})
		if err != nil {
			f.t.Fatal(err)
		}
		var open []jobs.Claim
		taken := 0
		for _, c := range all {
			switch {
			case c.Attempts > 1:
				taken++
			case c.Open():
				open = append(open, c)
			}
		}
		if len(all)-len(open) >= ticks && taken >= 2 && f.taken > 0 {
			return all
		}
		if time.Now().After(end) {
			f.t.Fatalf("%d ticks of %d have ended, %d were taken over", len(all)-len(open), ticks, taken)
		}
		if len(open) > 0 && rand.IntN(4) == 0 {
			time.Sleep(time.Duration(rand.Int64N(int64(400 * time.Millisecond)))) // anywhere in the run
			if f.kills > f.taken {
				f.suspend(s, open)
			} else {
				f.kill(open)
			}
		}
	}
}

// closed returns all ticks once a last server has ended those that were left open.
func (f *fleet) closed(s jobs.Store, name string, all []jobs.Claim) []jobs.Claim {
	f.t.Helper()
	Query(f.t, "MATCH (j:GraphCloakJob {name: $name}) SET j.paused = true", map[string]any{"name": name})
	f.start(0)
	for range 3000 {
		var err error
		if all, err = s.Ticks(f.t.Context(), jobs.TickQuery{JobName: name}); err != nil {
			f.t.Fatal(err)
		}
		gone, err := s.Ticks(f.t.Context(), jobs.TickQuery{JobName: name + "-gone"})
		if err != nil {
			f.t.Fatal(err)
		}
		if !slices.ContainsFunc(slices.Concat(all, gone), jobs.Claim.Open) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.servers = f.servers[:1]
	f.stop()
	return all
}

// checkTicks: each nominal time from the first to the last has one record, which is
// finished, and some were taken over.
func checkTicks(t *testing.T, all []jobs.Claim, every time.Duration) {
	t.Helper()
	taken := 0
	for i, c := range all { // latest first
		if c.Status != jobs.Finished || c.RunID != c.ReleaseID() {
			t.Errorf("tick %v is %s: %s", c.NominalTime, c.Status, c.Message)
		}
		if i > 0 && all[i-1].NominalTime.Sub(c.NominalTime) != every {
			t.Errorf("%v follows %v", all[i-1].NominalTime, c.NominalTime)
		}
		if c.Attempts > 1 {
			taken++
		}
	}
	if taken == 0 {
		t.Error("no tick was taken over: the kills hit nothing")
	}
	t.Logf("%d of %d ticks were taken over", taken, len(all))
}

// checkLedger: a payment and a write for each tick, and nothing else but the cap.
func checkLedger(t *testing.T, l privacy.Ledger, scope string, ticks []jobs.Claim) {
	t.Helper()
	entries := must.Get(l.Entries(t.Context(), scope))(t)
	count := map[privacy.Kind]map[string]int{}
	for _, e := range entries {
		if count[e.Kind] == nil {
			count[e.Kind] = map[string]int{}
		}
		count[e.Kind][e.ReleaseID]++
	}
	for _, kind := range []privacy.Kind{privacy.KindSpent, privacy.KindWritten} {
		if len(count[kind]) != len(ticks) {
			t.Errorf("%d releases are %s, want %d", len(count[kind]), kind, len(ticks))
		}
		for _, c := range ticks {
			if n := count[kind][c.ReleaseID()]; n != 1 {
				t.Errorf("the release of %v is %s %d times", c.NominalTime, kind, n)
			}
		}
	}
	if want := 2*len(ticks) + 1; len(entries) != want {
		t.Errorf("%d entries, want %d", len(entries), want)
	}
	if _, err := privacy.VerifyLedger(t.Context(), l, scope); err != nil {
		t.Error(err)
	}
}

// TestFlood: more connections to a server than the files that it may open stop no job. It runs
// beside no other fleet: a server gives up a tick of a job that it may not run.
func TestFlood(t *testing.T) {
	label, name := Load(t, Shipped("karate"), ownType), "flood-"+token()
	source(t, label, 16)
	property := secret(t, label)
	setUp(t)
	s := connect(t)
	must.Get(privacy.SetCap(t.Context(), s.Ledger(), "property="+property, privacy.Budget{Epsilon: 500, Delta: 1e-5}))(t)
	forgetJob(t, name)
	t.Cleanup(func() { Query(t, "MATCH (j:GraphCloakJob {name: $name}) DELETE j", map[string]any{"name": name}) })
	f := newFleet(t, 0, jobOn(name, "@every 1s", label, property, "maxRetries", 0, "mode", "stats"))
	f.servers = make([]*member, 1)
	f.start(0, "sh", "-c", `ulimit -n 256 && exec "$0" "$@"`)
	address := ""
	for range 3000 {
		if _, after, ok := strings.Cut(f.log.String(), "http://"); ok {
			address, _, _ = strings.Cut(after, " ")
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for range 400 {
		c := must.Get(net.Dial("tcp", address))(t)
		defer c.Close()
		io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") // and it stays open
	}
	for wait := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		ended := must.Get(s.Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: name, Ended: true}))(t)
		for _, c := range ended {
			if c.Status != jobs.Finished {
				t.Errorf("tick %v is %s: %s", c.NominalTime, c.Status, c.Message)
			}
		}
		if len(ended) >= 3 || t.Failed() {
			break
		}
		if time.Now().After(wait) {
			t.Fatalf("%d ticks have ended", len(ended))
		}
	}
	f.stop()
}
