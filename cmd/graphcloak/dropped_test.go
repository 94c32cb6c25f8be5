// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
	"github.com/graphcloak/graphcloak/internal/must"
)

// Readings are dropped by a public range that lies below all of them: each is clipped to its upper end, 0,
// and what is released is the noise alone. From one stream of noise everything that is
// published must then be the same for every secret. Within their range readings are added, and it is not.
var dropped, added = []string{"--clip", "-1..0"}, []string{"--clip", "0..1"}

// sources are nodes.csv with signals that have nothing in everyWay but that they are possible.
func sources() (list []string) {
	for _, values := range [][]string{
		{"1", "", "", "", "", "", ""},
		{"", "", "", "", "0.25", "1", ""},
		{"0.5", "0.5", "0.5", "0.5", "0.5", "0.5", "0.5"},
		{"0", "0", "1", "0", "0", "0", "0.001"},
	} {
		list = append(list, table(values...))
	}
	return list
}

// meters are readings that sensors measured.
func meters() []string {
	return []string{
		table("", "", "0.125", "0", "1", "0.75", "0.5"),
		table("", "", "0.9", "0.8", "0.7", "0.6", "0.0001"),
		table("", "", "0", "0", "0", "0", "1"),
	}
}

// unlike are ids, hashes of what holds ids and times, addresses, and the progress that a slow machine logs every second.
var unlike = []*regexp.Regexp{
	regexp.MustCompile(`"(time|startedAt)": ?"[^"]*"`),
	regexp.MustCompile(`"\w*(m|M)illis": ?\d+`),
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`│ (ledgerHead|computeMillis) .*`),
	regexp.MustCompile(`(?m)^\{.*"msg":"progress".*\n`),
	regexp.MustCompile(`[0-9a-f]{64}|[0-9a-f]{24}\.(json|lock|json\.lock)`),
	regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z| UTC)?`),
	regexp.MustCompile(`/[^ "']*/Test(DroppedReadings|NonInterference)[^ "'/]*/\d+`),
	regexp.MustCompile(`(?m)^graphcloak_[a-z_]*(seconds|timestamp)[a-z_]*.*$`),
	regexp.MustCompile(`"(startedAt|endedAt|nominalTime|nextTime|lastTime|leaseUntil|token|attempt)": ?"[^"]*"`),
	regexp.MustCompile(`127\.0\.0\.1:\d+`), regexp.MustCompile(`Millis=\d+`),
	regexp.MustCompile(`data-label="Time taken">[^<]*<`),
}

// published is all that is there to see once do has run with a secret from the start of the stream
// of noise: what do wrote, and every file but the secret's column.
func published(t *testing.T, dir, nodes string, do func(out *bytes.Buffer)) string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		must.Do(t, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	writeGraph(t, filepath.Join(dir, "g"), nodes, "source,target\na,h\nb,h\nh,i\ni,j\nj,k\nk,l\n")
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	cryptotest.SetGlobalRandom(t, 61)
	var out bytes.Buffer
	do(&out)
	show(t, dir, &out)
	text := out.String()
	for _, v := range unlike {
		text = v.ReplaceAllString(text, "")
	}
	return text
}

// show writes every file below a folder, and of nodes.csv what was not there before.
func show(t *testing.T, dir string, out io.Writer) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".db") { // what a database holds commands show
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, path)
		if e.Name() != "nodes.csv" {
			_, err = out.Write(data)
			return err
		}
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		for _, row := range rows {
			fmt.Fprintln(out, row[0], row[3:]) // id, meter, the signal
		}
		return err
	}))
}

// say runs commands and writes their streams and exit codes.
func say(t *testing.T, out *bytes.Buffer, stdin string, commands ...[]string) {
	t.Helper()
	for _, args := range commands {
		code := execute(t.Context(), args, strings.NewReader(stdin), out, out)
		fmt.Fprintln(out, "exit", code)
		if code != exitOK {
			t.Fatalf("%q: exit %d: %s", args, code, out.String())
		}
	}
}

