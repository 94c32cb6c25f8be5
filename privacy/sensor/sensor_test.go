// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

func plan(t testing.TB, change func(*privacy.Spec)) *privacy.Plan {
	t.Helper()
	s := privacy.Spec{
		Public: privacy.Public{
			GraphDigest: privacy.Digest{7}, NodeCount: 3, RelationshipCount: 2, ComponentCount: 1,
			Tau: 1, Laplacian: "combinatorial", Metric: "hops", Alpha: 1,
		},
		Budget:      privacy.Budget{Epsilon: 1, Delta: 1e-5},
		Sensors:     []privacy.Sensor{{Node: 0, ID: "a"}, {Node: 1, ID: "b/../c"}, {Node: 2, ID: "d"}},
		Sensitivity: privacy.Sensitivity{Lower: 0.2, Upper: 0.25, Edge: [2]graph.ID{"a", "d"}},
	}
	if change != nil {
		change(&s)
	}
	return must.Get(privacy.NewPlan(s))(t)
}

func packages(t testing.TB, p *privacy.Plan, opts sensor.Options) []sensor.Package {
	t.Helper()
	return must.Get(sensor.Packages(p, opts))(t)
}

func cloak(p sensor.Package, in string, opts sensor.CloakOptions) (string, error) {
	var out bytes.Buffer
	err := sensor.Cloak(context.Background(), p, strings.NewReader(in), &out, opts)
	return out.String(), err
}

// TestCloakToRelease sends three sensors' readings through files, cloak and
// FromSensors, under both kinds of randomness.
func TestCloakToRelease(t *testing.T) {
	master := bytes.Repeat([]byte{9}, privacy.KeySize)
	escrow := must.Get(privacy.NewEscrow(master, "hall", 3))(t)
	for _, randomness := range []privacy.Randomness{privacy.SystemRandomness, privacy.EscrowRandomness} {
		p := plan(t, func(s *privacy.Spec) { s.Randomness = randomness })
		opts := sensor.Options{Releases: 2}
		if randomness == privacy.EscrowRandomness {
			opts.Deployment, opts.Epoch = "hall", 3
		}
		paths := must.Get(sensor.WriteDir(filepath.Join(t.TempDir(), "packages"), packages(t, p, opts)))(t)
		var values []privacy.SensorValue
		for i, path := range paths {
			pk := must.Get(sensor.ReadFile(path))(t)
			var co sensor.CloakOptions
			co.StateDir = filepath.Join(t.TempDir(), "state")
			if randomness == privacy.EscrowRandomness {
				co.Key = must.Get(escrow.SensorKey(string(pk.Sensor.ID)))(t)
			}
			line := must.Get(cloak(pk, fmt.Sprintf(`{"releaseId":"17","reading":%v}`, 0.25*float64(i)), co))(t)
			var v privacy.SensorValue
			must.Do(t, json.Unmarshal([]byte(line), &v))
			values = append([]privacy.SensorValue{v}, values...) // any order will do
		}
		r := must.Get(p.FromSensors(values))(t)
		if err := privacy.Verify(r, p); err != nil {
			t.Error(err)
		}
		if randomness == privacy.EscrowRandomness {
			y := must.Get(escrow.Reveal(r))(t)
			for i := range y {
				if math.Abs(y[i]-0.25*float64(i)) > p.Sensors[i].Step() {
					t.Errorf("sensor %d: revealed %v, want %v", i, y[i], 0.25*float64(i))
				}
			}
		}
		testFromSensorsRefuses(t, p, values)
	}
}

