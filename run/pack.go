// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Bounds of a packed run: its JSON in bytes, about 1.4 million sensors of 180, and how much less it takes when packed. Anyone
// who writes to the store may have put there what fills the memory of every server: a run of ours packs 7 to 20 times.
const (
	maxPacked = 256 << 20
	maxRatio  = 64
)

// ErrTooLarge says that a run has too many sensors to be packed.
var ErrTooLarge = errors.New("run: it has too many sensors to be kept in a store")

// Pack is the run for a journal in a store. [ErrTooLarge].
func (k *Kept) Pack() ([]byte, error) {
	document, err := k.document()
	if err != nil {
		return nil, err
	}
	size := 0
	for _, p := range document {
		size += len(p)
	}
	if size > maxPacked {
		return nil, fmt.Errorf("%w: %d MiB are to be kept, and %d are the most", ErrTooLarge, size>>20, maxPacked>>20)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, p := range document {
		z.Write(p)
	}
	err = z.Close()
	return packed.Bytes(), err
}

// Unpack reads what [Kept.Pack] made. It counts before it keeps anything.
func Unpack(packed []byte) (*Kept, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	limit := min(maxPacked, maxRatio*int64(len(packed)))
	n, err := io.Copy(io.Discard, io.LimitReader(z, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("its %d bytes say more than %d", len(packed), limit)
	}
	if err != nil {
		return nil, err
	}
	if err := z.Reset(bytes.NewReader(packed)); err != nil {
		return nil, err
	}
	data := make([]byte, n)
	if _, err = io.ReadFull(z, data); err != nil {
		return nil, err
	}
	return readKept(data)
}
