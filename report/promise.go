// SPDX-License-Identifier: Apache-2.0

package report

// EachSensor reports whether the guarantee is known to be of the value of any single sensor, and
// not of all values together.
func (r *Report) EachSensor() bool { return r.Promise != nil && r.Promise.PerSensor() }

// Conditional reports whether the guarantee holds on a condition on the process that sensors
// measure, or may, for all that the report says.
func (r *Report) Conditional() bool {
	return r.saysNot() || r.Promise != nil && r.Promise.Condition != ""
}

// saysNot reports whether there is a guarantee of which the report does not say what it is of, as
// one that was made before [privacy.Promise] was a part of it.
func (r *Report) saysNot() bool { return r.Promise == nil && r.Guarantee != "" }

// Qualification says in short what a guarantee does not promise that ε and δ alone seem to; "":
// they say all.
func (r *Report) Qualification() string {
	switch {
	case r.saysNot():
		return "of what the guarantee in words says, which may be of each sensor's value alone, or hold on a condition: an earlier " +
			"version wrote this report"
	case r.Promise != nil:
		return r.Promise.Qualified()
	}
	return ""
}
