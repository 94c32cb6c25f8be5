// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// FindDotEnv returns the nearest .env from the working directory upwards, as far
// as the first directory with .git or the home directory; "" if there is none.
func FindDotEnv() string {
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

// maxDotEnv bounds a .env file in bytes.
const maxDotEnv = 1 << 20

// ReadDotEnv reads the lines NAME=VALUE that are ours: NEO4J_… and GRAPHCLOAK_….
// Values are literal: nothing is expanded, and quotes keep every character, so
// that a password may hold any. An unquoted value ends before " #". Other lines
// belong to other programs and are left alone. shared is what others may do with
// the file.
func ReadDotEnv(path string) (values map[string]string, shared string, err error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, "", fmt.Errorf("env file: %w", err)
	}
	defer f.Close()
	text, err := disk.All(f, path, maxDotEnv)
	if err != nil {
		return nil, "", fmt.Errorf("env file: %w", err)
	}
	if info, err := f.Stat(); err == nil {
		shared = disk.Shared(info)
	}
	return parseDotEnv(string(text)), shared, nil
}

func parseDotEnv(text string) map[string]string {
	values := make(map[string]string)
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		name = strings.TrimSpace(name)
		if ok && (strings.HasPrefix(name, "NEO4J_") || strings.HasPrefix(name, EnvPrefix)) {
			values[name] = unquote(strings.TrimSpace(value))
		}
	}
	return values
}

// unquote takes quotes off, and what stands behind them or behind " #".
func unquote(value string) string {
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return value[1 : 1+end]
		}
		return value
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}

// DefaultFile returns the user's configuration file if there is one. A relative
// $XDG_CONFIG_HOME does not count, as the XDG Base Directory Specification says.
func DefaultFile() string {
	base := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	path := filepath.Join(base, "graphcloak", "config.yaml")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
