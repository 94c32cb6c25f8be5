// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
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

// TestCompletion offers the words that the program knows by itself.
func TestCompletion(t *testing.T) {
	kit(t)
	for _, c := range []struct {
		args string
		want string
	}{
		{"plan --from example:", "example:karate example:net3 example:paper-sbm"},
		{"plan --from generate:hy", "generate:hypercube"},
		{"plan --laplacian ", "combinatorial normalized randomWalk"},
		{"run --node-labels ", ""},
	} {
		words, stderr := completed(t, strings.Split(c.args, " ")...)
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
		if strings.Contains(stderr, "Error") || strings.Contains(stderr, "Warning") {
			t.Errorf("%s: the shell gets %q", c.args, stderr)
		}
	}
}
