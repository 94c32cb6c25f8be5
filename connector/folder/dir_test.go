// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/graphcloak/graphcloak/connector/folder"
)

// A file that another process replaces again and again, as every run does that writes to the
// folder, is opened all the same.
func TestOpenWhileReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nodes.csv")
	var done atomic.Bool
	replace := func() {
		if err := os.WriteFile(path+".new", []byte("id\n"), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	replace()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !done.Load() {
			replace()
		}
	}()
	for range 5000 {
		f, err := folder.Dir(dir).Open("nodes.csv")
		if err != nil {
			t.Error(err)
			break
		}
		f.Close()
	}
	done.Store(true)
	<-ended
}
