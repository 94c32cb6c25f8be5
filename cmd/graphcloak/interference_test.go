// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
)

// varying are times, ids made from them, and the hashes that cover ids.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`"(time|startedAt)": ?"[^"]*"`),
	regexp.MustCompile(`"\w*(m|M)illis": ?\d+`),
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`"(ledgerHead|digest|documentDigest|planDigest|releaseDigest)": ?"[0-9a-f]{64}"`),
	regexp.MustCompile(`│ (ledgerHead|computeMillis) .*`),
}

// seen is what everybody may see of commands: their streams and the columns that they
// wrote, without what varies between two runs of one input.
func seen(t *testing.T, dir, nodes string, commands ...[]string) string {
	t.Helper()
	state := filepath.Join(dir, "state")
	for _, d := range []string{state, filepath.Join(dir, "g")} {
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "g"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": "source,target\na,h\nb,h\nh,i\ni,j\nj,k\nk,l\n"} {
		if err := os.WriteFile(filepath.Join(dir, "g", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_STATE_HOME", state)
	cryptotest.SetGlobalRandom(t, 61)
	var out bytes.Buffer
	for _, args := range commands {
		if code := execute(t.Context(), args, strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, out.String())
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "g", "nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		fmt.Fprintln(&out, row[0], row[3:]) // what was there before: id, meter, the signal
	}
	text := out.String()
	for _, v := range varying {
		text = v.ReplaceAllString(text, "")
	}
	return text
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
	if first, second := seen(t, dir, pair[0], commands...), seen(t, dir, pair[1], commands...); first != second {
		t.Errorf("%s, %q: one secret shows\n%s\nand the other\n%s", what, commands, first, second)
	}
}

// TestNonInterference: what a run prints, logs and writes is a function of what the
// sensors release and of public settings.
func TestNonInterference(t *testing.T) {
	kit(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
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
