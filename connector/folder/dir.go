// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/graphcloak/graphcloak/connector"
)

// Dir returns a folder as a file system of the regular files that lie in it, and of those in relationships.parquet if that is a folder.
// A link is refused wherever it leads: what is read would be another's file, and a
// rewrite would leave the link's target as it was. So are devices and pipes.
func Dir(path string) fs.FS { return directory(path) }

type directory string

// tries bounds how often a file is opened again that another process has just replaced.
const tries = 20

func (d directory) Open(name string) (file fs.File, err error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for range tries {
		if file, err = openRegular(root, name); !errors.Is(err, connector.ErrConflict) {
			break
		}
	}
	return file, err
}

// openRegular opens a regular file, and is an [connector.ErrConflict] where another takes its
// place meanwhile.
func openRegular(root *os.Root, name string) (fs.File, error) {
	there, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() && !(there.IsDir() && name == parquetFile) { // which may be a folder of parts
		return nil, fmt.Errorf("%w: %s is no regular file; a folder holds its files itself: copy it, or name the folder that it lies in",
			connector.ErrInput, name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(there, info) {
		return nil, errors.Join(fmt.Errorf("%w: %s changed while it was opened", connector.ErrConflict, name), err, f.Close())
	}
	return f, nil
}
