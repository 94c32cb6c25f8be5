// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// completed are the words that a shell offers, without cobra's last line.
func completed(t *testing.T, args ...string) (words []string, stderr string) {
	t.Helper()
	_, stdout, stderr := called(t, append([]string{"__complete"}, args...)...)
	for line := range strings.Lines(stdout) {
		if !strings.HasPrefix(line, ":") {
			words = append(words, strings.TrimSuffix(line, "\n"))
		}
	}
	return words, stderr
}

// TestCompletion offers what the store has; names that a shell could read as something
// else are not offered.
func TestCompletion(t *testing.T) {
	kit(t)
	t.Setenv("NEO4J_URI", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeGraph(t, "town", "id,labels,wing,\"a;rm -rf $HOME\",\"x`y`\",-v,sick\n1,Place;Old,a,1,1,1,1\n2,Place,b,1,1,1,0\n", "source,target,type,length\n1,2,ROAD,2\n1,2,RAIL,2\n")
	if exit, _, stderr := called(t, "run", "--from", "folder:town", "--source-property", "sick"); exit != exitOK {
		t.Fatal(stderr)
	}
	entries, err := os.ReadDir("town")
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := completed(t, "runs", "show", "--from", "folder:town", "")
	if len(runs) != 1 || len(runs[0]) != 36 {
		t.Fatalf("runs %q, want one", runs)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"run --from folder:town --node-labels ", "Old Place"},
		{"run --from folder:town --node-labels Old,", "Old,Place"},
		{"run --from folder:town --relationship-types RA", "RAIL"},
		{"plan --from folder:town --metric l", "length"},
		{"plan --from folder:town --source-property s", "sick"},
		{"plan --from folder:town --node-key w", "wing"},
		{"plan --from folder:town --node-key a", ""},
		{"plan --from folder:town --node-key x", ""},
		{"plan --from example:net3 --metric d", "diameter"},
		{"plan --from example:", "example:karate example:net3 example:paper-sbm"},
		{"plan --from generate:hy", "generate:hypercube"},
		{"plan --laplacian ", "combinatorial normalized randomWalk"},
		{"run --from folder:town --resume ", runs[0]},
		{"report --from folder:town ", runs[0]},
		{"run --from folder:nowhere --node-labels ", ""},
		{"run --node-labels ", ""},
		{"job show --from folder:town ", ""},
	} {
		args := strings.Split(c.args, " ")
		words, stderr := completed(t, args...)
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
		if strings.Contains(stderr, "Error") || strings.Contains(stderr, "Warning") {
			t.Errorf("%s: the shell gets %q", c.args, stderr)
		}
	}
	for _, name := range []string{"-v", "", "a b", "$HOME", "x\ty"} {
		if isPlainWord(name) {
			t.Errorf("%q is offered", name)
		}
	}
	if after, err := os.ReadDir("town"); err != nil || len(after) != len(entries) {
		t.Errorf("completion wrote something: %v (%v)", after, err)
	}
}

// TestCompletionWithoutAnswer: a server that is silent costs no more than completionTime,
// and neither the password nor why nothing is offered is shown.
func TestCompletionWithoutAnswer(t *testing.T) {
	kit(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("NEO4J_URI", "bolt://"+silent.Addr().String())
	t.Setenv("NEO4J_USERNAME", "me")
	t.Setenv("NEO4J_PASSWORD", "planted-secret")
	done := make(chan string)
	go func() {
		words, stderr := completed(t, "run", "--node-labels", "")
		done <- strings.Join(words, " ") + stderr
	}()
	select {
	case text := <-done:
		if strings.Contains(text, "planted-secret") || strings.Contains(text, "Error") || strings.Contains(text, "answer") {
			t.Errorf("the shell gets %q", text)
		}
	case <-time.After(10 * completionTime):
		t.Error("completion waits for the server")
	}
}
