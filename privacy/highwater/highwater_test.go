// SPDX-License-Identifier: Apache-2.0

package highwater

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestMarkFilesDoNotGoBack puts the marks of a growing chain all at once: the furthest
// stays. One of another chain is refused.
func TestMarkFilesDoNotGoBack(t *testing.T) {
	f := Folder(t.TempDir())
	names := []string{"id", "place"}
	var heads []privacy.Digest
	var wg sync.WaitGroup
	for i := range 20 {
		heads = append(heads, privacy.Digest{byte(i + 1)})
		m := privacy.Mark{Account: privacy.Account{Scope: "s", Entries: int64(i + 1), Head: heads[i]}, Heads: heads[:i+1]}
		wg.Go(func() {
			if err := f.Put(names, "s", m); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check := func() {
		t.Helper()
		marks, err := f.Marks(names, "s")
		if err != nil || len(marks) != 2 || marks[0].Account.Entries != 20 || marks[1].Account.Entries != 20 {
			t.Errorf("%+v, %v, want the furthest mark under both names", marks, err)
		}
	}
	check()
	other := privacy.Digest{200}
	err := f.Put(names, "s",
		privacy.Mark{Account: privacy.Account{Scope: "s", Entries: 30, Head: other}, Heads: []privacy.Digest{other}})
	if !errors.Is(err, privacy.ErrRollback) {
		t.Errorf("another chain: %v, want ErrRollback", err)
	}
	check()
}

// A mark that is there is left as it is: anyone who reads every scope of a ledger would
// otherwise write and sync a file for each.
func TestMarkThatIsThere(t *testing.T) {
	f := Folder(t.TempDir())
	head := privacy.Digest{1}
	m := privacy.Mark{Account: privacy.Account{Scope: "s", Entries: 1, Head: head}, Heads: []privacy.Digest{head}}
	put := func() os.FileInfo {
		t.Helper()
		must.Do(t, f.Put([]string{"id"}, "s", m))
		return must.Get(os.Stat(f.path("id", "s")))(t)
	}
	first := put()
	if !os.SameFile(first, put()) {
		t.Error("the same mark is written again")
	}
	next := privacy.Digest{2}
	m.Account.Entries, m.Account.Head, m.Heads = 2, next, append(m.Heads, next)
	if os.SameFile(first, put()) {
		t.Error("a mark that goes further is not written")
	}
}
