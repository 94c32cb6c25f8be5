// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/graphcloak/graphcloak/internal/suggest"
)

// Layers are the places that [Load] looks in, beside the process environment.
type Layers struct {
	Flags       *pflag.FlagSet    // after parsing; nil: none
	DotEnv      map[string]string // variables of a .env file
	DotEnvPath  string            // where they came from
	DotEnvFound bool              // nobody named that file: it sets the connection only
	File        string            // YAML or JSON by its extension; "": none
	FileOwn     bool              // nobody named that file: it lies at the user's own place
	Defaults    map[string]string // a command's own defaults, by key
}

// Load merges the layers and checks every setting. The error joins an [Error],
// [UnknownError] or [ConflictError] for each problem found.
func Load(l Layers) (*Config, error) {
	c, problems := l.merge(true)
	if err := errors.Join(append(problems, l.checkFound()...)...); err != nil {
		return nil, err
	}
	c.warnings = l.unknownVariables()
	c.finish()
	return c, nil
}

// LoadFile checks a file alone, against the defaults.
func LoadFile(path string) error {
	_, problems := Layers{File: path}.merge(false)
	return errors.Join(problems...)
}

// merge takes each setting from the strongest layer that has it. viper decides which that is; origin names it for the reader.
func (l Layers) merge(environment bool) (*Config, []error) {
	c := &Config{origins: make(map[string]Origin), raw: make(map[string]any), ownFile: l.FileOwn}
	file, problems := readFile(l.File)
	var err error
	if c.Jobs, err = jobsOf(file[jobsKey], l.File); err != nil {
		problems = append(problems, err)
	}
	v, dotEnv := viper.New(), make(map[string]any)
	for _, s := range table() {
		v.SetDefault(s.Key, s.defaultIn(l.Defaults))
		if name := firstSet(s.Env, l.dotEnv); name != "" {
			dotEnv[s.Key] = l.DotEnv[name]
		}
		if environment {
			problems = append(problems, v.BindEnv(append([]string{s.Key}, s.Env...)...))
		}
		if f := l.flag(s); f != nil {
			v.Set(s.Key, f.value())
		}
	}
	problems = append(problems, v.MergeConfigMap(withoutJobs(file)), v.MergeConfigMap(dotEnv))
	for _, s := range table() {
		c.origins[s.Key] = l.origin(s, file, environment)
		if err := c.set(s, v.Get(s.Key), c.origins[s.Key]); err != nil {
			problems = append(problems, err)
		}
	}
	return c, append(problems, c.conflicts()...)
}

// withoutJobs is a copy of a file's settings, for viper puts every name in lower case.
func withoutJobs(file map[string]any) map[string]any {
	settings := maps.Clone(file)
	delete(settings, jobsKey)
	return settings
}

// flag returns the flag of a setting, nil where it was not given. A command may have a flag of its own under the same name.
func (l Layers) flag(s Setting) *flagValue {
	if l.Flags == nil {
		return nil
	}
	f := l.Flags.Lookup(s.Flag)
	if f == nil || !f.Changed {
		return nil
	}
	given, ok := f.Value.(*flagValue)
	if !ok || given.key != s.Key {
		return nil
	}
	return given
}

// origin is the strongest layer that has a setting.
func (l Layers) origin(s Setting, file map[string]any, environment bool) Origin {
	if l.flag(s) != nil {
		return Origin{LayerFlag, "--" + s.Flag}
	}
	if name := firstSet(s.Env, os.Getenv); environment && name != "" {
		return Origin{LayerEnv, name}
	}
	if name := firstSet(s.Env, l.dotEnv); name != "" {
		return Origin{LayerDotEnv, l.DotEnvPath + " " + name}
	}
	if file[strings.ToLower(s.Key)] != nil {
		return Origin{LayerFile, l.File}
	}
	return Origin{Layer: LayerDefault}
}

func (l Layers) dotEnv(name string) string { return l.DotEnv[name] }

func firstSet(names []string, lookup func(string) string) string {
	for _, name := range names {
		if lookup(name) != "" {
			return name
		}
	}
	return ""
}

// unknownVariables warns of variables with our prefix that name no setting.
func (l Layers) unknownVariables() []string {
	known := []string{EnvPrefix + "CONFIG"}
	for _, s := range table() {
		known = append(known, s.Env...)
	}
	var names []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	for name := range l.DotEnv {
		names = append(names, name)
	}
	slices.Sort(names)
	var warnings []string
	for _, name := range slices.Compact(names) {
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(known, name) {
			continue
		}
		warning := fmt.Sprintf("environment variable %s is no setting and is ignored", name)
		if near := suggest.Nearest(name, known); near != "" {
			warning += "; did you mean " + near + "?"
		}
		warnings = append(warnings, warning)
	}
	return warnings
}

// FoundError is a setting in a .env that nobody named.
type FoundError struct{ Name, Path string }

func (e *FoundError) Error() string {
	return fmt.Sprintf("config: %s sets %s; a .env that is only found sets address, user name, password and database", e.Path, e.Name)
}

// Suggestion says how to go on.
func (e *FoundError) Suggestion() string {
	return "name the file with --env " + e.Path + " if it is yours"
}

// checkFound refuses settings in a .env that was found, not named, which would decide
// what is read, spent, written or sent.
func (l Layers) checkFound() []error {
	var problems []error
	for _, s := range table() {
		name := firstSet(s.Env, l.dotEnv)
		if l.DotEnvFound && name != "" && !strings.HasPrefix(s.Key, "neo4j") {
			problems = append(problems, &FoundError{Name: name, Path: l.DotEnvPath})
		}
	}
	return problems
}
