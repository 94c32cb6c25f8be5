// SPDX-License-Identifier: Apache-2.0

// Command mutate shows that the privacy core's tests are awake: it plants one fault
// at a time in a copy of the module, runs the tests that are to catch it, and
// demands that they go red. Run it from the module's root:
//
//	go run ./privacy/internal/mutate [name…]
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mutation replaces text, which occurs exactly once in file; some faults need
// several places.
type mutation struct {
	name    string
	changes []change
	test    string // of the package of the first file, unless it begins with "pkg:"
}

type change struct{ file, old, new string }

// copied is what the tests need of the module.
var copied = []string{"go.mod", "go.sum", "graph", "privacy", "sensor", "docs/proofs"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(only []string) error {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range copied {
		if err := copyTree(name, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	var survived []string
	for _, m := range mutations {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		start := time.Now()
		caught, err := try(dir, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		verdict := "caught by " + strings.Join(caught, ", ")
		if len(caught) == 0 {
			verdict = "SURVIVED " + m.test
			survived = append(survived, m.name)
		}
		fmt.Printf("%-34s %s (%.1f s)\n", m.name, verdict, time.Since(start).Seconds())
	}
	if len(survived) > 0 {
		return fmt.Errorf("%d mutations survived: %s", len(survived), strings.Join(survived, ", "))
	}
	return nil
}

// try applies m, runs its tests, and puts the files back.
func try(dir string, m mutation) (caught []string, err error) {
	for _, c := range m.changes {
		path := filepath.Join(dir, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if n := bytes.Count(text, []byte(c.old)); n != 1 {
			return nil, fmt.Errorf("%q occurs %d times in %s, want once", c.old, n, c.file)
		}
		defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o644)) }()
		if err := os.WriteFile(path, bytes.Replace(text, []byte(c.old), []byte(c.new), 1), 0o644); err != nil {
			return nil, err
		}
	}
	pkg, test := filepath.Dir(m.changes[0].file), m.test
	if p, t, ok := strings.Cut(test, ":"); ok {
		pkg, test = p, t
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-timeout=4m", "-run", "^("+test+")$", "./"+pkg)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			caught = append(caught, name)
		}
	}
	if len(caught) == 0 {
		return nil, fmt.Errorf("the tests did not run:\n%s", out)
	}
	return caught, nil
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}
