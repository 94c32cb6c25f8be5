// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
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
	File        string            // YAML, JSON or TOML by its extension; "": none
	FileOwn     bool              // nobody named that file: it lies at the user's own place
	Defaults    map[string]string // a command's own defaults, by key
}

// Load merges the layers and checks every setting. The error joins an [Error],
// [UnknownError] or [ConflictError] for each problem found.
func Load(l Layers) (*Config, error) {
	v := viper.New()
	settings := Settings()
	for _, s := range settings {
		v.SetDefault(s.Key, l.defaultOf(s))
		if err := v.BindEnv(append([]string{s.Key}, s.Env...)...); err != nil {
			return nil, fmt.Errorf("config: bind %s: %w", s.Key, err)
		}
	}
	file, problems := readFile(l.File, settings)
	if err := v.MergeConfigMap(withoutJobs(file)); err != nil {
		return nil, fmt.Errorf("config: merge %s: %w", l.File, err)
	}
	if err := v.MergeConfigMap(l.dotEnv(settings)); err != nil {
		return nil, fmt.Errorf("config: merge %s: %w", l.DotEnvPath, err)
	}
	if l.Flags != nil {
		l.Flags.Visit(func(f *pflag.Flag) {
			if given, ok := f.Value.(*flagValue); ok {
				v.Set(given.key, given.value())
			}
		})
	}

	problems = append(problems, l.checkFound(settings)...)
	c := &Config{origins: make(map[string]Origin), raw: make(map[string]any), ownFile: l.FileOwn}
	var err error
	if c.Jobs, err = jobsOf(file[jobsKey], l.File); err != nil {
		problems = append(problems, err)
	}
	for _, s := range settings {
		o := l.origin(s, file)
		c.origins[s.Key] = o
		if err := c.set(s, v.Get(s.Key), o); err != nil {
			problems = append(problems, err)
		}
	}
	problems = append(problems, c.conflicts()...)
	c.warnings = append(c.warnings, l.unknownVariables(settings)...)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	c.finish()
	return c, nil
}

// LoadFile checks a file alone, against the defaults.
func LoadFile(path string) error {
	settings := Settings()
	file, problems := readFile(path, settings)
	c := &Config{origins: make(map[string]Origin), raw: make(map[string]any)}
	if _, err := jobsOf(file[jobsKey], path); err != nil {
		problems = append(problems, err)
	}
	for _, s := range settings {
		raw, ok := file[strings.ToLower(s.Key)]
		if !ok {
			raw = s.Default
		}
		o := Layers{File: path}.place(s, file)
		c.origins[s.Key] = o
		if err := c.set(s, raw, o); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(append(problems, c.conflicts()...)...)
}

func (l Layers) defaultOf(s Setting) string {
	if d, ok := l.Defaults[s.Key]; ok {
		return d
	}
	return s.Default
}

// dotEnv returns the values of the .env file by lower-case key.
func (l Layers) dotEnv(settings []Setting) map[string]any {
	values := make(map[string]any)
	for _, s := range settings {
		if name := firstSet(s.Env, l.dotEnvLookup); name != "" {
			values[strings.ToLower(s.Key)] = l.DotEnv[name]
		}
	}
	return values
}

func (l Layers) dotEnvLookup(name string) string { return l.DotEnv[name] }

func firstSet(names []string, lookup func(string) string) string {
	for _, name := range names {
		if lookup(name) != "" {
			return name
		}
	}
	return ""
}

// origin names the layer that [Load]'s order lets win.
func (l Layers) origin(s Setting, file map[string]any) Origin {
	if l.Flags != nil {
		// A command may have a flag of its own under the name of a setting's.
		if f := l.Flags.Lookup(s.Flag); f != nil && f.Changed {
			if given, ok := f.Value.(*flagValue); ok && given.key == s.Key {
				return Origin{LayerFlag, "--" + s.Flag}
			}
		}
	}
	if name := firstSet(s.Env, os.Getenv); name != "" {
		return Origin{LayerEnv, name}
	}
	return l.place(s, file)
}

// place is origin without what belongs to the process.
func (l Layers) place(s Setting, file map[string]any) Origin {
	if name := firstSet(s.Env, l.dotEnvLookup); name != "" {
		return Origin{LayerDotEnv, l.DotEnvPath + " " + name}
	}
	if _, ok := file[strings.ToLower(s.Key)]; ok {
		return Origin{LayerFile, l.File}
	}
	return Origin{Layer: LayerDefault}
}

// unknownVariables warns of variables with our prefix that name no setting.
func (l Layers) unknownVariables(settings []Setting) []string {
	known := []string{EnvPrefix + "CONFIG"}
	for _, s := range settings {
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
