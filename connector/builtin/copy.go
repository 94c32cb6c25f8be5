// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// CopyTo copies the CSV files of a graph into a folder that does not have them yet. What a run wrote there stays.
func (f Folder) CopyTo(dir string) error {
	for _, name := range []string{RelationshipsFile, NodesFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		in, err := f.Open(name)
		if err != nil {
			return fmt.Errorf("copy graph: %w", err)
		}
		err = disk.Write(path, disk.Options{Mode: 0o600}, func(w io.Writer) error {
			_, err := io.Copy(w, in)
			return err
		})
		if in.Close(); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("copy graph: %w", err)
		}
	}
	return nil
}
