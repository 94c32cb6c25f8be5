// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/internal/suggest"
)

// Bounds of a file of settings: its bytes, and how deep it may nest. Settings are
// flat; the decoders recurse, and one takes time that grows with the square.
const (
	maxFile  = 1 << 18
	maxDepth = 32

	maxProblems = 20 // unknown keys that are reported one by one
)

// readFile returns the values of a file by lower-case key, and what is wrong
// with its keys.
func readFile(path string) (map[string]any, []error) {
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
	if !slices.Contains([]string{"yaml", "yml", "json"}, form) {
		return nil, []error{&SyntaxError{Path: path, Err: fmt.Errorf("it ends in .%s, want .yaml or .json", form)}}
	}
	values, err := decode(form, bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, []error{&SyntaxError{Path: path, Err: err}}
	}
	return accept(values, path, text)
}

// decode reads one document whose keys are all different, in any case of letters.
func decode(form string, text []byte) (map[string]any, error) {
	if tooDeep(text) {
		return nil, fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	var values map[string]any
	var err error
	switch form {
	case "json":
		err = strictjson.Unmarshal(text, &values)
	default:
		documents := yaml.NewDecoder(bytes.NewReader(text))
		if err = documents.Decode(&values); errors.Is(err, io.EOF) {
			err = nil // an empty file
		}
		if err == nil && !errors.Is(documents.Decode(new(any)), io.EOF) {
			err = errors.New("there is more than one document in it")
		}
	}
	if err != nil {
		return nil, err
	}
	folded, spelt := make(map[string]any, len(values)), make(map[string]string, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		lower := strings.ToLower(key)
		if first, ok := spelt[lower]; ok {
			return nil, fmt.Errorf("%q and %q are one setting", first, key)
		}
		folded[lower], spelt[lower] = values[key], key
	}
	return folded, nil
}

// tooDeep counts brackets, in texts and comments too, where they balance.
func tooDeep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxDepth {
			return true
		}
	}
	return false
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
func accept(values map[string]any, path string, text []byte) (map[string]any, []error) {
	known := make(map[string]Setting)
	var keys []string
	for _, s := range table() {
		known[strings.ToLower(s.Key)] = s
		if !s.noFile {
			keys = append(keys, s.Key)
		}
	}
	var problems []error
	lines := strings.Split(string(text), "\n")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		s, ok := known[name]
		if ok && !s.noFile || name == jobsKey {
			continue
		}
		if delete(values, name); len(problems) == maxProblems {
			problems = append(problems, fmt.Errorf("config: %s has further keys that are no settings", path))
		}
		if len(problems) > maxProblems {
			continue
		}
		spelt, line := locate(lines, name)
		problem := &UnknownError{Key: spelt, Path: path, Line: line}
		switch near := suggest.Nearest(name, keys); {
		case ok && s.Secret():
			problem.Advice = "a file holds no password; give passwordFile, or set " + s.Env[len(s.Env)-1]
		case ok:
			problem.Advice = "give it as the flag --" + s.Flag
		case near != "":
			problem.Advice = "did you mean " + near + "?"
		default:
			problem.Advice = "`graphcloak config view` lists the keys"
		}
		problems = append(problems, problem)
	}
	return values, problems
}

// locate finds how a file spells a key that was lower-cased, and on which line.
func locate(lines []string, name string) (string, int) {
	for i, line := range lines {
		if at := strings.Index(strings.ToLower(line), name); at >= 0 && len(line) >= at+len(name) {
			return line[at : at+len(name)], i + 1
		}
	}
	return name, 0
}

// jobsKey is the one key of a file that is no setting: a list of jobs, each a map of
// what package jobs reads and of settings of its own.
const jobsKey = "jobs"

// maxJobs bounds that list.
const maxJobs = 200

// jobsOf reads the list of jobs. What is in a job is checked one by one where jobs are
// run, so that one that is wrong does not stop the others.
func jobsOf(raw any, path string) (list []map[string]any, err error) {
	wrong := ""
	switch raw := raw.(type) {
	case nil:
	case []any:
		for i, entry := range raw {
			job, ok := entry.(map[string]any)
			if !ok {
				wrong = fmt.Sprintf("no map at %d", i)
			}
			list = append(list, job)
		}
	default:
		wrong = "no list"
	}
	if len(list) > maxJobs {
		wrong = fmt.Sprintf("%d jobs, more than %d", len(list), maxJobs)
	}
	if wrong != "" {
		return nil, &Error{Key: jobsKey, Value: wrong, Want: "a list of maps, each with name and schedule", Origin: Origin{LayerFile, path}}
	}
	return list, nil
}
