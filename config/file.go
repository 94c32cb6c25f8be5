// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// maxFile bounds a file of settings in bytes.
const maxFile = 1 << 20

// readFile returns the values of a file by lower-case key, and what is wrong
// with its keys. Viper folds case and splits at dots; no key of the table has a
// dot, and the delimiter is one that no key of a user has.
func readFile(path string, settings []Setting) (map[string]any, []error) {
	if path == "" {
		return nil, nil
	}
	text, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, []error{fmt.Errorf("config: read: %w", err)}
	}
	form := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if form == "" {
		form = "yaml"
	}
	if !slices.Contains([]string{"yaml", "yml", "json", "toml"}, form) {
		return nil, []error{fmt.Errorf("config: %s ends in .%s, want .yaml, .json or .toml", path, form)}
	}
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	v.SetConfigType(form)
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		return nil, []error{&SyntaxError{Path: path, Err: errors.Unwrap(err)}}
	}
	return accept(v.AllSettings(), path, text, settings)
}

// SyntaxError is a file that cannot be parsed.
type SyntaxError struct {
	Path string
	Err  error
}

func (e *SyntaxError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("config: %s cannot be read: %v", e.Path, e.Err), "\n")
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// accept keeps the keys that are settings of a file and reports the others.
func accept(values map[string]any, path string, text []byte, settings []Setting) (map[string]any, []error) {
	known := make(map[string]Setting)
	var keys []string
	for _, s := range settings {
		known[strings.ToLower(s.Key)] = s
		if !s.noFile {
			keys = append(keys, s.Key)
		}
	}
	var problems []error
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s, ok := known[name]
		if ok && !s.noFile {
			continue
		}
		spelt, line := locate(text, name)
		problem := &UnknownError{Key: spelt, Path: path, Line: line}
		switch near := Closest(name, keys); {
		case ok && s.Secret():
			problem.Advice = "a file holds no password; give passwordFile, or set " + s.Env[len(s.Env)-1]
		case ok:
			problem.Advice = "give it as the flag --" + s.Flag
		case near != "":
			problem.Advice = "did you mean " + near + "?"
		default:
			problem.Advice = "`graphcloak config schema` lists the keys"
		}
		problems = append(problems, problem)
		delete(values, name)
	}
	return values, problems
}

// locate finds how a file spells a key that was lower-cased, and on which line.
func locate(text []byte, name string) (string, int) {
	for i, line := range strings.Split(string(text), "\n") {
		if at := strings.Index(strings.ToLower(line), name); at >= 0 && len(line) >= at+len(name) {
			return line[at : at+len(name)], i + 1
		}
	}
	return name, 0
}
