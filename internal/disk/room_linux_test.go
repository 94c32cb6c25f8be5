// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestHold: room that is held is on disk, as a file of zeros; where there is none nothing is left behind.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "room")
	for _, size := range []int64{0, 1, 3<<20 + 1} {
		must.Do(t, disk.Hold(path, size))
		info := must.Get(os.Stat(path))(t)
		text, err := os.ReadFile(path)
		if err != nil || int64(len(text)) != size || len(bytes.Trim(text, "\x00")) > 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%d bytes of mode %v, want %d zeros; %v", len(text), info.Mode(), size, err)
		}
		if held := info.Sys().(*syscall.Stat_t).Blocks * 512; held < size {
			t.Errorf("%d bytes take %d on disk", size, held)
		}
	}
	if err := disk.Hold(filepath.Join(dir, "huge"), 1<<60); err == nil {
		t.Error("there is room for 2⁶⁰ bytes")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v are left, want the first file; %v", left, err)
	}
}
