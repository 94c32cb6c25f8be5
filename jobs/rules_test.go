// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"testing"
	"time"
)

// TestAdmit: who may have a tick, whatever the job's latest one is.
func TestAdmit(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	tick, before, after := NewTick("a", now), NewTick("a", now.Add(-time.Hour)), NewTick("a", now.Add(time.Hour))
	open := func(at Tick, lease, retry time.Duration) Claim {
		c := Claim{
			Tick: at, Token: "theirs", Attempts: 1, ClaimedAt: now, LeaseUntil: now.Add(lease), Saved: []byte("kept"),
			Outcome: Outcome{Status: Running},
		}
		if retry != 0 {
			c.RetryAt = now.Add(retry)
		}
		return c
	}
	ended := func(at Tick) Claim { return Claim{Tick: at, Token: "theirs", Outcome: Outcome{Status: Failed}} }
	for _, c := range []struct {
		name     string
		latest   Claim
		want     error
		attempts int64
	}{
		{"the first", Claim{}, nil, 1},
		{"after an ended one", ended(before), nil, 1},
		{"ended", ended(tick), ErrPast, 0},
		{"before an ended one", ended(after), ErrPast, 0},
		{"before an open one", open(after, time.Minute, 0), ErrPast, 0},
		{"held", open(tick, time.Minute, 0), ErrHeld, 0},
		{"its lease ran out", open(tick, -time.Second, 0), nil, 2},
		{"its lease ends now", open(tick, 0, 0), nil, 2},
		{"it waits before a retry", open(tick, -time.Second, time.Minute), ErrHeld, 0},
		{"it has waited", open(tick, -time.Minute, -time.Second), nil, 2},
		{"another is held", open(before, time.Minute, 0), ErrHeld, 0},
		{"another is left", open(before, -time.Second, 0), ErrUnfinished, 0},
	} {
		got, err := Admit(c.latest, tick, Holder{"here", "ours"}, now, time.Minute)
		if !errors.Is(err, c.want) || got.Attempts != c.attempts {
			t.Errorf("%s: %+v, %v, want %v", c.name, got, err, c.want)
		}
		if err != nil {
			continue
		}
		if got.Token != "ours" || got.Instance != "here" || !got.LeaseUntil.Equal(now.Add(time.Minute)) || !got.RetryAt.IsZero() ||
			got.Status != Running || !got.NominalTime.Equal(now) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if (got.Attempts > 1) != (string(got.Saved) == "kept") {
			t.Errorf("%s: saved %q", c.name, got.Saved)
		}
	}
	held := open(tick, time.Minute, 0)
	if again, err := Admit(held, tick, Holder{"here", "theirs"}, now, time.Hour); err != nil || again.Attempts != 1 ||
		!again.LeaseUntil.Equal(held.LeaseUntil) {
		t.Errorf("repeated by its holder: %+v, %v", again, err)
	}
}

// TestFence: a token that is not the claim's does nothing to it, nor does one that is
// empty or an ended claim's.
func TestFence(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	tick := NewTick("a", now)
	claim := Claim{
		Tick: tick, Token: "ours", LeaseUntil: now.Add(-time.Hour), CancelRequested: true, Saved: []byte("kept"),
		Outcome: Outcome{Status: Running},
	}
	yielded, err := claim.Yielded(tick, "ours", now, "later")
	if err != nil || yielded.Token != "" || !yielded.LeaseUntil.IsZero() || !yielded.RetryAt.Equal(now) || !yielded.Open() {
		t.Errorf("yielded: %+v, %v", yielded, err)
	}
	done := Outcome{Status: Finished, RunID: "r"}
	ended, err := claim.Finished(tick, "ours", done, now)
	if err != nil || ended.Open() || ended.Saved != nil || !ended.EndedAt.Equal(now) || ended.CancelRequested {
		t.Errorf("finished: %+v, %v", ended, err)
	}
	if again, err := ended.Finished(tick, "ours", done, now.Add(time.Hour)); err != nil || !again.EndedAt.Equal(now) {
		t.Errorf("finished again: %+v, %v", again, err)
	}
	if renewed, err := claim.Renewed(tick, "ours", now, time.Minute); err != nil || !renewed.LeaseUntil.Equal(now.Add(time.Minute)) {
		t.Errorf("renewed: %+v, %v", renewed, err)
	}
	if _, err := claim.Finished(tick, "ours", Outcome{Status: Running}, now); err == nil {
		t.Error("a tick ended as running")
	}
	for name, c := range map[string]struct {
		claim Claim
		tick  Tick
		token string
	}{
		"another token": {claim, tick, "theirs"}, "no token": {claim, tick, ""}, "yielded": {yielded, tick, ""},
		"ended":        {ended, tick, "ours"},
		"another tick": {claim, NewTick("a", now.Add(time.Hour)), "ours"}, "another job": {claim, NewTick("b", now), "ours"},
		"nothing": {Claim{}, tick, ""},
	} {
		_, renew := c.claim.Renewed(c.tick, c.token, now, time.Minute)
		_, yield := c.claim.Yielded(c.tick, c.token, now, "")
		_, finish := c.claim.Finished(c.tick, c.token, Outcome{Status: Failed}, now)
		for what, err := range map[string]error{
			"save": c.claim.Owned(c.tick, c.token), "renew": renew, "yield": yield, "finish": finish,
			"write": Fence{Tick: c.tick, Token: c.token, GivingUp: true}.Check(c.claim),
		} {
			if !errors.Is(err, ErrLost) {
				t.Errorf("%s: %s: %v, want ErrLost", name, what, err)
			}
		}
	}
}
