// SPDX-License-Identifier: Apache-2.0

package jobs

import "strings"

// warnedMark begins what a message tells of the warnings before a spend.
const warnedMark = "Warned before it spent: "

// WithWarnings adds the warnings that a run gave before it spent to what is told of its end.
func WithWarnings(message string, warnings []string) string {
	if len(warnings) == 0 {
		return message
	}
	return strings.TrimSpace(message + " " + warnedMark + strings.Join(warnings, "; ") + ".")
}

// Told parts the message of a run into what is told of its end and its warnings before it spent, "" without any.
func (r Run) Told() (end, warnings string) {
	end, warnings, _ = strings.Cut(r.Message, warnedMark)
	return strings.TrimSpace(end), warnings
}

// Warnings are those before the spend, "" without any.
func (r Run) Warnings() string {
	_, warnings := r.Told()
	return warnings
}
