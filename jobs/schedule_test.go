// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/graphcloak/graphcloak/internal/must"
	. "github.com/graphcloak/graphcloak/jobs"
)

// times returns the ticks of a schedule in (from, to], as RFC 3339.
func times(t *testing.T, spec, zone, from, to string) []string {
	t.Helper()
	s := must.Get(ParseSchedule(spec, zone))(t)
	end := instant(t, to)
	var all []string
	for at := s.Next(instant(t, from)); !at.IsZero() && !at.After(end); at = s.Next(at) {
		all = append(all, at.Format(time.RFC3339))
	}
	return all
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	return must.Get(time.Parse(time.RFC3339, text))(t)
}

// TestScheduleAtClockChanges: on the day that clocks go forward a skipped time is due
// when it would have been; on the day that they go back a fixed hour is due once, and
// every hour is due each time.
func TestScheduleAtClockChanges(t *testing.T) {
	for _, c := range []struct {
		name, spec, zone, from, to string
		want                       []string
	}{
		{
			"skipped time", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z",
			[]string{"2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"},
		},
		{
			"repeated time", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		},
		{
			"every hour forward", "0 * * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", "2026-03-29T02:30:00Z",
			[]string{"2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"},
		},
		{
			"every hour back", "0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25T02:30:00Z",
			[]string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
		},
		{
			"America back", "30 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", "2026-11-02T12:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		},
		{
			"half an hour back", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-05T23:00:00Z",
			[]string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
		},
		{
			"no midnight", "0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-25T12:00:00Z",
			[]string{"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		},
		{
			"every hour of a day without midnight", "0 */1 24 4 *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T23:59:00Z",
			[]string{"2026-04-23T22:00:00Z", "2026-04-23T23:00:00Z"},
		},
		{
			"a day that was left out", "0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z",
			[]string{"2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z", "2011-12-31T19:00:00Z"},
		},
		{
			"skipped and shown times in one", "15,30 2-3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T12:00:00Z",
			[]string{"2026-03-29T01:15:00Z", "2026-03-29T01:30:00Z"},
		},
		{
			"every 20 minutes back", "*/20 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:10:00Z",
			[]string{
				"2026-10-25T00:40:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:20:00Z", "2026-10-25T01:40:00Z",
				"2026-10-25T02:00:00Z",
			},
		},
		{
			"half an hour forward", "15 * * * *", "Australia/Lord_Howe", "2026-10-03T13:50:00Z", "2026-10-03T17:00:00Z",
			[]string{"2026-10-03T14:45:00Z", "2026-10-03T16:15:00Z"},
		},
		{
			"every 90 minutes knows no zone", "@every 90m", "", "2026-03-29T00:00:00Z", "2026-03-29T04:30:00Z",
			[]string{"2026-03-29T01:30:00Z", "2026-03-29T03:00:00Z", "2026-03-29T04:30:00Z"},
		},
		{
			"day of month or of week", "0 0 13 * FRI", "", "2026-02-01T00:00:00Z", "2026-02-20T00:00:00Z",
			[]string{"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"},
		},
		{
			"seconds", "*/20 0 0 1 1 *", "", "2026-12-31T00:00:00Z", "2027-01-01T00:00:45Z",
			[]string{"2027-01-01T00:00:00Z", "2027-01-01T00:00:20Z", "2027-01-01T00:00:40Z"},
		},
	} {
		if got := times(t, c.spec, c.zone, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestScheduleDoesNotDependOnTheAsker: the next time is the same from every instant
// before it and in every zone, which `every` counted from a start would not be.
func TestScheduleDoesNotDependOnTheAsker(t *testing.T) {
	tokyo := must.Get(time.LoadLocation("Asia/Tokyo"))(t)
	for _, spec := range []string{"@every 7m", "13 */3 * * *", "@daily"} {
		s := must.Get(ParseSchedule(spec, ""))(t)
		first := s.Next(instant(t, "2026-05-05T05:05:05Z"))
		for back := time.Second; back < 7*time.Minute; back += 61 * time.Second {
			from := first.Add(-back)
			if got := s.Next(from.In(tokyo)); !got.Equal(first) {
				t.Errorf("%s: %v from %v, want %v", spec, got, from, first)
			}
		}
		if got := s.Next(first); !got.After(first) {
			t.Errorf("%s: %v after itself", spec, got)
		}
	}
}

// TestLast agrees with walking through all times.
func TestLast(t *testing.T) {
	from := instant(t, "2026-10-20T00:00:00Z")
	for _, spec := range []string{"@every 17s", "*/13 * * * *", "30 2 * * *", "0 0 1 * *"} {
		s, err := ParseSchedule(spec, "Europe/Berlin")
		if err != nil {
			s, err = ParseSchedule(spec, "")
		}
		must.Do(t, err)
		for _, span := range []time.Duration{0, time.Second, 40 * time.Minute, 14 * 24 * time.Hour} {
			until := from.Add(span)
			var want time.Time
			for at := s.Next(from); !at.After(until); at = s.Next(at) {
				want = at
			}
			if got := s.Last(from, until); !got.Equal(want) {
				t.Errorf("%s in %v: %v, want %v", spec, span, got, want)
			}
		}
	}
}

// TestScheduleRefuses what means nothing, and says what.
func TestScheduleRefuses(t *testing.T) {
	for _, c := range []struct{ spec, zone, want string }{
		{"", "", "no cron expression"},
		{"at night", "", "no cron expression"},
		{"99 * * * *", "", "no cron expression"},
		{"* * * *", "", "no cron expression"},
		{"@reboot", "", "no cron expression"},
		{"@manual", "", "names no times"},
		{"0 0 30 2 *", "", "never due"},
		{"@every 500ms", "", "whole seconds"},
		{"@every 1500ms", "", "whole seconds"},
		{"@every -5m", "", "whole seconds"},
		{"@every soon", "", "whole seconds"},
		{"0 2 * * *", "Mars/Olympus", "time zone \"Mars/Olympus\" is unknown"},
		{"0 2 * * *", "Local", "is unknown"},
		{"0 2 * * *", "../../etc/passwd", "is unknown"},
		{"CRON_TZ=UTC 0 2 * * *", "", "names no times"},
		{strings.Repeat("1,", 4000) + "1 * * * *", "", "no cron expression"},
	} {
		if _, err := ParseSchedule(c.spec, c.zone); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q in %q: %v, want %q", c.spec, c.zone, err, c.want)
		}
	}
}

// TestReleaseID: the id is a version 7 UUID of the nominal time, the same from every
// zone, and another for another job or time.
func TestReleaseID(t *testing.T) {
	at := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	berlin := time.FixedZone("", 3600)
	id := NewTick("nightly", at).ReleaseID()
	if again := NewTick("nightly", at.In(berlin)).ReleaseID(); again != id {
		t.Errorf("%s in another zone, want %s", again, id)
	}
	parsed := must.Get(uuid.Parse(id))(t)
	sec, nsec := parsed.Time().UnixTime()
	if parsed.Version() != 7 || parsed.Variant() != uuid.RFC4122 || !time.Unix(sec, nsec).Equal(at) {
		t.Errorf("%s: version %d, time %v", id, parsed.Version(), time.Unix(sec, nsec).UTC())
	}
	seen := map[string]bool{id: true}
	for _, other := range []Tick{NewTick("nightly2", at), NewTick("", at), NewTick("nightly", at.Add(time.Second))} {
		if o := other.ReleaseID(); seen[o] {
			t.Errorf("%v has the id of another tick", other)
		} else {
			seen[o] = true
		}
	}
	if later := NewTick("a", at.Add(time.Second)).ReleaseID(); later <= id {
		t.Errorf("%s sorts before %s", later, id)
	}
}
