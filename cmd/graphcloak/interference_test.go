// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// varying are times, ids made from them, and the hashes that cover ids.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`"(time|startedAt)": ?"[^"]*"`),
	regexp.MustCompile(`"\w*(m|M)illis": ?\d+`),
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`"(ledgerHead|digest|documentDigest|planDigest|releaseDigest)": ?"[0-9a-f]{64}"`),
	regexp.MustCompile(`│ (ledgerHead|computeMillis) .*`),
}

// table is nodes.csv with the signal of each node; a and b are no sensors.
func table(values ...string) string {
	text := "id,meter,signal\n"
	for i, id := range []string{"a", "b", "h", "i", "j", "k", "l"} {
		meter := "1"
		if i < 2 {
			meter = "0"
		}
		text += id + "," + meter + "," + values[i] + "\n"
	}
	return text
}

// interferences are pairs of secrets under which the sensors release the same steps X
// from the same noise: what is seen must be the same.
func interferences() map[string][2]string {
	return map[string][2]string{
		// a and b are mirror images, and no sensor is on either.
		"sources": {table("0.875", "", "0", "", "", "", ""), table("", "0.875", "", "0", "0", "", "")},
		// Beyond the public range [0, 1] all readings are its ends.
		"clipped readings": {table("0.3", "", "1.5", "-3", "-4", "2", "9"), table("", "0.7", "7.25", "-0.5", "-7", "3.5", "1.125")},
		// Two that round to one step of the lattice are one.
		"rounded readings": {
			table("", "", "0.5", "0.25", "0.125", "0.75", "0.5"),
			table("", "", "0.50000000000001", "0.25000000000001", "0.12500000000001", "0.75000000000001", "0.50000000000001"),
		},
	}
}

// same runs commands on both secrets of a pair.
func same(t *testing.T, dir, what string, pair [2]string, commands ...[]string) {
	t.Helper()
	do := func(out *bytes.Buffer) { say(t, out, "", commands...) }
	if first, second := published(t, dir, pair[0], do), published(t, dir, pair[1], do); first != second {
		t.Errorf("%s, %q: the secrets differ in %s", what, commands, firstDifference(first, second))
	}
}

// TestNonInterference: what a run prints, logs and writes is a function of what the
// sensors release and of public settings.
func TestNonInterference(t *testing.T) {
	kit(t)
	dir := must.Get(os.Getwd())(t)
	for what, pair := range interferences() {
		signal := []string{"--source-property", "signal"}
		if what != "sources" {
			signal = []string{"--measurement-property", "signal", "--clip", "0..1"}
		}
		for _, shape := range [][]string{
			{"--format", "json", "--mode", "stream", "--allocation", "uniform"},
			{"--format", "table", "--mode", "write", "--allocation", "optimal"},
			{"--format", "json", "--dry-run"},
		} {
			if what == "rounded readings" && shape[1] == "table" {
				continue // rounded there too
			}
			args := slices.Concat([]string{
				"run", "--from", "folder:g", "--sensor-property", "meter", "--epsilon", "4", "--delta", "0.1", "--tau", "0.5",
				"--verbose",
			}, signal, shape)
			same(t, dir, what, pair, args)
		}
		verbose := []string{"--from", "folder:g", "--verbose", "--force"}
		planned := []string{
			"plan", "--sensor-property", "meter", "--epsilon", "4", "--delta", "0.1", "--tau", "0.5", "--trials", "0",
			"-o", "plan.json",
		}
		same(t, dir, what, pair,
			slices.Concat(planned, signal, verbose),
			slices.Concat([]string{"release", "--plan", "plan.json", "--mode", "write"}, signal[:2], verbose),
			slices.Concat([]string{"recover", "--measurement-property", "gcPrivateHeat", "--tau", "0.5", "--mode", "stream"}, verbose[:3]))
	}
}
