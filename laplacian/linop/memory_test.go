// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestShelf: a large block that was put back serves the next caller who asks for as much or for a quarter of it, the
// smallest that fits; two at the same time are two; and some time after its last use none is kept.
func TestShelf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shelf
		a, b := s.take(4*keptSize), s.take(8*keptSize)
		if &a.V[0] == &b.V[0] {
			t.Fatal("one block serves twice")
		}
		s.put(a)
		s.put(b)
		for _, c := range []struct {
			size int
			want *Block // nil: a new one
		}{{4 * keptSize, a}, {3 * keptSize, a}, {4*keptSize + 1, b}, {keptSize, a}, {keptSize - 1, nil}, {8*keptSize + 1, nil}} {
			got := s.take(c.size)
			if want := c.want; got != want && (want != nil || got == a || got == b) {
				t.Errorf("of %d values another block serves", c.size)
			}
			if len(got.V) != c.size {
				t.Errorf("a block of %d values has %d", c.size, len(got.V))
			}
			if c.want != nil {
				s.put(got)
			}
		}
		time.Sleep(keptFor / 2)
		s.take(8 * keptSize)
		s.put(b)
		time.Sleep(keptFor/2 + 1)
		synctest.Wait()
		if len(s.free) != 1 || s.free[0] != b {
			t.Errorf("%d blocks are kept, want the one used lately", len(s.free))
		}
		time.Sleep(keptFor)
		synctest.Wait()
		if len(s.free) != 0 || s.timer != nil {
			t.Errorf("%d blocks are kept without use", len(s.free))
		}
	})
}

// TestShelfIsBounded: of more than a gigabyte the oldest blocks are dropped, and a block that is larger is not kept.
func TestShelfIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shelf
		of := func(size int) *Block { return &Block{V: make([]float64, size)} } // never touched
		a, b := of(keptSum/2), of(keptSum/2)
		for _, block := range []*Block{of(keptSize), a, b} {
			s.put(block)
		}
		if len(s.free) != 2 || s.free[0] != a || s.free[1] != b {
			t.Errorf("%d blocks are kept, want the two that came last", len(s.free))
		}
		s.put(of(keptSum + 1))
		if len(s.free) != 0 {
			t.Errorf("%d blocks are kept beside one of more than a gigabyte", len(s.free))
		}
		time.Sleep(2 * keptFor)
	})
}

// TestGetBlock: blocks of any size come and go back, and a large one is not lost in collections of garbage.
func TestGetBlock(t *testing.T) {
	for _, size := range []int{0, 1, keptSize - 1, keptSize} {
		b := GetBlock(size)
		if len(b.V) != size {
			t.Errorf("a block of %d values has %d", size, len(b.V))
		}
		b.Put()
	}
	b := GetBlock(3 * keptSize)
	at := &b.V[0]
	b.Put()
	for range 3 {
		runtime.GC()
	}
	if b = GetBlock(3 * keptSize); &b.V[0] != at {
		t.Error("a large block is lost")
	}
	b.Put()
	DropBlocks()
	if c := GetBlock(3 * keptSize); &c.V[0] == at {
		t.Error("a block is kept that was to be dropped")
	}
}