// TestDroppedReadings: what is published is a function of the releases and of public settings, whichever
// way it is published. A positive control shows that the readings would be seen.
func TestDroppedReadings(t *testing.T) {
	source, measured := []string{"--source-property", "signal"}, []string{"--measurement-property", "signal"}
	for name, c := range map[string]struct {
		secrets []string
		signal  []string
		do      func(t *testing.T, dir string, signal []string) func(out *bytes.Buffer)
	}{
		"run":      {sources(), source, runOnce},
		"measured": {meters(), measured, runOnce},
		"job":      {sources(), source, runJob},
		"serve":    {sources(), source, runServer},
		"cloak":    {meters(), measured, runSensors},
		"resume":   {sources(), source, runTwice},
	} {
		t.Run(name, func(t *testing.T) {
			kit(t)
			dir := must.Get(os.Getwd())(t)
			seen := func(secret string, clip []string) string {
				return published(t, dir, secret, c.do(t, dir, slices.Concat(c.signal, clip)))
			}
			first := seen(c.secrets[0], dropped)
			for _, secret := range c.secrets[1:] {
				if other := seen(secret, dropped); other != first {
					t.Errorf("without their readings one secret shows %s", firstDifference(first, other))
				}
			}
			if seen(c.secrets[0], added) == seen(c.secrets[1], added) {
				t.Error("with their readings two secrets show the same: nothing was tested")
			}
		})
	}
}

// firstDifference is the first line that two texts do not share.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for k := range min(len(x), len(y)) {
		if x[k] != y[k] {
			return fmt.Sprintf("%q, another %q, behind %q", x[k], y[k], x[max(0, k-2):k])
		}
	}
	return fmt.Sprintf("%d lines, another %d", len(x), len(y))
}

// everyWay are the settings of all ways.
var everyWay = []string{
	"--from", "folder:g", "--sensor-property", "meter", "--epsilon", "4", "--delta", "0.1", "--tau", "0.5",
	"--verbose",
}

// looks are commands that show what the store's database holds.
func looks() [][]string {
	return [][]string{
		{"budget", "show", "--from", "folder:g"},
		{"budget", "verify", "--from", "folder:g", "--format", "json"},
		{"runs", "list", "--from", "folder:g", "--format", "json"},
	}
}

func runOnce(t *testing.T, _ string, signal []string) func(*bytes.Buffer) {
	return func(out *bytes.Buffer) {
		args := slices.Concat(
			[]string{"run", "--mode", "write", "--format", "json", "--report", "report.html", "-o", "run.json"},
			everyWay, signal)
		say(t, out, "", append([][]string{args}, looks()...)...)
	}
}

// withRoom limits the data, as jobs ask for.
var withRoom = []string{
	"budget", "set", "--from", "folder:g", "--budget-scope", "property=signal", "--create", "--epsilon", "9",
	"--delta", "0.2",
}

// oneJob writes settings with one job.
func oneJob(t *testing.T, signal []string) {
	t.Helper()
	write(t, "night.yaml", "sensorProperty: meter\ntau: 0.5\njobs:\n  - {name: night, schedule: '@yearly', "+
		"sourceProperty: signal, epsilon: 4, delta: 0.1, mode: write, clip: "+signal[3]+"}\n", 0o600)
}

func runJob(t *testing.T, _ string, signal []string) func(*bytes.Buffer) {
	return func(out *bytes.Buffer) {
		jobsOnFolders(t)
		oneJob(t, signal)
		at := []string{"--from", "folder:g", "--config", "night.yaml", "--format", "json"}
		say(t, out, "", withRoom,
			slices.Concat([]string{"job", "run", "night", "--verbose"}, at), slices.Concat([]string{"job", "show", "night"}, at))
		say(t, out, "", looks()...)
	}
}

