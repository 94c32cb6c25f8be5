// SPDX-License-Identifier: Apache-2.0

package report

import "strings"

// EachSensor reports whether the guarantee is of the value of any single sensor, and not of all
// values together.
func (r *Report) EachSensor() bool {
	if r.Promise != nil {
		return r.Promise.PerSensor()
	}
	return strings.Contains(r.Guarantee, "the published value of any single sensor")
}

// Conditional reports whether the guarantee holds on a condition on the process that sensors
// measure.
func (r *Report) Conditional() bool {
	if r.Promise != nil {
		return r.Promise.Condition != ""
	}
	return strings.Contains(r.Guarantee, "On which condition: ")
}

// Qualification says in short what a guarantee does not promise that ε and δ alone seem to; "":
// they say all. A report without a promise has only its sentence to tell it from.
func (r *Report) Qualification() string {
	if r.Promise != nil {
		return r.Promise.Qualified()
	}
	var parts []string
	if r.EachSensor() {
		parts = append(parts, "for each sensor's value by itself, and of all values together ε is larger")
	}
	if r.Conditional() {
		parts = append(parts, "where the process is as the guarantee in words supposes, else ε can be much larger")
	}
	return strings.Join(parts, "; ")
}
