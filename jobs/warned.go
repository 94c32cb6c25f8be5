// SPDX-License-Identifier: Apache-2.0

package jobs

import "strings"

// warnedMark begins the warnings before a spend in a message.
const warnedMark = "Warned before it spent: "

// WithWarnings adds the warnings that a run gave before it spent to the message of its end.
func WithWarnings(message string, warnings []string) string {
	if len(warnings) == 0 {
		return message
	}
	return strings.TrimSpace(message + " " + warnedMark + strings.Join(warnings, "; ") + ".")
}

// Warnings are those before the spend, "" without any.
func (r Run) Warnings() string {
	_, warnings, _ := strings.Cut(r.Message, warnedMark)
	return warnings
}
