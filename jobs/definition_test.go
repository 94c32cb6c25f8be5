// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestDefine reads every property, and leaves the rest to the run.
func TestDefine(t *testing.T) {
	d, err := Define(map[string]any{
		"name": "nightly", "schedule": " 0 2 * * * ", "timeZone": "Europe/Berlin", "missedRuns": "once",
		"missedWithin": "6h", "timeout": "1h", "maxRetries": int64(5), "retryDelay": "1m", "paused": true,
		"sourceProperty": "risk", "epsilon": 1.5,
	})
	must.Do(t, err)
	if d.Name != "nightly" || d.ScheduleText != "0 2 * * *" || d.MissedRuns != Once ||
		d.MissedWithin != 6*time.Hour ||
		d.Timeout != time.Hour || d.MaxRetries != 5 || d.RetryDelay != time.Minute {
		t.Errorf("%+v", d)
	}
	if len(d.Settings) != 2 || d.Settings["sourceProperty"] != "risk" || d.Settings["epsilon"] != 1.5 {
		t.Errorf("settings %v", d.Settings)
	}
	d, err = Define(map[string]any{"name": "a", "schedule": "@daily"})
	if err != nil || d.MissedRuns != Skip || d.MissedWithin != 24*time.Hour || d.MaxRetries != 3 {
		t.Errorf("defaults: %+v, %v", d, err)
	}
}

// TestDefineNamesWhatIsWrong, all of it, and shows no value but short text.
func TestDefineNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		fields map[string]any
		want   []string
	}{
		{map[string]any{}, []string{"name \"\"", "schedule is missing"}},
		{map[string]any{"name": "a/b", "schedule": "@daily"}, []string{"name \"a/b\""}},
		{map[string]any{"name": "a\nb", "schedule": "@daily"}, []string{`name "a\nb"`}},
		{map[string]any{"name": strings.Repeat("x", 5000), "schedule": "@daily"}, []string{"xxx…"}},
		{map[string]any{"name": 7, "schedule": true}, []string{"name is a number, want text", "schedule is true or false, want text"}},
		{map[string]any{"name": "a", "schedule": "nonsense"}, []string{"no cron expression"}},
		{map[string]any{"name": "a", "schedule": "@daily", "timeZone": "Nowhere"}, []string{"unknown"}},
		{map[string]any{"name": "a", "schedule": "@daily", "missedWithin": "soon"}, []string{`missedWithin is "soon"`}},
		{map[string]any{"name": "a", "schedule": "@daily", "missedWithin": "-1s"}, []string{"missedWithin"}},
		{map[string]any{"name": "a", "schedule": "@daily", "timeout": int64(5)}, []string{"timeout is a number"}},
		{map[string]any{"name": "a", "schedule": "@daily", "missedRuns": "some"}, []string{"skip, once or all"}},
		{map[string]any{"name": "a", "schedule": "@daily", "maxRetries": -1}, []string{"maxRetries"}},
		{map[string]any{"name": "a", "schedule": "@daily", "maxRetries": 1.5}, []string{"maxRetries"}},
		{map[string]any{"name": "a", "schedule": "@daily", "maxRetries": "3"}, []string{"maxRetries"}},
		{map[string]any{"name": "a", "schedule": "@daily", "paused": "yes"}, []string{"paused is text"}},
	} {
		_, err := Define(c.fields)
		if err == nil {
			t.Errorf("%.80v is accepted", c.fields)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%.80v: %q does not say %q", c.fields, err, want)
			}
		}
		if len(err.Error()) > 1000 {
			t.Errorf("a message of %d bytes", len(err.Error()))
		}
	}
}

func define(t *testing.T, fields map[string]any) Definition {
	t.Helper()
	return must.Get(Define(fields))(t)
}

// TestDue: which tick is claimed after an outage, under each policy.
func TestDue(t *testing.T) {
	at := func(text string) time.Time { return must.Get(time.Parse(time.RFC3339, text))(t) }
	now := at("2026-06-01T12:00:30Z")
	for _, c := range []struct {
		name         string
		policy       string
		within, last string
		want         string
	}{
		{"on time, skip", "skip", "24h", "2026-06-01T11:00:00Z", "2026-06-01T12:00:00Z"},
		{"on time, once", "once", "24h", "2026-06-01T11:00:00Z", "2026-06-01T12:00:00Z"},
		{"on time, all", "all", "24h", "2026-06-01T11:00:00Z", "2026-06-01T12:00:00Z"},
		{"after an outage, skip", "skip", "24h", "2026-06-01T03:00:00Z", "2026-06-01T12:00:00Z"},
		{"after an outage, once", "once", "24h", "2026-06-01T03:00:00Z", "2026-06-01T12:00:00Z"},
		{"after an outage, all", "all", "24h", "2026-06-01T03:00:00Z", "2026-06-01T04:00:00Z"},
		{"all within", "all", "3h", "2026-06-01T03:00:00Z", "2026-06-01T10:00:00Z"},
		{"done", "all", "24h", "2026-06-01T12:00:00Z", ""},
		{"a clock that went back", "all", "24h", "2026-06-01T15:00:00Z", ""},
	} {
		d := define(t, map[string]any{"name": "a", "schedule": "@hourly", "missedRuns": c.policy, "missedWithin": c.within})
		want := time.Time{}
		if c.want != "" {
			want = at(c.want)
		}
		if got := d.due(at(c.last), now); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
	late := at("2026-06-01T12:01:01Z")
	for policy, want := range map[string]time.Time{"skip": {}, "once": at("2026-06-01T12:00:00Z"), "all": at("2026-06-01T12:00:00Z")} {
		d := define(t, map[string]any{"name": "a", "schedule": "@hourly", "missedRuns": policy})
		if got := d.due(at("2026-06-01T11:00:00Z"), late); !got.Equal(want) {
			t.Errorf("61 s late, %s: %v, want %v", policy, got, want)
		}
	}
}

// TestBackoff doubles up to ten minutes, and a coin takes up to half of it.
func TestBackoff(t *testing.T) {
	d := define(t, map[string]any{"name": "a", "schedule": "@hourly", "retryDelay": "1m"})
	for n, want := range map[int]time.Duration{
		1: time.Minute, 2: 2 * time.Minute, 4: 8 * time.Minute, 5: 10 * time.Minute,
		90: 10 * time.Minute,
	} {
		if got := d.backoff(n, 0); got != want/2 {
			t.Errorf("retry %d: at least %v, want %v", n, got, want/2)
		}
		if got := d.backoff(n, 0.999999); got > want || got < want-want/1000 {
			t.Errorf("retry %d: at most %v, want nearly %v", n, got, want)
		}
	}
}
