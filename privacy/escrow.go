// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	hashes "hash"
	"slices"

	"golang.org/x/crypto/chacha20"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Nonce is the synthetic nonce of one sensor's escrowed noise, published with X.
type Nonce [16]byte

// MarshalText writes hexadecimal.
func (n Nonce) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(n[:])), nil }

// UnmarshalText reads 32 hexadecimal digits.
func (n *Nonce) UnmarshalText(text []byte) error { return unhex(n[:], text, "nonce") }

// Escrow derives noise from a master secret, so that its holder can remove it.
//
//	root   = HKDF-Extract(SHA-256, salt "graphcloak/v1/root", master)
//	sensor = HKDF-Expand(root, LP("graphcloak/v1/sensor", deployment, epoch, sensor id))
//	nonce  = HMAC-SHA-256(sensor, LP("graphcloak/v1/siv", release id, c, round(y/g)))[:16]
//	noise  = HKDF-Expand(sensor, LP("graphcloak/v1/noise", release id, c, nonce))
//
// with c the SHA-256 of the sensor's calibration text, and U the ChaCha20 key
// stream of noise. The noise depends on the reading, so the promise is
// computational: it rests on HMAC-SHA-256 and ChaCha20. Equal nonces reveal equal
// readings: a release id is used once a deployment, whatever the budget's scope.
//
// An Escrow prints as nothing but its deployment and epoch.
type Escrow struct {
	root       secret
	deployment string
	epoch      uint32
}

// secret returns a key. It is a function because no verb of fmt looks into one.
type secret func() []byte

func newSecret(key []byte) secret { return func() []byte { return key } }

// drawWork is the work of drawing the noise of one sensor from its key, in values: some
// microseconds.
const drawWork = 1 << 8

// KeySize is the size of a master secret in bytes.
const KeySize = 32

// NewEscrow returns the escrow of one epoch. Destroying the master secret of an
// epoch makes its releases private for good.
func NewEscrow(master []byte, deployment string, epoch uint32) (*Escrow, error) {
	if len(master) != KeySize {
		return nil, fmt.Errorf("privacy: the master secret has %d bytes, want %d", len(master), KeySize)
	}
	if subtle.ConstantTimeCompare(master, make([]byte, KeySize)) == 1 {
		return nil, errors.New("privacy: the master secret is all zeros")
	}
	if err := CheckID("deployment", deployment); err != nil {
		return nil, err
	}
	root, err := hkdf.Extract(sha256.New, master, []byte("graphcloak/v1/root"))
	if err != nil {
		return nil, fmt.Errorf("privacy: derive root key: %w", err)
	}
	return &Escrow{root: newSecret(root), deployment: deployment, epoch: epoch}, nil
}

// Deployment returns the name that separates the keys of one installation from
// another's.
func (e *Escrow) Deployment() string { return e.deployment }

// Epoch returns the number of the master secret in the order of rotation.
func (e *Escrow) Epoch() uint32 { return e.epoch }

func (e *Escrow) String() string { return fmt.Sprintf("escrow of %q, epoch %d", e.deployment, e.epoch) }

// GoString keeps %#v from printing the key.
func (e *Escrow) GoString() string { return e.String() }

func (e *Escrow) randomness() Randomness { return EscrowRandomness }

// SensorKey returns the key of one sensor, which is all that the sensor holds.
func (e *Escrow) SensorKey(sensor string) (*SensorKey, error) {
	epoch := binary.BigEndian.AppendUint32(nil, e.epoch)
	k, err := expand(e.root(), lp([]byte("graphcloak/v1/sensor"), []byte(e.deployment), epoch, []byte(sensor)))
	if err != nil {
		return nil, err
	}
	return &SensorKey{key: newSecret(k)}, nil
}

func (e *Escrow) perturb(p *Plan, releaseID string, readings []int64) ([]int64, []Nonce, error) {
	x, nonces, err := e.perturbEach(p, []string{releaseID}, [][]int64{readings})
	if err != nil {
		return nil, nil, err
	}
	return x[0], nonces[0], nil
}

