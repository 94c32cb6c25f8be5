// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// answerKAT holds coins and keyed answers of an independent program, verify_kat.py.
type answerKAT struct {
	Coins []struct {
		Epsilon float64
		Words   []string
		Flip    bool
	}
	Keyed []struct {
		Epsilon         float64
		Rumour          string
		Round           int
		Person, Release string
		Truth, Flip     bool
		Nonce           string
		Stream          string `json:"stream_first_32_bytes"`
	}
}

func known(t *testing.T) (k answerKAT) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("../testdata/answer_kat.json"))(t), &k))
	if len(k.Coins) != 119 || len(k.Keyed) != 40 {
		t.Fatalf("%d coins and %d answers, want 119 and 40", len(k.Coins), len(k.Keyed))
	}
	return k
}

// TestKnownCoins holds random words and words that leave f's own bits only at the end, up to the
// 25th; each coin reads the words that decide it and no more.
func TestKnownCoins(t *testing.T) {
	for i, c := range known(t).Coins {
		read := 0
		got, err := newCoin(must.Get(privacy.PureCost(c.Epsilon))(t)).flip(func() uint64 {
			if read == len(c.Words) {
				t.Fatalf("coin %d reads more than %d words", i, read)
			}
			read++
			return must.Get(strconv.ParseUint(c.Words[read-1], 16, 64))(t)
		})
		if err != nil || got != c.Flip || read != len(c.Words) {
			t.Errorf("coin %d at ε = %v: %v after %d words (%v), want %v after %d", i, c.Epsilon, got, read, err, c.Flip, len(c.Words))
		}
	}
}

// TestStuckCoin: a source that gives f's own bits for ever is found out.
func TestStuckCoin(t *testing.T) {
	f, n := flipChance(1<<40, maxBits+64), uint(maxBits+64)
	_, err := newCoin(1 << 40).flip(func() uint64 {
		n -= 64
		return new(big.Int).Rsh(f, n).Uint64()
	})
	if err == nil {
		t.Error("8192 bits of f decide a coin")
	}
}

// TestKnownAnswersOfKeys follows each answer from the master secret.
func TestKnownAnswersOfKeys(t *testing.T) {
	master := make([]byte, privacy.KeySize)
	for i := range master {
		master[i] = byte(i)
	}
	escrow := must.Get(privacy.NewEscrow(master, "kat", 1))(t)
	for i, v := range known(t).Keyed {
		q := Question{v.Rumour, v.Round, v.Epsilon, privacy.EscrowRandomness}
		key := must.Get(escrow.SensorKey(v.Person))(t)
		a := must.Get(q.keyed(newCoin(q.cost()), key, v.Release, v.Truth))(t)
		next := must.Get(key.Bits(v.Release, q.calibration(), *a.Nonce))(t)
		stream := fmt.Sprintf("%016x%016x%016x%016x", next(), next(), next(), next())
		if hex.EncodeToString(a.Nonce[:]) != v.Nonce || stream != v.Stream || a.Yes != (v.Truth != v.Flip) {
			t.Errorf("answer %d: nonce %x, bits %s, yes %v; want %s, %s, %v", i,
				*a.Nonce, stream, a.Yes, v.Nonce, v.Stream, v.Truth != v.Flip)
		}
	}
}

// TestFlipChance: f is within its bound at every precision, and its double is the nearest.
func TestFlipChance(t *testing.T) {
	for _, eps := range []float64{privacy.MinEpsilon, 0.3, 1, math.Nextafter(1, 2), 7.5, 40, 300, privacy.MaxEpsilon} {
		cost := must.Get(privacy.PureCost(eps))(t)
		fine := flipChance(cost, 4000)
		for _, bits := range []uint{64, 128, 191, 1600} {
			coarse := new(big.Int).Lsh(flipChance(cost, bits), 4000-bits)
			if off := coarse.Sub(coarse, fine); off.CmpAbs(new(big.Int).Lsh(big.NewInt(1), 4000-bits)) > 0 {
				t.Errorf("ε = %v: f to %d bits is off by more than one unit", eps, bits)
			}
		}
		if want, got := 1/(1+math.Exp(cost.PureEpsilon())), (Question{Epsilon: eps}).Flip(); math.Abs(got-want) > 1e-13*want {
			t.Errorf("ε = %v: f = %v, want about %v", eps, got, want)
		}
	}
}
