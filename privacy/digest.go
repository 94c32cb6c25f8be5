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
	h := partsHash{sha256.New()}
	h.add(parts...)
	return h.sum()
}

// partsHash is [hash] of parts that come one by one.
type partsHash struct{ hashing.Hash }

func (h partsHash) add(parts ...[]byte) {
	for _, part := range parts {
		h.begin(len(part))
		h.Write(part)
	}
}

// begin begins a part of so many bytes, which are then written.
func (h partsHash) begin(size int) { h.Write(binary.BigEndian.AppendUint32(nil, uint32(size))) }

func (h partsHash) sum() Digest { return Digest(h.Sum(nil)) }

func be64(x int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(x)) }
