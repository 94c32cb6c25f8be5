// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/privacy/answer"
)

// WriteDir writes each package to a new file in dir, named after its sensor, and
// returns the paths. It never overwrites a file.
func WriteDir(dir string, packages []Package) ([]string, error) {
	return writeDir(dir, packages, func(p Package) graph.ID { return p.Sensor.ID })
}

// WriteAnswerDir is [WriteDir] for packages of people who answer.
func WriteAnswerDir(dir string, packages []answer.Package) ([]string, error) {
	return writeDir(dir, packages, func(p answer.Package) graph.ID { return p.Person })
}

func writeDir[P any](dir string, packages []P, id func(P) graph.ID) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("sensor: package directory: %w", err)
	}
	paths, ids := make([]string, 0, len(packages)), make([]graph.ID, len(packages))
	for i, p := range packages {
		ids[i] = id(p)
	}
	names := fileNames(ids)
	for i, p := range packages {
		data, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			return paths, fmt.Errorf("sensor: package of %q: %w", ids[i], err)
		}
		path := filepath.Join(dir, names[i])
		err = disk.Write(path, disk.Options{Mode: 0o644, Lazy: true}, func(w io.Writer) error {
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

// fileNames turns ids into names that every system takes and tells apart, where
// letters of either case are one too: letters, digits, - and _ stand for
// themselves, other bytes as %XX. An id that is long, means a device on Windows
// (CON, NUL, COM1, …) or equals an earlier one but for its case has a hash of
// itself instead.
func fileNames(ids []graph.ID) []string {
	names := make([]string, len(ids))
	device := regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])?$`)
	taken := make(map[string]bool, len(ids))
	for i, id := range ids {
		name := plainName(string(id))
		if folded := strings.ToLower(name); len(name) > 120 || device.MatchString(folded) || taken[folded] {
			sum := sha256.Sum256([]byte(id))
			name = hex.EncodeToString(sum[:])
		}
		taken[strings.ToLower(name)] = true
		names[i] = name + ".json"
	}
	return names
}

func plainName(id string) string {
	var b strings.Builder
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
