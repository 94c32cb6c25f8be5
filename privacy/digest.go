// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	hashing "hash"
)

// Digest is a SHA-256 hash; text form is lower-case hexadecimal.
type Digest [32]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error { return unhex(d[:], text, "digest") }

func unhex(dst, text []byte, what string) error {
	if hex.DecodedLen(len(text)) != len(dst) || len(text)%2 != 0 {
		return fmt.Errorf("privacy: %s has %d characters, want %d hexadecimal digits", what, len(text), 2*len(dst))
	}
	if _, err := hex.Decode(dst, text); err != nil {
		return fmt.Errorf("privacy: %s: %w", what, err)
	}
	return nil
}

// lp concatenates the parts, each behind its length as uint32 big-endian, so that
// no two lists of parts give the same bytes.
func lp(parts ...[]byte) []byte {
	size := 1 // for the caller's last byte
	for _, p := range parts {
		size += 4 + len(p)
	}
	out := make([]byte, 0, size)
	for _, p := range parts {
		out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	return out
}

// hash is SHA-256 of lp of the parts, without a copy of them.
func hash(parts ...[]byte) Digest {
	h := partsHash{h: sha256.New()}
	h.add(parts...)
	return h.sum()
}

// partsHash is [hash] of parts that come one by one: small ones are gathered first.
type partsHash struct {
	h       hashing.Hash
	waiting []byte
}

func (h *partsHash) add(parts ...[]byte) {
	for _, part := range parts {
		h.waiting = binary.BigEndian.AppendUint32(h.waiting, uint32(len(part)))
		if len(part) >= 1<<12 {
			h.flush()
			h.h.Write(part)
		} else if h.waiting = append(h.waiting, part...); len(h.waiting) >= 1<<12 {
			h.flush()
		}
	}
}

// addInt adds what [be64] makes of x.
func (h *partsHash) addInt(x int64) {
	var text [8]byte
	binary.BigEndian.PutUint64(text[:], uint64(x))
	h.add(text[:])
}

func (h *partsHash) flush() {
	h.h.Write(h.waiting)
	h.waiting = h.waiting[:0]
}

func (h *partsHash) sum() (d Digest) {
	h.flush()
	h.h.Sum(d[:0])
	return d
}

func be64(x int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(x)) }

// hashJoined is the hash of two parts, the second in pieces, without a copy of them.
func hashJoined(first []byte, pieces [][]byte) (d Digest) {
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	h := sha256.New()
	h.Write(lp(first))
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(size)))
	for _, p := range pieces {
		h.Write(p)
	}
	h.Sum(d[:0])
	return d
}
