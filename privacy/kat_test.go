// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

type kat struct {
	Root            string `json:"root"`
	CalibrationText string `json:"calibration_text"`
	CalibrationHash string `json:"calibration_sha256"`
	Vectors         []struct {
		Sensor    string `json:"sensor"`
		Release   string `json:"release"`
		S         int64  `json:"S"`
		Reading   int64  `json:"grid_value"`
		SensorKey string `json:"sensor_key"`
		Nonce     string `json:"nonce"`
		NoiseKey  string `json:"noise_key"`
		Stream    string `json:"stream_first_32_bytes"`
		Noise     int64  `json:"noise_rounded_gaussian"`
		Released  int64  `json:"released_grid_value"`
	} `json:"vectors"`
	Edges []struct {
		Words []string `json:"u_words_hex"`
		S, N  int64
	} `json:"edges"`
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/" + name))(t)
	must.Do(t, json.Unmarshal(data, v))
}

func masterKey() []byte {
	master := make([]byte, KeySize)
	for i := range master {
		master[i] = byte(i)
	}
	return master
}

// TestKnownAnswers follows each vector from the master secret to the released
// integer.
func TestKnownAnswers(t *testing.T) {
	var k kat
	readJSON(t, "noise_kat.json", &k)
	if len(k.Vectors) != 30 || len(k.Edges) != 28 {
		t.Fatalf("%d vectors and %d edges, want 30 and 28", len(k.Vectors), len(k.Edges))
	}
	escrow := must.Get(NewEscrow(masterKey(), "kat", 1))(t)
	if got := hex.EncodeToString(escrow.root()); got != k.Root {
		t.Fatalf("root = %s, want %s", got, k.Root)
	}
	calibration := Digest(sha256.Sum256([]byte(k.CalibrationText)))
	text := SensorNoise{Exponent: -36, Steps: 12345678901}
	if calibration.String() != k.CalibrationHash || text.calibration() != calibration {
		t.Fatalf("calibration text: %s and %s, want %s", calibration, text.calibration(), k.CalibrationHash)
	}
	for i, v := range k.Vectors {
		key := must.Get(escrow.SensorKey(v.Sensor))(t)
		noise, nonce, err := key.newMAC().noise(v.Release, calibration, v.Reading, v.S)
		must.Do(t, err)
		noiseKey := must.Get(expand(key.key(), lp([]byte("graphcloak/v1/noise"), []byte(v.Release), calibration[:], nonce[:])))(t)
		stream := must.Get(newKeyStream(noiseKey))(t)
		var first []byte
		for range 4 {
			first = append(first, be64(int64(stream.next()))...)
		}
		for _, c := range []struct{ what, got, want string }{
			{"sensor key", hex.EncodeToString(key.key()), v.SensorKey},
			{"nonce", hex.EncodeToString(nonce[:]), v.Nonce},
			{"noise key", hex.EncodeToString(noiseKey), v.NoiseKey},
			{"stream", hex.EncodeToString(first), v.Stream},
			{"noise", strconv.FormatInt(noise, 10), strconv.FormatInt(v.Noise, 10)},
			{"released", strconv.FormatInt(v.Reading+noise, 10), strconv.FormatInt(v.Released, 10)},
		} {
			if c.got != c.want {
				t.Errorf("vector %d: %s = %s, want %s", i, c.what, c.got, c.want)
			}
		}
	}
}

// fixedWords replays words, then fails the test.
type fixedWords struct {
	t     testing.TB
	words []uint64
}

func (f *fixedWords) next() uint64 {
	if len(f.words) == 0 {
		f.t.Fatal("more words were read than decide the sample")
	}
	u := f.words[0]
	f.words = f.words[1:]
	return u
}

// TestKnownEdges holds streams near boundaries and in the far tails.
func TestKnownEdges(t *testing.T) {
	var k kat
	readJSON(t, "noise_kat.json", &k)
	for i, e := range k.Edges {
		src := &fixedWords{t: t}
		for _, w := range e.Words {
			u := must.Get(strconv.ParseUint(w, 16, 64))(t)
			src.words = append(src.words, u)
		}
		for _, f := range []struct {
			name   string
			sample func() (int64, error)
		}{
			{"exact", func() (int64, error) {
				s := &fixedWords{t: t, words: cloneWords(src.words)}
				return sampleExact(s.next(), s, e.S)
			}},
			{"fast", func() (int64, error) {
				return sample(&fixedWords{t: t, words: cloneWords(src.words)}, e.S)
			}},
		} {
			if got, err := f.sample(); err != nil || got != e.N {
				t.Errorf("edge %d, %s path: N = %d (%v), want %d", i, f.name, got, err, e.N)
			}
		}
	}
}

func cloneWords(w []uint64) []uint64 { return append([]uint64(nil), w...) }

// sprint formats v in every way that a log or an error might.
func sprint(v any) string { return fmt.Sprintf("%v %+v %#v %s %x %d %q", v, v, v, v, v, v, v) }

// containsKey looks for the first bytes of a key as hexadecimal or decimals.
func containsKey(s string, key []byte) bool {
	return strings.Contains(s, hex.EncodeToString(key[:4])) ||
		strings.Contains(s, fmt.Sprintf("%d %d %d", key[0], key[1], key[2])) ||
		strings.Contains(s, string(key[:4]))
}
