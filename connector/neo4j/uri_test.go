// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
)

func TestParseURI(t *testing.T) {
	for _, test := range []struct{ uri, driver, name string }{
		{"", "neo4j://localhost:7687", "neo4j://localhost:7687"},
		{"bolt://127.0.0.1:7688", "bolt://127.0.0.1:7688", "neo4j://localhost:7688"},
		{"db.example.com", "neo4j://db.example.com:7687", "neo4j://db.example.com:7687"},
		{"neo4j+s://DB.example.com", "neo4j+s://DB.example.com:7687", "neo4j://db.example.com:7687"},
		{"bolt+ssc://[::1]:9", "bolt+ssc://[::1]:9", "neo4j://localhost:9"},
	} {
		a, err := parseURI(test.uri)
		if err != nil {
			t.Errorf("%q: %v", test.uri, err)
			continue
		}
		if a.uri != test.driver || a.name != test.name {
			t.Errorf("%q: %q named %q, want %q named %q", test.uri, a.uri, a.name, test.driver, test.name)
		}
	}
	for _, bad := range []string{
		"ftp://localhost", "neo4j://", "neo4j://user:secret@host", "neo4j://host:port",
		"http://localhost:7474/browser", "https://abc.databases.neo4j.io", "HTTP://localhost",
	} {
		if _, err := parseURI(bad); !errors.Is(err, connector.ErrInput) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want ErrInput without the password", bad, err)
		}
	}
}

func TestSupportedVersions(t *testing.T) {
	for text, want := range map[string]bool{
		"5.26.0": true, "5.25.1": false, "4.4.40": false, "2026.08.1": true,
		"6.0-SNAPSHOT": true, "5.26-aura": true, "": false,
	} {
		if got := parseVersion(text).check() == nil; got != want {
			t.Errorf("%q supported: %v, want %v", text, got, want)
		}
	}
}
