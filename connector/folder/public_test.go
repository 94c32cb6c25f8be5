// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestSignalIsNoPublicColumn: ids and labels are read without noise, so they are no
// signal under any of their names, and other columns are.
func TestSignalIsNoPublicColumn(t *testing.T) {
	for nodes, refused := range map[string][]string{
		"id,labels,x\n1,1,0.5\n2,0,1\n": {"id", "labels"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": "source,target\n1,2\n"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		c := folder.CSV{FS: os.DirFS(dir)}
		g := must.Get(c.Graph(t.Context(), graph.Selection{}))(t)
		for _, name := range refused {
			if values, err := c.Signal(t.Context(), g, name); !errors.Is(err, connector.ErrInput) {
				t.Errorf("%q: %q is read as %v (%v)", nodes, name, values, err)
			}
		}
		if values, err := c.Signal(t.Context(), g, "x"); err != nil || values[0] != 0.5 {
			t.Errorf("%q: x is %v (%v)", nodes, values, err)
		}
	}
}
