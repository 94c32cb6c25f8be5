// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
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
			if !strings.HasPrefix(name, "NEO4J_") && !strings.HasPrefix(name, EnvPrefix) || strings.ContainsAny(name+value, "\n") {
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

func TestDotEnv(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".env")
	text := "\ufeff# comment\nOTHER='multi\nline' $(x)\nNEO4J_URI = bolt://h:1 # here\nexport NEO4J_USERNAME=\"me\"\r\n" +
		"NEO4J_PASSWORD='a # b\"$HOME=c' # note\nGRAPHCLOAK_TAU=3\nNEO4J_DATABASE=\"open\nNEO4J_ADDRESS\n"
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	got, shared, err := ReadDotEnv(path)
	want := map[string]string{
		"NEO4J_URI": "bolt://h:1", "NEO4J_USERNAME": "me", "NEO4J_PASSWORD": `a # b"$HOME=c`, "GRAPHCLOAK_TAU": "3",
		"NEO4J_DATABASE": `"open`,
	}
	if err != nil || !maps.Equal(got, want) || shared != "" {
		t.Errorf("%q, %q, %v, want %q", got, shared, err, want)
	}
}
