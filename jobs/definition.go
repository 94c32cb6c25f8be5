// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Missed is the misfire policy: what becomes of ticks that no instance ran in time.
type Missed string

// Policies for missed ticks.
const (
	Skip Missed = "skip" // they are left out
	Once Missed = "once" // the last of them is run
	All  Missed = "all"  // each is run, the earliest first
)

// Definition is a job as its author wrote it, checked.
type Definition struct {
	Name         string
	Schedule     Schedule
	ScheduleText string // as it was written
	TimeZone     string // as it was written
	MissedRuns   Missed
	MissedWithin time.Duration  // ticks older than this are left out under every policy
	Timeout      time.Duration  // of one run; 0: none
	MaxRetries   int            // after errors that may pass
	RetryDelay   time.Duration  // before the first retry; doubled for each
	Settings     map[string]any // of the run, by key: everything else that was written
}

// Bounds of a definition.
const (
	maxName   = 64
	maxFields = 200
	maxDelay  = 10 * time.Minute // between two retries
	onTime    = time.Minute      // a tick that starts no later than this is not missed
	maxSpan   = 366 * 24 * time.Hour
)

var jobName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$`)

// CheckName refuses a name that cannot be part of a URL, a file name and a metrics label.
func CheckName(name string) error {
	if !jobName.MatchString(name) {
		return fmt.Errorf("name %q: want up to %d letters, digits, dots, dashes and underscores, the first a letter or a digit",
			clip(name), maxName)
	}
	return nil
}

// Define reads a job from its properties, by key. The error joins everything that is
// wrong with it.
func Define(fields map[string]any) (Definition, error) {
	f := fieldReader{left: maps.Clone(fields)}
	d := Definition{
		Name: f.text("name", ""), ScheduleText: f.text("schedule", ""), TimeZone: f.text("timeZone", ""),
		MissedWithin: f.duration("missedWithin", 24*time.Hour),
		MissedRuns:   Missed(f.text("missedRuns", string(Skip))), Timeout: f.duration("timeout", 0),
		MaxRetries: f.count("maxRetries", 3), RetryDelay: f.duration("retryDelay", 30*time.Second),
	}
	f.flag("paused")
	d.Settings = f.left
	f.refuse(CheckName(d.Name))
	if d.ScheduleText == "" {
		f.refuse(errors.New("schedule is missing: want a cron expression such as \"0 2 * * *\", or \"@every 1h\""))
	} else {
		var err error
		d.Schedule, err = ParseSchedule(d.ScheduleText, d.TimeZone)
		f.refuse(err)
	}
	if !slices.Contains([]Missed{Skip, Once, All}, d.MissedRuns) {
		f.refuse(fmt.Errorf("missedRuns is %q, want skip, once or all", clip(string(d.MissedRuns))))
	}
	if len(fields) > maxFields {
		f.refuse(fmt.Errorf("it has %d properties, more than %d", len(fields), maxFields))
	}
	return d, errors.Join(f.problems...)
}

// fieldReader takes known properties out of a job and gathers what is wrong.
type fieldReader struct {
	left     map[string]any
	problems []error
}

func (f *fieldReader) refuse(err error) {
	if err != nil {
		f.problems = append(f.problems, err)
	}
}

// take removes a property.
func (f *fieldReader) take(key string) any {
	v := f.left[key]
	delete(f.left, key)
	return v
}

func (f *fieldReader) text(key, otherwise string) string {
	switch v := f.take(key).(type) {
	case nil:
		return otherwise
	case string:
		return strings.TrimSpace(v)
	default:
		f.refuse(fmt.Errorf("%s is %s, want text", key, kind(v)))
	}
	return otherwise
}

func (f *fieldReader) flag(key string) {
	switch v := f.take(key).(type) {
	case nil, bool:
	default:
		f.refuse(fmt.Errorf("%s is %s, want true or false", key, kind(v)))
	}
}

func (f *fieldReader) count(key string, otherwise int) int {
	const most = 100
	n, ok := int64(0), false
	switch v := f.take(key).(type) {
	case nil:
		return otherwise
	case int:
		n, ok = int64(v), true
	case int64:
		n, ok = v, true
	case float64:
		n, ok = int64(v), v == math.Trunc(v) && math.Abs(v) <= most
	}
	if !ok || n < 0 || n > most {
		f.refuse(fmt.Errorf("%s: want a whole number from 0 to %d", key, most))
		return otherwise
	}
	return int(n)
}

// duration reads 90s or 1h30m.
func (f *fieldReader) duration(key string, otherwise time.Duration) time.Duration {
	v := f.take(key)
	if v == nil {
		return otherwise
	}
	text, _ := v.(string)
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d < 0 || d > maxSpan {
		f.refuse(fmt.Errorf("%s is %s: want a duration such as 90s or 1h30m, up to %v", key, shown(v), maxSpan))
		return otherwise
	}
	return d
}

// kind names the type of a value for people.
func kind(v any) string {
	switch v.(type) {
	case bool:
		return "true or false"
	case int, int64, float64:
		return "a number"
	case string:
		return "text"
	case time.Time:
		return "a time"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "of another type"
}

// shown is a text as it is, and of other values the kind alone.
func shown(v any) string {
	if text, ok := v.(string); ok {
		return fmt.Sprintf("%q", clip(text))
	}
	return kind(v)
}

// clip shortens a text from outside for a message.
func clip(text string) string {
	if r := []rune(text); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return text
}
