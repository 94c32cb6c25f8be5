// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/graphcloak/graphcloak/graph"
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
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return paths, fmt.Errorf("sensor: write package: %w", err)
		}
		_, err = f.Write(append(data, '\n'))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return paths, fmt.Errorf("sensor: write package: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// ReadFile reads the package in a file.
func ReadFile(path string) (Package, error) {
	f, err := os.Open(path)
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
