// SPDX-License-Identifier: Apache-2.0

package database

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Layout of a page of bbolt, in the byte order of the machine: a head of the
// number (8 bytes), the kind (2), the number of elements (2) and of further pages
// (4), then the elements. A branch element is the place of its key (4), relative
// to itself, its length (4) and the page below (8); a leaf element is its kind
// (4), place (4) and the lengths of key (4) and value (4). The value of a bucket
// starts with its root page (8) and a counter (8); root 0 is a leaf page that
// follows.
const (
	headSize, elementSize, bucketSize = 16, 16, 16

	branchPage, leafPage = 1, 2
	bucketLeaf           = 1

	maxDepth = 100 // of buckets inside the page of another

	// Pages 0 and 1 describe the database after the last two transactions; the rest
	// of the head is followed there by, among others, the page that lists the free
	// pages and the number of the transaction. That page holds their numbers of 8
	// bytes each, preceded by how many they are where the head has no room for it.
	freePage, freeAt, transactionAt, metaSize = 16, 48, 64, 80
	manyFree                                  = 0xffff
	noFreeList                                = ^uint64(0)
)

// walk looks at the pages that a database reaches.
type walk struct {
	file  io.ReaderAt
	size  int64 // of a page
	pages uint64
	seen  map[uint64]bool
}

// free refuses a list of free pages that are in use, out of order or nowhere:
// bbolt would write over them.
func (w walk) free(transaction uint64) error {
	meta := make([]byte, metaSize)
	list := noFreeList
	for k := range int64(2) {
		if _, err := w.file.ReadAt(meta, k*w.size); err != nil {
			return err
		}
		if binary.NativeEndian.Uint64(meta[transactionAt:]) == transaction {
			list = binary.NativeEndian.Uint64(meta[freeAt:])
		}
	}
	if list == noFreeList {
		return nil
	}
	data, err := w.read(list)
	if err != nil {
		return err
	}
	count, ids := uint64(binary.NativeEndian.Uint16(data[10:])), data[headSize:]
	if count == manyFree {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if binary.NativeEndian.Uint16(data[8:]) != freePage || count > uint64(len(ids))/8 {
		return fmt.Errorf("%w: page %d is no list of %d free pages", ErrDamaged, list, count)
	}
	last := uint64(1)
	for k := range count {
		id := binary.NativeEndian.Uint64(ids[8*k:])
		if id <= last || id >= w.pages || w.seen[id] {
			return fmt.Errorf("%w: page %d is not free", ErrDamaged, id)
		}
		last = id
	}
	return nil
}

// read returns a page with those behind it, and takes note of them.
func (w walk) read(id uint64) ([]byte, error) {
	head := make([]byte, headSize)
	if id < 2 || id >= w.pages {
		return nil, fmt.Errorf("%w: there is no page %d", ErrDamaged, id)
	}
	if _, err := w.file.ReadAt(head, int64(id)*w.size); err != nil {
		return nil, err
	}
	further := uint64(binary.NativeEndian.Uint32(head[12:]))
	if own := binary.NativeEndian.Uint64(head); own != id || further >= w.pages-id {
		return nil, fmt.Errorf("%w: page %d says that it is page %d, with %d behind it", ErrDamaged, id, own, further)
	}
	for k := id; k <= id+further; k++ {
		if w.seen[k] {
			return nil, fmt.Errorf("%w: page %d is used twice", ErrDamaged, k)
		}
		w.seen[k] = true
	}
	data := make([]byte, int64(further+1)*w.size)
	_, err := w.file.ReadAt(data, int64(id)*w.size)
	return data, err
}

func (w walk) page(id uint64) error {
	data, err := w.read(id)
	if err != nil {
		return err
	}
	if binary.NativeEndian.Uint16(data[8:]) == branchPage {
		return w.branch(id, data)
	}
	return w.leaf(id, data, 0)
}

// within reports whether a part of data of this length starts at a place.
func within(data []byte, place, length uint64) bool {
	return place <= uint64(len(data)) && length <= uint64(len(data))-place
}

func (w walk) branch(id uint64, data []byte) error {
	count := int(binary.NativeEndian.Uint16(data[10:]))
	if count == 0 || !within(data, headSize, uint64(count)*elementSize) {
		return fmt.Errorf("%w: page %d has %d elements", ErrDamaged, id, count)
	}
	for k := range count {
		e := data[headSize+k*elementSize:]
		if !within(e, uint64(binary.NativeEndian.Uint32(e)), uint64(binary.NativeEndian.Uint32(e[4:]))) {
			return fmt.Errorf("%w: page %d has a key that leaves it", ErrDamaged, id)
		}
		if err := w.page(binary.NativeEndian.Uint64(e[8:])); err != nil {
			return err
		}
	}
	return nil
}

func (w walk) leaf(id uint64, data []byte, depth int) error {
	if len(data) < headSize || binary.NativeEndian.Uint16(data[8:]) != leafPage || depth > maxDepth {
		return fmt.Errorf("%w: page %d is of no known kind", ErrDamaged, id)
	}
	count := int(binary.NativeEndian.Uint16(data[10:]))
	if !within(data, headSize, uint64(count)*elementSize) {
		return fmt.Errorf("%w: page %d has %d elements", ErrDamaged, id, count)
	}
	for k := range count {
		e := data[headSize+k*elementSize:]
		place, key := uint64(binary.NativeEndian.Uint32(e[4:])), uint64(binary.NativeEndian.Uint32(e[8:]))
		length := uint64(binary.NativeEndian.Uint32(e[12:]))
		if !within(e, place, key+length) {
			return fmt.Errorf("%w: page %d has a value that leaves it", ErrDamaged, id)
		}
		if binary.NativeEndian.Uint32(e)&bucketLeaf == 0 {
			continue
		}
		if err := w.bucket(id, e[place+key:place+key+length], depth); err != nil {
			return err
		}
	}
	return nil
}

func (w walk) bucket(id uint64, value []byte, depth int) error {
	if len(value) < bucketSize {
		return fmt.Errorf("%w: page %d has a bucket without a root", ErrDamaged, id)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.page(root)
	}
	return w.leaf(id, value[bucketSize:], depth+1)
}

// ErrDamaged says that the file is no whole database.
var ErrDamaged = errors.New("damaged database")
