// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// Schedule says when a job is due. Its times depend on nothing but its text, so every
// instance finds the same.
//
// Where clocks are put forward, a time that does not exist is due when it would have
// been, by the clock before. Where they are put back, a schedule with fixed hours is due
// once, at the first of both, and one for every hour at both: as ISC cron does.
type Schedule struct {
	cron  *cron.SpecSchedule // nil: every
	every time.Duration
	zone  *time.Location
}

// parser reads five fields, or six with seconds first, and the names such as @daily.
// Where day of month and day of week are both given one of them is enough, as POSIX
// crontab says.
var parser = cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
	cron.Descriptor | cron.Extended | cron.DowOrDom)

// everyHour has a bit for each hour of the day.
const everyHour = 1<<24 - 1

// ParseSchedule reads a cron expression, @hourly and the like, or "@every 15m", whose
// times are whole multiples since 1970-01-01T00:00Z. Zone is a name of the IANA time
// zone database; "" is UTC.
func ParseSchedule(text, zone string) (Schedule, error) {
	text = strings.TrimSpace(text)
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		return parseEvery(strings.TrimSpace(every))
	}
	place, err := loadZone(zone)
	if err != nil {
		return Schedule{}, err
	}
	parsed, err := parser.Parse(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q is no cron expression: %w", text, err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok || strings.Contains(text, "TZ=") {
		return Schedule{}, fmt.Errorf("schedule %q names no times", text)
	}
	s := Schedule{cron: spec, zone: place}
	if s.Next(time.Unix(0, 0)).IsZero() {
		return Schedule{}, fmt.Errorf("schedule %q is never due", text)
	}
	return s, nil
}

// parseEvery reads the interval between ticks.
func parseEvery(text string) (Schedule, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d%time.Second != 0 {
		return Schedule{}, fmt.Errorf("schedule @every %q: want whole seconds, such as 90s or 1h30m", text)
	}
	return Schedule{every: d, zone: time.UTC}, nil
}

// loadZone finds a time zone. Local is none: it would differ between instances.
func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("time zone %q is unknown: want a name such as Europe/Berlin", name)
	}
	return zone, nil
}

// Next returns the first time after t, in UTC, or the zero time where there is none
// within five years.
//
// The expression is matched against what the clock shows, as if there were no changes,
// and what it shows is then turned into instants: the library's own search in a zone
// leaves out a day whose midnight does not exist.
func (s Schedule) Next(t time.Time) time.Time {
	if s.cron == nil {
		return nextMultiple(t, s.every)
	}
	var best time.Time
	for shown := s.cron.Next(searchFrom(t, s.zone)); !shown.IsZero(); shown = s.cron.Next(shown) {
		at := resolve(shown, s.zone)
		for _, u := range s.due(at) {
			if u.After(t) && (best.IsZero() || u.Before(best)) {
				best = u
			}
		}
		if !best.IsZero() && !at.skipped && !at.first.Before(best) {
			break // what is shown later comes later
		}
	}
	return best
}

// due returns the instants that count for what the clock shows.
func (s Schedule) due(at moment) []time.Time {
	fixedHours := s.cron.Hour&everyHour != everyHour
	switch {
	case fixedHours:
		return []time.Time{at.first}
	case at.skipped:
		return nil
	case at.repeated:
		return []time.Time{at.first, at.second}
	}
	return []time.Time{at.first}
}

// Last returns the last time in (after, until], or the zero time.
func (s Schedule) Last(after, until time.Time) time.Time {
	start, back := until, time.Second
	for start.After(after) {
		start = until.Add(-back)
		if start.Before(after) {
			start = after
		}
		if t := s.Next(start); !t.IsZero() && !t.After(until) {
			break
		}
		back *= 2
	}
	var last time.Time
	for t := s.Next(start); !t.IsZero() && !t.After(until); t = s.Next(t) {
		last = t
	}
	return last
}

// nextMultiple counts from 1970, not from when an instance was started.
func nextMultiple(t time.Time, d time.Duration) time.Time {
	step, seconds := int64(d/time.Second), t.Unix()
	n := seconds / step
	if seconds%step < 0 {
		n--
	}
	return time.Unix((n+1)*step, 0).UTC()
}

// moment is when a clock shows a time.
type moment struct {
	first, second time.Time // second where the clock shows it twice
	skipped       bool      // it never does: first is when it would have, by the clock before
	repeated      bool
}

// horizon is longer than the distance of any zone from UTC, and shorter than that of
// two changes of its clock.
const horizon = 26 * time.Hour

// resolve finds the instants at which a clock shows what shown says in UTC.
func resolve(shown time.Time, zone *time.Location) moment {
	before, after := offset(shown.Add(-horizon), zone), offset(shown.Add(horizon), zone)
	t, u := shown.Add(-before), shown.Add(-after)
	isT, isU := wall(t, zone).Equal(shown), wall(u, zone).Equal(shown)
	switch {
	case isT && isU && !t.Equal(u):
		return moment{first: t, second: u, repeated: true}
	case !isT && isU:
		return moment{first: u}
	}
	return moment{first: t, skipped: !isT}
}

// searchFrom returns what the clock shows at t, less a change of the clock that is no
// further from t than its own length: what it skips is due later than it would show,
// and what it shows twice is due again.
func searchFrom(t time.Time, zone *time.Location) time.Time {
	shown := wall(t, zone)
	start, end := t.In(zone).ZoneBounds()
	var back time.Duration
	for _, change := range []time.Time{start, end} {
		if change.IsZero() {
			continue
		}
		length := (offset(change, zone) - offset(change.Add(-time.Second), zone)).Abs()
		if t.Sub(change).Abs() <= length {
			back = max(back, length)
		}
	}
	return shown.Add(-back)
}

// wall writes what a clock in zone shows at t as a time in UTC.
func wall(t time.Time, zone *time.Location) time.Time { return t.UTC().Add(offset(t, zone)) }

func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
