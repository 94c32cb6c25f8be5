// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// FuzzPackage: whatever a package holds, it is refused with an error, or it says what
// was read and makes noise without a panic.
func FuzzPackage(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := sensor.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if err := strictjson.Compare(data, again, ""); err != nil {
			t.Fatalf("what was read says something else: %v", err)
		}
		if p.Randomness == privacy.SystemRandomness {
			if _, err := p.Sensor.Perturb(.5, p.Clip, "1", nil); err != nil {
				t.Fatalf("a package that was taken makes no value: %v", err)
			}
		}
	})
}
