// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// findDotEnv returns the nearest .env from the working directory upwards, as far
// as the first directory with .git or the home directory; "" if there is none.
func findDotEnv() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	home, _ := os.UserHomeDir() // "" is no directory and stops nothing
	for {
		path := filepath.Join(dir, ".env")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == home || dir == parent {
			return ""
		}
		dir = parent
	}
}

// readDotEnv reads lines NAME=VALUE. Values are literal, so that a password may
// hold any character: single or double quotes around a value are taken off, and
// nothing is expanded. Lines that are empty or start with # are left out.
func readDotEnv(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("env file: %w", err)
	}
	values := make(map[string]string)
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fail(exitValidation, "%s:%d: no NAME=VALUE", path, number).hint("every line of the file is NAME=VALUE or starts with #")
		}
		values[name] = unquote(strings.TrimSpace(value))
	}
	return values, nil
}

func unquote(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}
