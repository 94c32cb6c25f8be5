// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
)

// WriteDir writes each package to a new file in dir, named after its sensor, and
// returns the paths. It never overwrites a file.
func WriteDir(dir string, packages []Package) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("sensor: package directory: %w", err)
	}
	paths := make([]string, 0, len(packages))
	for _, p := range packages {
		data, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			return paths, fmt.Errorf("sensor: package of %q: %w", p.Sensor.ID, err)
		}
		path := filepath.Join(dir, fileName(p.Sensor.ID))
		err = disk.Write(path, disk.Options{Mode: 0o644}, func(w io.Writer) error {
			_, err := w.Write(append(data, '\n'))
			return err
		})
		if err != nil {
			return paths, fmt.Errorf("sensor: write package: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// ReadFile reads the package in a file.
func ReadFile(path string) (Package, error) {
	f, err := disk.Open(path)
	if err != nil {
		return Package{}, fmt.Errorf("sensor: open package: %w", err)
	}
	defer f.Close()
	return Read(f)
}

// fileName turns an id into a name without separators; long ids are hashed.
func fileName(id graph.ID) string {
	name := url.PathEscape(string(id))
	if len(name) > 120 {
		sum := sha256.Sum256([]byte(id))
		name = hex.EncodeToString(sum[:])
	}
	return name + ".json"
}
