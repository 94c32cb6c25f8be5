// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
)

// Noise is a source of noise: [System], or an [*Escrow].
type Noise interface {
	// perturb returns X = round(y/g) + N of every sensor, and the nonces where the
	// noise can be computed again.
	perturb(p *Plan, releaseID string, readings []int64) (x []int64, nonces []Nonce, err error)
	randomness() Randomness
}

// System draws noise from the operating system. Nobody can compute it again.
type System struct{}

func (System) randomness() Randomness { return SystemRandomness }

// perturb draws all noise before it looks at a reading.
func (System) perturb(p *Plan, _ string, readings []int64) ([]int64, []Nonce, error) {
	src := &systemWords{}
	defer src.wipe()
	x := make([]int64, len(p.Sensors))
	for i, s := range p.Sensors {
		n, err := sample(src, s.Steps)
		if err != nil {
			return nil, nil, err
		}
		x[i] = n
	}
	for i, y := range readings {
		x[i] += y
	}
	return x, nil, nil
}

// systemWords reads the system's generator in pages.
type systemWords struct {
	buf  [4096]byte
	left int
}

func (s *systemWords) next() uint64 {
	if s.left == 0 {
		rand.Read(s.buf[:]) // never fails: the program is ended instead
		s.left = len(s.buf)
	}
	u := binary.BigEndian.Uint64(s.buf[len(s.buf)-s.left:])
	s.left -= 8
	return u
}

func (s *systemWords) wipe() { clear(s.buf[:]) }

// NewAttempt returns a token for [Charge]: 128 random bits in hexadecimal. It lets a
// client repeat a call whose answer was lost. Who keeps it longer than the draw of the noise,
// as a job does, makes sure that at most one X is published (docs/proofs/ledger.md).
func NewAttempt() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