func testFromSensorsRefuses(t *testing.T, p *privacy.Plan, values []privacy.SensorValue) {
	for name, change := range map[string]func([]privacy.SensorValue) []privacy.SensorValue{
		"off the lattice": func(v []privacy.SensorValue) []privacy.SensorValue { v[0].Value += 1e-12; return v },
		"other lattice":   func(v []privacy.SensorValue) []privacy.SensorValue { v[0].Exponent++; v[0].Value *= 2; return v },
		"twice":           func(v []privacy.SensorValue) []privacy.SensorValue { v[1] = v[0]; return v },
		"missing":         func(v []privacy.SensorValue) []privacy.SensorValue { return v[1:] },
		"none":            func(v []privacy.SensorValue) []privacy.SensorValue { return nil },
		"other plan":      func(v []privacy.SensorValue) []privacy.SensorValue { v[2].Plan[0]++; return v },
		"other release":   func(v []privacy.SensorValue) []privacy.SensorValue { v[2].ReleaseID = "18"; return v },
		"stranger":        func(v []privacy.SensorValue) []privacy.SensorValue { v[2].ID = "z"; return v },
		"other schema":    func(v []privacy.SensorValue) []privacy.SensorValue { v[0].SchemaVersion = 2; return v },
	} {
		if _, err := p.FromSensors(change(append([]privacy.SensorValue(nil), values...))); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCloakCounter(t *testing.T) {
	pk := packages(t, plan(t, nil), sensor.Options{Releases: 3})[0]
	opts := sensor.CloakOptions{StateDir: t.TempDir()}
	step := func(id string, want error) {
		t.Helper()
		out, err := cloak(pk, fmt.Sprintf(`{"releaseId":%q,"reading":0.5}`, id), opts)
		if !errors.Is(err, want) || (err == nil) != (out != "") {
			t.Errorf("release %s: %q, %v; want %v", id, out, err, want)
		}
	}
	step("9", nil)
	step("9", privacy.ErrReplay)
	step("10", nil) // shortlex: numbers count upwards
	step("2", privacy.ErrReplay)
	step("11", nil)
	step("12", privacy.ErrExhausted)
}

// TestCloakSpendsBeforeOutput: a value that could not be written stays spent.
func TestCloakSpendsBeforeOutput(t *testing.T) {
	pk := packages(t, plan(t, nil), sensor.Options{Releases: 3})[0]
	opts := sensor.CloakOptions{StateDir: t.TempDir()}
	in := `{"releaseId":"1","reading":0.5}`
	full := errors.New("disk full")
	if err := sensor.Cloak(context.Background(), pk, strings.NewReader(in), failingWriter{full}, opts); !errors.Is(err, full) {
		t.Fatalf("err = %v, want %v", err, full)
	}
	if out, err := cloak(pk, in, opts); !errors.Is(err, privacy.ErrReplay) || out != "" {
		t.Errorf("the lost release was made again: %q, %v", out, err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestCloakRefusesReadings(t *testing.T) {
	const secret = "0.7361"
	pk := packages(t, plan(t, nil), sensor.Options{})[0]
	for name, in := range map[string]string{
		"NaN":      `{"releaseId":"1","reading":NaN}`,
		"overflow": `{"releaseId":"1","reading":7361e999}`,
		"two":      `{"releaseId":"1","reading":` + secret + `}{}`,
		"cut":      `{"releaseId":"1","reading":` + secret,
		"empty id": `{"releaseId":"","reading":` + secret + `}`,
		"NUL":      `{"releaseId":"a\u0000b","reading":` + secret + `}`,
		"long id":  `{"releaseId":"` + strings.Repeat("x", 2000) + `","reading":` + secret + `}`,
		"1 MB id":  `{"releaseId":"` + strings.Repeat("x", 1<<20) + `","reading":` + secret + `}`,
	} {
		opts := sensor.CloakOptions{StateDir: t.TempDir()}
		out, err := cloak(pk, in, opts)
		if err == nil || out != "" {
			t.Errorf("%s: wrote %q, %v", name, out, err)
			continue
		}
		if strings.Contains(err.Error(), "7361") {
			t.Errorf("%s: the error holds the reading: %v", name, err)
		}
		if _, err := cloak(pk, `{"releaseId":"1","reading":1e308}`, opts); err != nil {
			t.Errorf("%s: something was spent, or a large reading is not clipped: %v", name, err)
		}
	}
}

// TestMisreadLinesAreExplained: what is wrong is said of the keys that are wanted, and nothing
// of the line is repeated.
func TestMisreadLinesAreExplained(t *testing.T) {
	pk := packages(t, plan(t, nil), sensor.Options{})[0]
	for in, want := range map[string]string{
		`{"releaseId":"1"}`:                        `the key "reading" is missing`,
		`{"releaseId":"1","raeding":0.7361}`:       `the key "reading" is missing, and there is one that is neither "releaseId" nor "reading" (case counts)`,
		`{"ReleaseId":"1","reading":0.7361}`:       `the key "releaseId" is missing, and there is one that is neither "releaseId" nor "reading" (case counts)`,
		`{"releaseId":"1","reading":1,"0.7361":1}`: `there is a key that is neither "releaseId" nor "reading"`,
		`{"releaseId":7361,"reading":0.5}`:         `"releaseId" is not a text in quotation marks`,
		`{"releaseId":"1","reading":"0.7361"}`:     `"reading" is not a number`,
		`{"releaseId":"1","reading":null}`:         `"reading" is not a number`,
		`{"reading":1,"reading":0.7361}`:           `it is not one JSON object in which each key stands once`,
		`0.7361`:                                   `it is not one JSON object in which each key stands once`,
	} {
		out, err := cloak(pk, in, sensor.CloakOptions{StateDir: t.TempDir()})
		full := "sensor: line 1: " + sensor.ErrReading.Error() + ": " + want
		if !errors.Is(err, sensor.ErrReading) || err.Error() != full || out != "" {
			t.Errorf("%s: %v, want %s", in, err, full)
		}
	}
}

func TestCloakRefusesPackages(t *testing.T) {
	dir := t.TempDir()
	good := packages(t, plan(t, nil), sensor.Options{Releases: 5})
	opts := sensor.CloakOptions{StateDir: dir}
	must.Get(cloak(good[0], `{"releaseId":"1","reading":0}`, opts))(t)
	elsewhere := packages(t, plan(t, func(s *privacy.Spec) { s.GraphDigest[0]++ }), sensor.Options{Releases: 5})[0]
	noLimit := packages(t, plan(t, nil), sensor.Options{})[0]
	change := func(f func(*sensor.Package)) sensor.Package { p := good[0]; f(&p); return p }
	for name, p := range map[string]sensor.Package{
		"lower σ":        change(func(p *sensor.Package) { p.Sensor.Steps /= 2; p.SigmaMin = p.Sensor.Sigma() }),
		"another graph":  elsewhere,
		"another sensor": good[1],
		"no limit":       noLimit,
		"higher limit":   change(func(p *sensor.Package) { p.Limit++ }),
		"σ below σ_min":  change(func(p *sensor.Package) { p.Sensor.Steps /= 2 }),
		"fine lattice":   change(func(p *sensor.Package) { p.Sensor.Exponent = -80; p.SigmaMin = 1e-30 }),
		"no steps":       change(func(p *sensor.Package) { p.Sensor.Steps = 0 }),
		"free":           change(func(p *sensor.Package) { p.Cost = 0 }),
		"coarse lattice": change(func(p *sensor.Package) { p.Sensor.Exponent, p.Sensor.Steps = 0, 100 }),
		"another clip":   change(func(p *sensor.Package) { p.Clip.Hi = 2 }),
		"schema":         change(func(p *sensor.Package) { p.SchemaVersion = 99 }),
		"clip":           change(func(p *sensor.Package) { p.Clip.Hi = math.Inf(1) }),
		"escrow":         change(func(p *sensor.Package) { p.Randomness = privacy.EscrowRandomness }),
	} {
		if out, err := cloak(p, `{"releaseId":"2","reading":0}`, opts); err == nil || out != "" {
			t.Errorf("%s: wrote %q", name, out)
		}
	}
	// A package that states a lower cost is charged what the first one cost: of five
	// releases one is made, and four are left.
	cheap := change(func(p *sensor.Package) { p.Cost = 1 })
	more := `{"releaseId":"a","reading":0}` + "\n" + `{"releaseId":"b","reading":0}` + "\n" + `{"releaseId":"c","reading":0}` + "\n" +
		`{"releaseId":"d","reading":0}` + "\n" + `{"releaseId":"e","reading":0}` + "\n"
	cheapDir := t.TempDir()
	must.Get(cloak(good[0], `{"releaseId":"1","reading":0}`, sensor.CloakOptions{StateDir: cheapDir}))(t)
	out, err := cloak(cheap, more, sensor.CloakOptions{StateDir: cheapDir})
	if !errors.Is(err, privacy.ErrExhausted) || strings.Count(out, "\n") != 4 {
		t.Errorf("a cheaper package gives %d more releases (%v), want 4 and ErrExhausted", strings.Count(out, "\n"), err)
	}
	if _, err := cloak(good[0], "", sensor.CloakOptions{StateDir: dir, SigmaMin: 1e3}); err == nil {
		t.Error("a package below the owner's minimum was used")
	}
	if _, err := cloak(good[0], `{"releaseId":"2","reading":0}`, opts); err != nil {
		t.Errorf("the good package is refused after all: %v", err)
	}
}

// TestLaterPackagesLowerNothing: a package that passes may state less than the first; the one after it
// is held to the first all the same, and to the lowest limit.
func TestLaterPackagesLowerNothing(t *testing.T) {
	good := packages(t, plan(t, nil), sensor.Options{Releases: 5})[0]
	change := func(f func(*sensor.Package)) sensor.Package { p := good; f(&p); return p }
	for name, later := range map[string][2]sensor.Package{
		"σ": {
			change(func(p *sensor.Package) { p.SigmaMin /= 4 }),
			change(func(p *sensor.Package) { p.SigmaMin /= 4; p.Sensor.Steps = p.Sensor.Steps * 3 / 4 }),
		},
		"lattice": {
			change(func(p *sensor.Package) { p.Sensor.Exponent++; p.Sensor.Steps = p.Sensor.Steps/2 + 1 }),
			change(func(p *sensor.Package) { p.Sensor.Exponent += 2; p.Sensor.Steps = p.Sensor.Steps/4 + 1 }),
		},
		"limit": {
			change(func(p *sensor.Package) { p.Limit = 3 * p.Cost }),
			good,
		},
	} {
		opts := sensor.CloakOptions{StateDir: t.TempDir()}
		for k, p := range []sensor.Package{good, later[0], later[1]} {
			out, err := cloak(p, fmt.Sprintf(`{"releaseId":"%d","reading":0}`, k), opts)
			if k < 2 && err != nil || k == 2 && (err == nil || out != "") {
				t.Errorf("%s, package %d: wrote %q, %v", name, k+1, out, err)
			}
		}
	}
}

// TestCloakOneProcess: a second process on one state is refused, and so is a
// damaged state.
func TestCloakOneProcess(t *testing.T) {
	pk := packages(t, plan(t, nil), sensor.Options{})[0]
	opts := sensor.CloakOptions{StateDir: t.TempDir()}
	r, w := io.Pipe()
	started, done := make(chan struct{}), make(chan error)
	go func() {
		done <- sensor.Cloak(context.Background(), pk, r,
			writerFunc(func(b []byte) (int, error) { close(started); return len(b), nil }), opts)
	}()
	must.Get(io.WriteString(w, "{\"releaseId\":\"1\",\"reading\":0}\n"))(t)
	<-started
	if _, err := cloak(pk, "", opts); err == nil {
		t.Error("two processes share a state")
	}
	w.Close()
	must.Do(t, <-done)
	must.Do(t, os.WriteFile(filepath.Join(opts.StateDir, "state.db"), []byte("garbage"), 0o600))
	if _, err := cloak(pk, `{"releaseId":"2","reading":0}`, opts); err == nil {
		t.Error("a damaged state was used")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	must.Do(t, sensor.CreateKeyFile(path))
	if key, err := sensor.ReadKeyFile(path); err != nil || len(key) != privacy.KeySize {
		t.Fatalf("%d bytes, %v", len(key), err)
	}
	if err := sensor.CreateKeyFile(path); err == nil {
		t.Error("a master secret was overwritten")
	}
	must.Do(t, os.Chmod(path, 0o644))
	if _, err := sensor.ReadKeyFile(path); err == nil {
		t.Error("a world-readable key was read")
	}
	for _, size := range []int{0, 31, 33, 64} {
		short := filepath.Join(t.TempDir(), "key")
		must.Do(t, os.WriteFile(short, make([]byte, size), 0o600))
		if _, err := sensor.ReadKeyFile(short); err == nil {
			t.Errorf("a key of %d bytes was read", size)
		}
	}
}

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
