// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
)

// Properties of the record of a job that are not its author's fields: the origin of the
// record, and what GraphCloak shows of the job.
const (
	OriginKey         = "origin"
	PausedKey         = "paused"
	StatusKey         = "status"
	MessageKey        = "message"
	ScheduledSinceKey = "scheduledSince"
	LastRunKey        = "lastRun"
	LastRunIDKey      = "lastRunId"
	NextRunKey        = "nextRun"
)

// shown are the properties of [jobs.State].
var shown = []string{StatusKey, MessageKey, ScheduledSinceKey, LastRunKey, LastRunIDKey, NextRunKey}

// FiledOf reads the record of a job from its properties, which any writer of the store may
// have set: state that cannot be parsed is left out, and the author's fields are kept as
// they are, for [jobs.Define] to check.
func FiledOf(properties map[string]any) jobs.Filed {
	f := jobs.Filed{Fields: map[string]any{}}
	f.Name, _ = properties["name"].(string)
	f.Origin, _ = properties[OriginKey].(string)
	f.Paused, _ = properties[PausedKey].(bool)
	for name, v := range properties {
		if v != nil && !slices.Contains(shown, name) {
			f.Fields[name] = fieldOf(v)
		}
	}
	text := func(key string) string { s, _ := properties[key].(string); return s }
	f.State = jobs.State{
		Status: jobs.JobStatus(text(StatusKey)), Message: text(MessageKey), LastRunID: text(LastRunIDKey),
		ScheduledSince: moment(properties[ScheduledSinceKey]), LastRun: moment(properties[LastRunKey]),
		NextRun: moment(properties[NextRunKey]),
	}
	return f
}

// fieldOf returns a value of one of the types that a field has; another as its text.
func fieldOf(v any) any {
	switch x := v.(type) {
	case bool, int64, float64, string:
		return v
	case int:
		return int64(x)
	case time.Time:
		return x.UTC()
	case []any:
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = fieldOf(e)
		}
		return list
	}
	return fmt.Sprint(v)
}

// StateOf returns the properties of a state; nil where there is nothing to show.
func StateOf(s jobs.State) map[string]any {
	return map[string]any{
		StatusKey: optional(string(s.Status)), MessageKey: optional(s.Message), LastRunIDKey: optional(s.LastRunID),
		ScheduledSinceKey: Moment(s.ScheduledSince), LastRunKey: Moment(s.LastRun), NextRunKey: Moment(s.NextRun),
	}
}

func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Moment returns a time as a value that a store holds; nil where it is zero.
func Moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// SortFiled sorts records by name, and those of one name by id.
func SortFiled(board []jobs.Filed) []jobs.Filed {
	slices.SortFunc(board, func(a, b jobs.Filed) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return board
}
