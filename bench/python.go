// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peers/*.py
var peers embed.FS

//go:embed requirements.txt
var requirements string

// environment makes the peers' virtual environment in dir, or finds it as it was
// made for the same requirements and Python, and returns its interpreter.
func environment(ctx context.Context, dir string) (python string, err error) {
	venv := filepath.Join(dir, "venv")
	python = filepath.Join(venv, "bin", "python")
	version, err := printed(ctx, "python3", "-c", "import sys; assert sys.version_info >= (3, 11); print(sys.version)")
	if err != nil {
		return "", fmt.Errorf("no python3 of version 3.11 or later: install it (Debian: apt-get install python3 python3-venv): %w", err)
	}
	state, made := version+requirements, filepath.Join(venv, "made-for")
	if old, err := os.ReadFile(made); err == nil && string(old) == state {
		return python, nil
	}
	fmt.Fprintln(os.Stderr, "installing the peers in", venv)
	if _, err := printed(ctx, "python3", "-m", "venv", "--clear", venv); err != nil {
		return "", fmt.Errorf("python3 -m venv: install venv (Debian: apt-get install python3-venv): %w", err)
	}
	list := filepath.Join(venv, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o644); err != nil {
		return "", err
	}
	if _, err := printed(ctx, python, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary=:all:", "-q", "-r",
		list); err != nil {
		return "", fmt.Errorf("pip install of the peers: %w", err)
	}
	return python, os.WriteFile(made, []byte(state), 0o644)
}

// printed returns what a command prints, or its last words as an error.
func printed(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, lastLine(problem.String()))
	}
	return string(out), err
}
