// SPDX-License-Identifier: Apache-2.0

// Package sensor is the sensor's side of a release: raw readings go in, private
// ones come out, and nothing else leaves.
//
// [Packages] splits a plan into one [Package] per sensor. [Cloak] reads readings as
// NDJSON and writes what privacy.Plan.FromSensors takes, with a durable counter
// and budget of its own: the sensor does not trust its coordinator.
package sensor
