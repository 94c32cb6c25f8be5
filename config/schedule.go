// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"regexp"
	"strconv"
	"time"
)

// Schedule is what a run that a scheduler starts needs beside what it computes.
type Schedule struct {
	MetricsFile string // "": none
	OncePer     Span   // 0: as often as it is asked for
	ReleaseID   string // "": a new one
}

// Span is a length of time in whole seconds: days such as 30d, weeks such as 4w, or a
// duration such as 36h.
type Span time.Duration

const (
	day = 24 * time.Hour
	// maxSpan is some hundred years.
	maxSpan = 100 * 366 * day
)

var errSpan = errors.New("whole seconds up to 100 years, such as 30d, 4w or 36h")

// ParseSpan reads a length of time, which is not 0.
func ParseSpan(text string) (Span, error) {
	unit := map[string]time.Duration{"d": day, "w": 7 * day}[text[max(0, len(text)-1):]]
	if unit == 0 {
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second || d%time.Second != 0 || d > maxSpan {
			return 0, errSpan
		}
		return Span(d), nil
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	if err != nil || n < 1 || n > int64(maxSpan/unit) {
		return 0, errSpan
	}
	return Span(time.Duration(n) * unit), nil
}

// String is in days where the span is a number of them, and "" for 0.
func (s Span) String() string {
	d := time.Duration(s)
	switch {
	case d == 0:
		return ""
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}

func (s *Span) parse(text string) (err error) {
	if text == "" {
		*s = 0
		return nil
	}
	*s, err = ParseSpan(text)
	return err
}

// MarshalText makes JSON and YAML of it.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// runID is what may be part of the name of a file, a property and a URL.
var runID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

func checkRunID(text string) string {
	if text != "" && !runID.MatchString(text) {
		return "at most 64 letters, digits and hyphens"
	}
	return ""
}

func schedule() []Setting {
	const g = GroupSchedule
	return []Setting{
		{
			Key: "metricsFile", Group: g, Help: "replace this file by metrics for Prometheus when the command ends; FILE.om is OpenMetrics",
			arg:   "FILE",
			field: func(c *Config) any { return &c.Schedule.MetricsFile },
		},
		{
			Key: "oncePer", Group: g, Help: "do nothing where a run of the same property was finished within this time, by the " +
				"store's clock", arg: "SPAN", notEmpty: true,
			field: func(c *Config) any { return &c.Schedule.OncePer },
		},
		{
			Key: "releaseId", Group: g, Help: "id of this run and its release; a second run with it goes on with the first, and never " +
				"spends again", arg: "ID", check: checkRunID, noFile: true, notEmpty: true,
			field: func(c *Config) any { return &c.Schedule.ReleaseID },
		},
	}
}
