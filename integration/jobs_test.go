// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/internal/faultproxy"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
)

// tickOf is a tick of a job of this test.
func tickOf(job string, hours int) jobs.Tick {
	return jobs.NewTick(job, time.Date(2026, 3, 1, hours, 0, 0, 0, time.UTC))
}

func holder() jobs.Holder { return jobs.Holder{Instance: "integration", Token: token()} }

// forgetJob removes the ticks of a job when the test ends.
func forgetJob(t *testing.T, job string) {
	t.Cleanup(func() { Query(t, "MATCH (t:GraphCloakTick {jobName: $job}) DELETE t", map[string]any{"job": job}) })
}

// TestLostClaims cuts the connection before and after each commit of a claim's life:
// what was asked for is done once, and the answer is that of the call.
func TestLostClaims(t *testing.T) {
	uri := must.Get(url.Parse(Server(t).URI))(t)
	p := must.Get(faultproxy.Listen(uri.Host))(t)
	t.Cleanup(func() { p.Close() })
	setUp(t)
	s := connect(t, func(o *neo4j.Options) { o.URI = "bolt://" + p.Addr() }).Jobs()
	ctx := t.Context()
	warm := "lost claims " + token()
	forgetJob(t, warm)
	if _, err := s.Claim(ctx, tickOf(warm, 0), holder(), time.Minute); err != nil { // and what is made once
		t.Fatal(err)
	}
	for _, fault := range []faultproxy.Fault{faultproxy.LoseRequest, faultproxy.LoseReply} {
		t.Run(fault.String(), func(t *testing.T) {
			job := "lost claims " + token()
			forgetJob(t, job)
			at, first, second := tickOf(job, 0), holder(), holder()
			o := jobs.Outcome{Status: jobs.Finished, RunID: "r", Message: "done"}
			lost := func(what string, do func() error) {
				t.Helper()
				hit := p.Arm(1, fault, false)
				if err := do(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				select {
				case <-hit:
				default:
					t.Errorf("%s: the connection was not cut", what)
				}
			}
			var c jobs.Claim
			lost("claim", func() (err error) { c, err = s.Claim(ctx, at, first, time.Minute); return err })
			lost("save", func() error { return s.Save(ctx, at, first.Token, []byte("kept")) })
			lost("renew", func() (err error) { _, err = s.Renew(ctx, at, first.Token, time.Minute); return err })
			lost("cancel", func() (err error) { _, err = s.Cancel(ctx, job); return err })
			lost("yield", func() error { return s.Yield(ctx, at, first.Token, time.Time{}, "later") })
			if c.Attempts != 1 {
				t.Errorf("the first claim is %+v", c)
			}
			lost("takeover", func() (err error) { c, err = s.Claim(ctx, at, second, time.Minute); return err })
			if c.Attempts != 2 || string(c.Saved) != "kept" || !c.CancelRequested {
				t.Errorf("the second claim is %+v", c)
			}
			lost("finish", func() error { return s.Finish(ctx, at, second.Token, o) })
			ticks, err := s.Ticks(ctx, jobs.TickQuery{JobName: job})
			if err != nil || len(ticks) != 1 || ticks[0].Outcome != o || ticks[0].Attempts != 2 {
				t.Errorf("the ticks are %+v, %v", ticks, err)
			}
		})
	}
}

// TestClockOfTheHost: to an instance whose clock stands at the year 2000, a lease is as
// long as to one whose clock is right.
func TestClockOfTheHost(t *testing.T) {
	setUp(t)
	options := Server(t).Options()
	job := "clock " + token()
	forgetJob(t, job)
	const lease = 10 * time.Second // which a busy machine does not pass between two calls
	right := connect(t).Jobs()
	before := must.Get(right.Now(t.Context()))(t)
	var wrong jobs.Claim
	synctest.Test(t, func(t *testing.T) {
		if year := time.Now().Year(); year != 2000 {
			t.Fatalf("the host's clock stands at the year %d, want 2000", year)
		}
		s := must.Get(neo4j.New(t.Context(), options))(t)
		defer s.Close(t.Context())
		wrong = must.Get(s.Jobs().Claim(t.Context(), tickOf(job, 0), holder(), lease))(t)
		if now, err := s.Jobs().Now(t.Context()); err != nil || now.Before(before) {
			t.Errorf("the store's time is %v, %v, want none before %v", now, err, before)
		}
	})
	if wrong.ClaimedAt.Before(before) || wrong.LeaseUntil.Sub(wrong.ClaimedAt) != lease {
		t.Errorf("claimed by the wrong clock: %+v, at %v", wrong, before)
	}
	if _, err := right.Claim(t.Context(), tickOf(job, 0), holder(), lease); !errors.Is(err, jobs.ErrHeld) {
		t.Errorf("while the lease runs: %v, want ErrHeld", err)
	}
}

// TestPlantedTicks: records that somebody else made, of any types, free no tick that is
// claimed, and take nothing from the jobs beside them.
func TestPlantedTicks(t *testing.T) {
	setUp(t)
	s, job := connect(t).Jobs(), "planted "+token()
	forgetJob(t, job)
	held := must.Get(s.Claim(t.Context(), tickOf(job, 3), holder(), time.Minute))(t)
	for _, planted := range []map[string]any{
		{"jobName": job},
		{"jobName": job, "nominalTime": "2027-01-01"},
		{"jobName": job, "nominalTime": int64(1 << 62)},
		{"jobName": job, "nominalTime": true},
		{"jobName": job, "nominalTime": tickOf(job, 1).NominalTime, "status": int64(3), "attempts": "many", "attemptToken": []string{"a"}},
	} {
		Query(t, "CREATE (t:GraphCloakTick) SET t = $p", map[string]any{"p": planted})
	}
	twice := map[string]any{"p": map[string]any{"jobName": job, "nominalTime": held.NominalTime}}
	if _, err := Server(t).run(Server(t).Database, "CREATE (t:GraphCloakTick) SET t = $p", twice); err == nil {
		t.Error("a tick has a second record")
	}
	for hours := range 6 {
		_, err := s.Claim(t.Context(), tickOf(job, hours), holder(), time.Minute)
		if want := jobs.ErrHeld; hours >= 3 && !errors.Is(err, want) || hours < 3 && !errors.Is(err, jobs.ErrPast) {
			t.Errorf("tick %d beside an open one: %v", hours, err)
		}
	}
	if ticks, err := s.Ticks(t.Context(), jobs.TickQuery{JobName: job}); err != nil || len(ticks) != 2 || ticks[0].Tick != held.Tick ||
		ticks[1].Open() {
		t.Errorf("the ticks are %+v, %v, want the claim and one that has ended", ticks, err)
	}
	latest, err := s.Ticks(t.Context(), jobs.TickQuery{Latest: true})
	if err != nil || !slices.ContainsFunc(latest, func(c jobs.Claim) bool { return c.Tick == held.Tick }) {
		t.Errorf("the latest ticks are %+v, %v, want %v among them", latest, err, held.Tick)
	}
	must.Do(t, s.Finish(t.Context(), held.Tick, held.Token, jobs.Outcome{Status: jobs.Finished}))
	Query(t, "CREATE (t:GraphCloakTick) SET t = $p",
		map[string]any{"p": map[string]any{"jobName": job, "nominalTime": tickOf(job, 4).NominalTime}})
	if _, err := s.Claim(t.Context(), tickOf(job, 4), holder(), time.Minute); !errors.Is(err, jobs.ErrPast) {
		t.Errorf("a tick whose record says nothing: %v, want ErrPast", err)
	}
	if _, err := s.Claim(t.Context(), tickOf(job, 5), holder(), time.Minute); err != nil {
		t.Errorf("the tick after it: %v", err)
	}
}

// TestPlantedJobs: records of a job that somebody else made, of any types, pause it at most.
func TestPlantedJobs(t *testing.T) {
	setUp(t)
	s, name := connect(t).Jobs(), "planted "+token()
	t.Cleanup(func() { Query(t, "MATCH (j:GraphCloakJob {name: $name}) DELETE j", map[string]any{"name": name}) })
	must.Do(t, s.Enlist(t.Context(), name))
	before, err := s.Standings(t.Context(), []string{name})
	if err != nil || before[name].Since.IsZero() {
		t.Fatalf("%+v, %v", before, err)
	}
	for _, planted := range []map[string]any{
		{"paused": "yes", "scheduledSince": "now"},
		{"paused": int64(1), "scheduledSince": int64(1 << 62)},
		{"scheduledSince": []bool{true}},
	} {
		planted["name"] = name
		Query(t, "CREATE (j:GraphCloakJob) SET j = $p", map[string]any{"p": planted})
	}
	Query(t, "CREATE (:GraphCloakJob {name: ['a'], paused: true}), (:GraphCloakJob {paused: true})", nil)
	t.Cleanup(func() { Query(t, "MATCH (j:GraphCloakJob) WHERE j.name IS NULL OR j.name = ['a'] DELETE j", nil) })
	if after, err := s.Standings(t.Context(), []string{name}); err != nil || after[name] != before[name] {
		t.Errorf("%+v, %v, want %+v", after, err, before)
	}
	must.Do(t, s.SetPaused(t.Context(), name, true))
	if after, err := s.Standings(t.Context(), []string{name}); err != nil || !after[name].Paused {
		t.Errorf("paused: %+v, %v", after, err)
	}
}

// TestLargeSave keeps what a run of a large graph saves, and renews beside it.
func TestLargeSave(t *testing.T) {
	setUp(t)
	s, job := connect(t).Jobs(), "large "+token()
	forgetJob(t, job)
	c := must.Get(s.Claim(t.Context(), tickOf(job, 0), holder(), time.Minute))(t)
	saved := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
	must.Do(t, s.Save(t.Context(), c.Tick, c.Token, saved))
	must.Do(t, s.Yield(t.Context(), c.Tick, c.Token, time.Time{}, ""))
	next, err := s.Claim(t.Context(), c.Tick, holder(), time.Minute)
	if err != nil || !bytes.Equal(next.Saved, saved) {
		t.Errorf("%d bytes came back, %v, want %d", len(next.Saved), err, len(saved))
	}
	must.Do(t, s.Finish(t.Context(), next.Tick, next.Token, jobs.Outcome{Status: jobs.Finished}))
	if rows := Query(t, "MATCH (t:GraphCloakTick {jobName: $job}) RETURN t.savedRun IS NULL", map[string]any{"job": job}); len(rows) != 1 ||
		rows[0][0] != true {
		t.Errorf("after its end the record holds what was saved: %v", rows)
	}
}