// perturbEach is perturb for several releases: what they share of a sensor is computed once.
func (e *Escrow) perturbEach(p *Plan, releaseIDs []string, readings [][]int64) ([][]int64, [][]Nonce, error) {
	x, nonces := make([][]int64, len(releaseIDs)), make([][]Nonce, len(releaseIDs))
	for k := range x {
		x[k], nonces[k] = make([]int64, len(p.Sensors)), make([]Nonce, len(p.Sensors))
	}
	err := parallel.Try(len(p.Sensors), drawWork*max(1, len(releaseIDs)), func(lo, hi int) error {
		calibration := p.Sensors[lo].calibration()
		for i := lo; i < hi; i++ {
			s := p.Sensors[i]
			key, err := e.SensorKey(string(s.ID))
			if err != nil {
				return err
			}
			mac := key.newMAC()
			if before := p.Sensors[max(i-1, lo)]; s.Exponent != before.Exponent || s.Steps != before.Steps {
				calibration = s.calibration()
			}
			for k, id := range releaseIDs {
				noise, nonce, err := mac.noise(id, calibration, readings[k][i], s.Steps)
				if err != nil {
					return err
				}
				x[k][i], nonces[k][i] = readings[k][i]+noise, nonce
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return x, nonces, nil
}

// SensorKey is the secret of one sensor in one epoch. It prints as nothing.
type SensorKey struct{ key secret }

// NewSensorKey takes over the 32 bytes that a sensor was given.
func NewSensorKey(key []byte) (*SensorKey, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("privacy: the sensor key has %d bytes, want %d", len(key), KeySize)
	}
	return &SensorKey{key: newSecret(slices.Clone(key))}, nil
}

// Bytes returns the secret, for the file that goes to the sensor.
func (k *SensorKey) Bytes() []byte { return slices.Clone(k.key()) }

func (k *SensorKey) String() string   { return "sensor key" }
func (k *SensorKey) GoString() string { return k.String() }

// sensorMAC is HMAC-SHA-256 with a sensor's key, one message after the other.
type sensorMAC struct {
	hash hashes.Hash
	sum  [sha256.Size]byte
}

func (k *SensorKey) newMAC() *sensorMAC { return &sensorMAC{hash: hmac.New(sha256.New, k.key())} }

// tag returns the HMAC of a message, which the next call overwrites.
func (m *sensorMAC) tag(message []byte) []byte {
	m.hash.Reset()
	m.hash.Write(message)
	return m.hash.Sum(m.sum[:0])
}

// noise returns N and the nonce for a reading of so many lattice steps.
func (m *sensorMAC) noise(releaseID string, calibration Digest, reading, steps int64) (int64, Nonce, error) {
	nonce := m.nonce(releaseID, calibration, reading)
	n, err := m.noiseOf(releaseID, calibration, nonce, steps)
	return n, nonce, err
}

func (m *sensorMAC) nonce(releaseID string, calibration Digest, reading int64) Nonce {
	return Nonce(m.tag(lp([]byte("graphcloak/v1/siv"), []byte(releaseID), calibration[:], be64(reading)))[:len(Nonce{})])
}

// noiseOf computes N again from the nonce.
func (m *sensorMAC) noiseOf(releaseID string, calibration Digest, nonce Nonce, steps int64) (int64, error) {
	src, err := m.bits(releaseID, calibration, nonce)
	if err != nil {
		return 0, err
	}
	return sample(src, steps)
}

// bits returns U. HKDF-Expand to the length of a hash is the HMAC of its info and a byte 1
// (RFC 5869, 2.3).
func (m *sensorMAC) bits(releaseID string, calibration Digest, nonce Nonce) (*keyStream, error) {
	info := lp([]byte("graphcloak/v1/noise"), []byte(releaseID), calibration[:], nonce[:])
	return newKeyStream(m.tag(append(info, 1)))
}

// calibration returns SHA-256 of the text that binds noise to σ and lattice.
func (s SensorNoise) calibration() Digest {
	return sha256.Sum256(fmt.Appendf(nil, "graphcloak-calibration/v1\nmechanism=rounded-gaussian\ngrid_exp2=%d\nsigma_steps=%d\n",
		s.Exponent, s.Steps))
}

func expand(key, info []byte) ([]byte, error) {
	out, err := hkdf.Expand(sha256.New, key, string(info), KeySize)
	if err != nil {
		return nil, fmt.Errorf("privacy: derive key: %w", err)
	}
	return out, nil
}

// keyStream is the ChaCha20 key stream (RFC 8439), zero nonce, counter from 0.
type keyStream struct {
	cipher *chacha20.Cipher
	buf    [64]byte
	left   int
}

func newKeyStream(key []byte) (*keyStream, error) {
	c, err := chacha20.NewUnauthenticatedCipher(key, make([]byte, chacha20.NonceSize))
	if err != nil {
		return nil, fmt.Errorf("privacy: key stream: %w", err)
	}
	return &keyStream{cipher: c}, nil
}

func (s *keyStream) next() uint64 {
	if s.left == 0 {
		clear(s.buf[:])
		s.cipher.XORKeyStream(s.buf[:], s.buf[:])
		s.left = len(s.buf)
	}
	u := binary.BigEndian.Uint64(s.buf[len(s.buf)-s.left:])
	s.left -= 8
	return u
}
