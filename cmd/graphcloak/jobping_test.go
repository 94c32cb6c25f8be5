// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestJobPings: the monitor of a job hears of the start and of the end by the exit
// status; one that is away does not stop the run, and nobody learns the address.
func TestJobPings(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	monitor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/away") {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer monitor.Close()
	graph, settings := hall(t, fmt.Sprintf(`
jobs:
  - {name: good, schedule: "@yearly", sourceProperty: source, epsilon: 0.5, mode: stats, pingUrl: "%[1]s/good-token"}
  - {name: costly, schedule: "@yearly", sourceProperty: source, epsilon: 9, pingUrl: "%[1]s/costly-token"}
  - {name: away, schedule: "@yearly", sourceProperty: source, epsilon: 0.5, mode: stats, pingUrl: "%[1]s/away-token"}
  - {name: address, schedule: "@yearly", sourceProperty: source, pingUrl: "ftp://host/bad-token"}
`, monitor.URL))
	at := func(words ...string) []string { return append(words, "--from", "folder:"+graph, "--config", settings) }
	t.Setenv("GRAPHCLOAK_PING_URL", monitor.URL+"/server-token") // is no job's
	for _, c := range []struct {
		job  string
		exit int
		said string
		want []string
	}{
		{"good", exitOK, "", []string{"/good-token/start", "/good-token"}},
		{"costly", exitBudget, "", []string{"/costly-token/start", "/costly-token/9"}},
		{"away", exitOK, "not told", []string{"/away-token/start", "/away-token/start", "/away-token", "/away-token"}},
		{"address", exitValidation, "pingUrl: ping: the address is no URL", nil},
	} {
		code, said := obey(t, at("job", "run", c.job)...)
		mu.Lock()
		heard := asked
		asked = nil
		mu.Unlock()
		if code != c.exit || !strings.Contains(said, c.said) || !slices.Equal(heard, c.want) {
			t.Errorf("%s: exit %d, want %d; asked for %q, want %q:\n%s", c.job, code, c.exit, heard, c.want, said)
		}
		_, shown := obey(t, at("job", "show", c.job, "--format", "json")...)
		if strings.Contains(said+shown, "-token") {
			t.Errorf("%s: the address is told:\n%s%s", c.job, said, shown)
		}
	}
}
