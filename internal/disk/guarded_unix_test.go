// SPDX-License-Identifier: Apache-2.0

//go:build unix

package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/must"
)

// owned is a file as somebody else may own it.
type owned struct {
	fs.FileInfo
	uid uint32
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

// A secret is its owner's alone; the group may read what somebody else owns.
func TestGuarded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	me := uint32(os.Geteuid())
	for _, c := range []struct {
		mode         fs.FileMode
		mine, theirs bool
	}{
		{0o600, true, true},
		{0o400, true, true},
		{0o440, false, true},
		{0o640, false, true},
		{0o460, false, false},
		{0o604, false, false},
		{0o444, false, false},
		{0o602, false, false},
	} {
		must.Do(t, os.Chmod(path, c.mode))
		info := must.Get(os.Stat(path))(t)
		if got := disk.Guarded(owned{info, me}); got != c.mine || disk.Guarded(info) != c.mine {
			t.Errorf("%04o, mine: %t, want %t", c.mode, got, c.mine)
		}
		if got := disk.Guarded(owned{info, me + 1}); got != c.theirs {
			t.Errorf("%04o, another's: %t, want %t", c.mode, got, c.theirs)
		}
	}
}
