// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestModes: with a umask that takes nothing away, revealed readings, a staged
// release and the ledger are for their owner alone, and so are the folders of state.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	a, _, _ := kit(t, "--from", "folder:g", "--source-property", "source", "--allocation", "uniform", "--output", "readings.json")
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	ctx := t.Context()
	writeGraph(t, "g", "id,source\na,1\nb,0\n", "source,target\na,b\n")
	s, m, p, job := planned(t, a)
	must.Do(t, a.journal(ctx, s.Ledger(), &job, outputSize(m.Graph), ""))
	r := must.Get(m.Release(ctx, p, job))(t)
	shown := revealedValues[float64]{name: "reading", ids: []graph.ID{"a", "b"}}
	must.Do(t, showRevealed(a, r, shown, []float64{1, 0}, privacy.Entry{}))
	files := 0
	private := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			files++
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 && path != state {
			t.Errorf("%s has mode %04o", path, mode)
		}
		return nil
	}
	for _, root := range []string{"readings.json", state, filepath.Join("g", ".graphcloak")} {
		must.Do(t, filepath.WalkDir(root, private))
	}
	if files < 3 {
		t.Errorf("%d files were looked at, want the readings, the staged release and the ledger", files)
	}
}
