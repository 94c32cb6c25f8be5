// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	coldTime = 0
	if os.Getenv(seedVariable) != "" {
		os.Exit(m.Run())
	}
	testscript.Main(m, map[string]func(){"graphcloak": main})
}

// TestScripts runs the command as a process, in a folder of its own, without a
// terminal and without a Neo4j. Each file in testdata/script says what is shown.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "xdg"))
			return os.Mkdir(filepath.Join(env.WorkDir, "xdg"), 0o700)
		},
	})
}
