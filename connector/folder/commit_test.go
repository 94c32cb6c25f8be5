// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

// TestFailedCommit: nobody knows of an entry that is there although its commit failed, and
// one that is not there was not stored.
func TestFailedCommit(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "nodes.csv"), []byte("nodeId\na\nb\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "relationships.csv"), []byte("sourceNodeId,targetNodeId\na,b\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := must.Get(New(t.Context(), dir, Options{}))(t)
	defer s.Close(t.Context())
	l, failed := ledger{s}, errors.New("the disk is full")
	must.Get(privacy.Spend(t.Context(), l, ledgertest.Charge("scope", "there", "a", 1<<20)))(t)
	for _, c := range []struct {
		scope, release string
		refused        error // by the rule
		uncertain      bool
	}{
		{"scope", "there", nil, true},
		{"scope", "absent", nil, false},
		{"other", "there", nil, false},
		{"scope", "absent", privacy.ErrChain, true},
	} {
		err := l.afterwards(c.scope, c.release, func(_ privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
			if len(prior) > 0 {
				return nil, c.refused
			}
			return &privacy.Entry{}, c.refused
		}, failed)
		if !errors.Is(err, failed) || errors.Is(err, privacy.ErrUncertain) != c.uncertain {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
