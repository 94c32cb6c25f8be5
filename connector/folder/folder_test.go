// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
)

func files(t *testing.T, nodes, relationships string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": relationships} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Suite{
		Open: func(t *testing.T, nodes, relationships string) storetest.Store {
			return open(t, files(t, nodes, relationships))
		},
		Select: func(_ storetest.Store, sel graph.Selection) graph.Selection { return sel },
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			return open(t, strings.TrimPrefix(s.Name(), "folder:"))
		},
	})
}
