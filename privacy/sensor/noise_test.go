// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// TestCloakAddsTheNoiseOfItsPackage: from one state of the system's generator, what
// [sensor.Cloak] publishes is what [privacy.SensorNoise.Perturb] makes of the
// package's σ, release by release, whose distribution package privacy tests.
func TestCloakAddsTheNoiseOfItsPackage(t *testing.T) {
	const releases = 20
	for i, pk := range packages(t, plan(t, nil), sensor.Options{}) {
		var in strings.Builder
		for k := range releases {
			fmt.Fprintf(&in, "{\"releaseId\":\"%d\",\"reading\":%v}\n", 100+k, float64(k)/releases)
		}
		cryptotest.SetGlobalRandom(t, 61)
		out := must.Get(cloak(pk, in.String(), sensor.CloakOptions{StateDir: t.TempDir()}))(t)
		cryptotest.SetGlobalRandom(t, 61)
		dec := json.NewDecoder(strings.NewReader(out))
		for k := range releases {
			var got privacy.SensorValue
			must.Do(t, dec.Decode(&got))
			want := must.Get(pk.Sensor.Perturb(float64(k)/releases, pk.Clip, fmt.Sprint(100+k), nil))(t)
			if got.Steps != want.Steps || got.Exponent != want.Exponent || got.Value != want.Value {
				t.Errorf("sensor %d, release %d: %d steps, want %d", i, k, got.Steps, want.Steps)
			}
		}
	}
}

// TestCloakClips: from one state of the generator, a reading beyond the public range is released as
// the end of it.
func TestCloakClips(t *testing.T) {
	pk := packages(t, plan(t, nil), sensor.Options{})[0]
	release := func(reading string) string {
		cryptotest.SetGlobalRandom(t, 61)
		return must.Get(cloak(pk, `{"releaseId":"1","reading":`+reading+`}`, sensor.CloakOptions{StateDir: t.TempDir()}))(t)
	}
	for end, beyond := range map[string][]string{"0": {"-1e-9", "-7", "-1e308"}, "1": {"1.001", "7", "1e308"}} {
		for _, reading := range beyond {
			if got, want := release(reading), release(end); got != want {
				t.Errorf("a reading of %s is released as %s, want that of %s, %s", reading, got, end, want)
			}
		}
	}
	if release("0") == release("1") {
		t.Error("all readings are released alike: nothing was tested")
	}
}

// TestCloakDrawsAfterTheSpend: a release that the sensor refuses reads no word of the
// generator, so the noise is not drawn before it is paid for.
func TestCloakDrawsAfterTheSpend(t *testing.T) {
	pk := packages(t, plan(t, nil), sensor.Options{Releases: 1})[0]
	opts := sensor.CloakOptions{StateDir: t.TempDir()}
	in := `{"releaseId":"1","reading":0.5}`
	must.Get(cloak(pk, in, opts))(t)
	var want, got [16]byte
	for _, c := range []struct {
		in   string
		want error
	}{{in, privacy.ErrReplay}, {`{"releaseId":"2","reading":0.5}`, privacy.ErrExhausted}} {
		cryptotest.SetGlobalRandom(t, 67)
		rand.Read(want[:])
		cryptotest.SetGlobalRandom(t, 67)
		if out, err := cloak(pk, c.in, opts); !errors.Is(err, c.want) || out != "" {
			t.Fatalf("%q, %v; want %v", out, err, c.want)
		}
		if rand.Read(got[:]); !bytes.Equal(got[:], want[:]) {
			t.Errorf("%v: noise was drawn before the release was paid for", c.want)
		}
	}
}
