// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestCheckCredentials tries every pair of layers: a password is refused where its
// address comes from another hand, and only there.
func TestCheckCredentials(t *testing.T) {
	const uri = "bolt://h:1"
	addresses := []string{"flag", "environment", ".env", "own file", "named file", "default"}
	passwords := []string{"environment", ".env", "own passwordFile", "named passwordFile", "stdin", "none"}
	caller := func(layer string) bool {
		return layer == "flag" || layer == "environment" || layer == "stdin" || strings.HasPrefix(layer, "own")
	}
	for _, address := range addresses {
		for _, password := range passwords {
			own, named := strings.HasPrefix(address+password, "own") || strings.HasPrefix(password, "own"),
				strings.HasPrefix(address, "named") || strings.HasPrefix(password, "named")
			if own && named {
				continue // there is one file of settings
			}
			t.Run(address+" "+password, func(t *testing.T) {
				for _, name := range []string{"NEO4J_URI", "NEO4J_ADDRESS", "NEO4J_PASSWORD"} {
					t.Setenv(name, "")
				}
				flags := pflag.NewFlagSet("", pflag.ContinueOnError)
				config.AddFlags(flags, nil, config.GroupConnection)
				l := config.Layers{Flags: flags, DotEnv: map[string]string{}, DotEnvPath: ".env", FileOwn: own}
				var args, file []string
				switch address {
				case "flag":
					args = append(args, "--uri", uri)
				case "environment":
					t.Setenv("NEO4J_URI", uri)
				case ".env":
					l.DotEnv["NEO4J_URI"] = uri
				case "own file", "named file":
					file = append(file, "neo4jUri: "+uri)
				}
				switch password {
				case "environment":
					t.Setenv("NEO4J_PASSWORD", "secret")
				case ".env":
					l.DotEnv["NEO4J_PASSWORD"] = "secret"
				case "own passwordFile", "named passwordFile":
					file = append(file, "passwordFile: /p")
				case "stdin":
					args = append(args, "--password-file", "-")
				}
				if file != nil {
					l.File = filepath.Join(t.TempDir(), "c.yaml")
					must.Do(t, os.WriteFile(l.File, []byte(strings.Join(file, "\n")), 0o600))
				}
				must.Do(t, flags.Parse(args))
				c := must.Get(config.Load(l))(t)
				fine := address == "flag" || address == "default" || password == "none" ||
					caller(address) && caller(password) || strings.Fields(address)[0] == strings.Fields(password)[0]
				split, refused := errors.AsType[*config.SplitError](c.CheckCredentials())
				if refused == fine {
					t.Errorf("refused: %v, want %v", refused, !fine)
				}
				if refused && (strings.Contains(split.Error(), "secret") || split.Address == split.Password) {
					t.Errorf("%v", split)
				}
			})
		}
	}
}

// A .env that nobody named sets the connection; it decides nothing else.
func TestFoundDotEnv(t *testing.T) {
	for _, s := range config.Settings() {
		value := map[string]string{"number": "0.5", "integer": "1", "boolean": "true", "duration": "1s"}[s.Type()]
		if value == "" {
			value = "x"
		}
		if s.Values != nil {
			value = s.Values[0]
		}
		connection := map[string]string{"neo4jUri": "bolt://h", "neo4jUsername": "u", "neo4jPassword": "p", "neo4jDatabase": "d"}
		if own, ok := connection[s.Key]; ok {
			value = own
		}
		_, err := config.Load(config.Layers{DotEnv: map[string]string{s.Env[0]: value}, DotEnvPath: ".env", DotEnvFound: true})
		found := false
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				_, is := errors.AsType[*config.FoundError](e)
				found = found || is
			}
		}
		if _, ok := connection[s.Key]; ok == found || ok && err != nil {
			t.Errorf("%s: %v", s.Key, err)
		}
	}
}
