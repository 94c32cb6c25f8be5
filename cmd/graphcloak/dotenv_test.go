// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/config"
)

// FuzzDotEnv reads any text as a .env: only names of ours are taken, each value
// from one line of it, and what is written back in quotes is read again.
func FuzzDotEnv(f *testing.F) {
	for _, text := range []string{
		"", "NEO4J_URI=bolt://h:1\nNEO4J_PASSWORD='a # b' # c\n", "\ufeffexport NEO4J_URI = \"x\r\n", "NEO4J_=\nGRAPHCLOAK_TAU=\"1\"2\n",
		"NEO4J_PASSWORD=a\x00b\n", "NEO4J_PASSWORD=\xff\xfe\n=\n==\nexport =1\n", "NEO4J_URI='\nNEO4J_URI=x'\n", "NEO4J_PASSWORD=$(id) #\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, value := range parseDotEnv(text) {
			if !strings.HasPrefix(name, "NEO4J_") && !strings.HasPrefix(name, config.EnvPrefix) || strings.ContainsAny(name+value, "\n") {
				t.Errorf("%q = %q", name, value)
			}
			if !strings.Contains(text, value) {
				t.Errorf("%q is nowhere in the text", value)
			}
			if strings.ContainsAny(value, "'") || strings.ContainsAny(name, " \r\t=#") {
				continue
			}
			if again := parseDotEnv(name + "='" + value + "'")[name]; again != value {
				t.Errorf("%q is read back as %q", value, again)
			}
		}
	})
}
