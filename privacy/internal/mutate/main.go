// SPDX-License-Identifier: Apache-2.0

// Command mutate shows that the tests which watch the guarantee are awake: it plants
// one fault at a time, by an overlay that leaves the files alone, runs the tests that
// are to catch it, and demands that every one of them goes red. Run it from the
// module's root:
//
//	go run ./privacy/internal/mutate [-fast] [-workers N] [name…]
//
// A fault whose text is no longer in its file, or a test that is not there, is an
// error.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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

func main() {
	quick := flag.Bool("fast", false, "only the faults whose tests take a second or two")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "faults that are tried at the same time")
	flag.Parse()
	if err := run(*quick, max(1, *workers), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(quick bool, workers int, only []string) error {
	list, err := choose(quick, only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := time.Now()
	var survived, broken []string
	var wait sync.WaitGroup
	var mu sync.Mutex
	slot := make(chan struct{}, workers)
	for i, m := range list {
		wait.Go(func() {
			slot <- struct{}{}
			start := time.Now()
			missed, err := m.try(filepath.Join(dir, fmt.Sprint(i)))
			<-slot
			verdict := "caught by " + strings.Join(m.tests(), ", ")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				broken = append(broken, m.name)
				verdict = "BROKEN: " + err.Error()
			case len(missed) > 0:
				survived = append(survived, m.name)
				verdict = "SURVIVED " + strings.Join(missed, ", ")
			}
			fmt.Printf("%-44s %s (%.1f s)\n", m.name, verdict, time.Since(start).Seconds())
		})
	}
	wait.Wait()
	fmt.Printf("%d faults in %.0f s with %d at a time: %d survived, %d broken\n", len(list), time.Since(begin).Seconds(), workers,
		len(survived), len(broken))
	if len(survived)+len(broken) > 0 {
		return fmt.Errorf("survived: %q; broken: %q", survived, broken)
	}
	return nil
}

// choose returns the faults to try, each of which applies.
func choose(quick bool, only []string) ([]mutation, error) {
	list := fast
	if !quick {
		list = slices.Concat(fast, slow)
	}
	if len(only) > 0 {
		list = slices.DeleteFunc(slices.Concat(fast, slow), func(m mutation) bool { return !slices.Contains(only, m.name) })
		if len(list) != len(only) {
			return nil, fmt.Errorf("of %q only %d are names of faults", only, len(list))
		}
	}
	var err error
	for _, m := range list {
		if _, e := m.files(); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", m.name, e))
		}
	}
	return list, err
}

// files returns the changed text of each file.
func (m mutation) files() (map[string]string, error) {
	out := make(map[string]string)
	for _, c := range m.changes {
		text, ok := out[c.file]
		if !ok {
			data, err := os.ReadFile(c.file)
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		if n := strings.Count(text, c.old); n != 1 {
			return nil, fmt.Errorf("%q occurs %d times in %s, want once", c.old, n, c.file)
		}
		out[c.file] = strings.Replace(text, c.old, c.new, 1)
	}
	return out, nil
}

// in returns the package whose tests run.
func (m mutation) in() string {
	if p, _, ok := strings.Cut(m.test, ":"); ok {
		return p
	}
	return filepath.Dir(m.changes[0].file)
}

// tests returns the names of the tests that are to go red.
func (m mutation) tests() []string {
	_, names, ok := strings.Cut(m.test, ":")
	if !ok {
		names = m.test
	}
	return strings.Split(names, "|")
}

// try runs the tests with m planted, and returns those that stayed green. dir is for
// its files.
func (m mutation) try(dir string) (missed []string, err error) {
	overlay, err := m.overlay(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-vet=off", "-timeout=4m",
		"-run", "^("+strings.Join(m.tests(), "|")+")$", "./"+m.in()).CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return nil, err
	}
	missed = m.tests()
	for line := range strings.SplitSeq(string(out), "\n") {
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			missed = slices.DeleteFunc(missed, func(t string) bool { return t == name })
		}
	}
	if err != nil && len(missed) == len(m.tests()) || strings.Contains(string(out), "[no tests to run]") {
		return nil, fmt.Errorf("the tests did not run:\n%s", out)
	}
	return missed, nil
}

// overlay writes the changed files and the list of what they stand for.
func (m mutation) overlay(dir string) (string, error) {
	files, err := m.files()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := make(map[string]string)
	for name, text := range files {
		from, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		replace[from] = filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		if err := os.WriteFile(replace[from], []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}