func runServer(t *testing.T, _ string, signal []string) func(*bytes.Buffer) {
	return func(out *bytes.Buffer) {
		jobsOnFolders(t)
		oneJob(t, signal)
		say(t, out, "", withRoom)
		const token = "0123456789abcdef0123456789abcdef"
		write(t, "token", token+"\n", 0o600)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		said, done := &lockedbuffer.Buffer{}, make(chan int, 1)
		go func() {
			args := []string{
				"serve", "--from", "folder:g", "--config", "night.yaml", "--listen", "127.0.0.1:0", "--token-file", "token",
				"--verbose",
			}
			done <- execute(ctx, args, strings.NewReader(""), io.Discard, said)
		}()
		base := ""
		for base == "" {
			if _, rest, ok := strings.Cut(said.String(), "http://127.0.0.1:"); ok {
				base = "http://127.0.0.1:" + rest[:strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })]
			}
			time.Sleep(5 * time.Millisecond)
		}
		ask := func(method, path string) string {
			r := must.Get(http.NewRequestWithContext(ctx, method, base+path, http.NoBody))(t)
			r.Header.Set("Authorization", "Bearer "+token)
			w := must.Get(http.DefaultClient.Do(r))(t)
			defer w.Body.Close()
			data := must.Get(io.ReadAll(w.Body))(t)
			return fmt.Sprintln(method, path, w.StatusCode, string(data))
		}
		if said := ask("POST", "/jobs/night/run"); !strings.Contains(said, " 200 ") {
			t.Fatal(said)
		}
		deadline := time.Now().Add(5 * time.Minute)
		// A run is finished before its tick is: the pages are read once both are.
		for home := ""; !strings.Contains(home, ">report</a>") || strings.Contains(home, "RUNNING"); home = ask("GET", "/") {
			if time.Sleep(5 * time.Millisecond); time.Now().After(deadline) {
				t.Fatalf("the job was not run: %s", said)
			}
		}
		runID := regexp.MustCompile(`/runs/([^"]*)"`).FindStringSubmatch(ask("GET", "/"))
		for _, path := range []string{"/", "/jobs/night", "/runs/ID", "/metrics"} {
			path = strings.Replace(path, "ID", runID[1], 1)
			out.WriteString(ask("GET", path))
		}
		stop()
		fmt.Fprintln(out, "exit", <-done)
		lines := strings.Split(said.String(), "\n") // of the run and of the pages, in any order
		for k := range lines {
			lines[k] = regexp.MustCompile(`"time":"[^"]*"|Millis":\d+`).ReplaceAllString(lines[k], "")
		}
		slices.Sort(lines)
		fmt.Fprintln(out, strings.Join(slices.Compact(lines), "\n"))
		say(t, out, "", looks()...)
	}
}

// runSensors lets every sensor add its noise itself.
func runSensors(t *testing.T, _ string, signal []string) func(*bytes.Buffer) {
	return func(out *bytes.Buffer) {
		secret := must.Get(os.ReadFile("g/nodes.csv"))(t)
		rows := must.Get(csv.NewReader(bytes.NewReader(secret)).ReadAll())(t)
		say(t, out, "", slices.Concat([]string{"plan", "--trials", "0", "-o", "plan.json", "--sensor-package-dir", "packages"},
			everyWay, signal))
		packages, err := filepath.Glob("packages/*.json")
		if err != nil || len(packages) != 5 {
			t.Fatalf("%q, %v", packages, err)
		}
		var sent bytes.Buffer
		for k, path := range packages {
			reading := `{"releaseId":"1","reading":` + rows[3+k][2] + `}`
			say(t, &sent, reading, []string{"cloak", "--package", path, "--state-dir", fmt.Sprint("sensor", k)})
		}
		out.Write(sent.Bytes())
		lines := regexp.MustCompile(`(?m)^exit 0\n`).ReplaceAllString(sent.String(), "")
		at := slices.Concat(everyWay[:2], everyWay[len(everyWay)-1:])
		say(t, out, lines, append([]string{
			"release", "--plan", "plan.json", "--from-sensors", "-", "--mode", "write", "-o",
			"release.json",
		}, at...))
		say(t, out, "", append([]string{"recover", "--release", "release.json", "--format", "json"}, at...))
		say(t, out, "", looks()...)
	}
}

// runTwice kills a run behind its spend, and lets another process go on with it.
func runTwice(t *testing.T, dir string, signal []string) func(*bytes.Buffer) {
	return func(out *bytes.Buffer) {
		t.Setenv("GRAPH", filepath.Join(dir, "g"))
		id := interrupted(t, unstaged, slices.Concat(everyWay[2:], signal)...)
		t.Chdir(dir)
		show(t, dir, out)
		say(t, out, "", []string{
			"run", "--resume", id, "--from", "folder:" + os.Getenv("GRAPH"), "--format", "json",
			"--verbose",
		})
		say(t, out, "", looks()...)
	}
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
			same(t, dir, what, pair, slices.Concat([]string{"run"}, everyWay, signal, shape))
		}
		verbose := []string{"--from", "folder:g", "--verbose", "--force"}
		planned := slices.Concat([]string{"plan", "--trials", "0", "-o", "plan.json", "--force"}, everyWay)
		same(t, dir, what, pair,
			slices.Concat(planned, signal),
			slices.Concat([]string{"release", "--plan", "plan.json", "--mode", "write"}, signal[:2], verbose),
			slices.Concat([]string{"recover", "--measurement-property", "gcPrivateHeat", "--tau", "0.5", "--mode", "stream"}, verbose[:3]))
	}
}
