// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
	"github.com/graphcloak/graphcloak/internal/must"
)

// hall makes a folder with a graph whose data has a cap, and a file of jobs.
func hall(t *testing.T, jobs string) (dir, settings string) {
	t.Helper()
	jobsOnFolders(t)
	dir = t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", dir)
	graph := filepath.Join(dir, "hall")
	for _, args := range [][]string{
		{"graph", "generate", "example:karate", graph},
		{
			"budget", "set", "--from", "folder:" + graph, "--budget-scope", "property=source", "--create", "--epsilon", "2",
			"--delta", "1e-5",
		},
	} {
		succeeds(t, args...)
	}
	settings = filepath.Join(dir, "night.yaml")
	write(t, settings, jobs, 0o600)
	return graph, settings
}

func obey(t *testing.T, args ...string) (int, string) {
	t.Helper()
	code, stdout, stderr := called(t, args...)
	return code, stdout + stderr
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), mode))
	must.Do(t, os.Chmod(path, mode))
}

const nightJobs = `
jobs:
  - {name: often, schedule: "@every 1s", sourceProperty: source, epsilon: 0.5, mode: stats}
  - {name: costly, schedule: "@yearly", sourceProperty: source, epsilon: 9}
  - {name: paused, schedule: "@every 1s", sourceProperty: source, paused: true}
  - {name: line, schedule: at night, sourceProperty: source}
  - {name: zone, schedule: "@daily", timeZone: Mars/Olympus, sourceProperty: source}
  - {name: key, schedule: "@daily", sourceProperty: source, epsilom: 3}
  - {name: type, schedule: "@daily", sourceProperty: source, epsilon: much}
  - {name: nothing, schedule: "@daily"}
  - {schedule: "@daily", sourceProperty: source}
`

// TestJobCommands: each job that is wrong is named, one that is due by hand is run once,
// and one whose budget is spent waits.
func TestJobCommands(t *testing.T) {
	graph, settings := hall(t, nightJobs)
	at := func(words ...string) []string { return append(words, "--from", "folder:"+graph, "--config", settings) }
	code, said := obey(t, at("job", "list", "--format", "json")...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, said)
	}
	for _, want := range []string{
		"no cron expression", "Mars/Olympus", "did you mean epsilon?",
		`epsilon is \"much\" (job type)`, "nothing to release", `name \"\"`, `"jobs[8]"`, "PAUSED", "PENDING",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the list does not say %s:\n%s", want, said)
		}
	}
	for _, c := range []struct {
		words []string
		exit  int
		want  string
	}{
		{[]string{"job", "run", "often"}, exitOK, `"FINISHED"`},
		{[]string{"job", "run", "often"}, exitOK, `"warning":"the answer will be right`},
		{[]string{"job", "show", "often"}, exitOK, "Warned before it spent: the answer will be right"},
		{[]string{"runs", "list", "--job", "often"}, exitOK, "Warned before it spent: the answer will be right"},
		{[]string{"job", "run", "paused"}, exitOK, `"FINISHED"`},
		{[]string{"job", "run", "costly"}, exitBudget, "ρ"},
		{[]string{"job", "show", "costly"}, exitOK, `"OVER_BUDGET"`},
		{[]string{"job", "list"}, exitOK, "no waiting helps: use a smaller --epsilon"},
		{[]string{"runs", "list", "--status", "over_budget"}, exitOK, "no waiting helps: use a smaller --epsilon"},
		{[]string{"job", "show", "often"}, exitOK, `"attempts": 1`},
		{[]string{"job", "run", "line"}, exitConflict, `"message": "the job cannot run as it is: line: schedule`},
		{[]string{"job", "run", "oftn"}, exitNotFound, "did you mean often?"},
		{[]string{"job", "pause", "often"}, exitOK, `"PAUSED"`},
		{[]string{"job", "resume", "often"}, exitOK, `"paused": false`},
		{[]string{"job", "resume", "paused"}, exitConflict, "settings"},
		{[]string{"job", "cancel", "often"}, exitNotFound, `"message": "job \"often\" has no run under way"`},
		{[]string{"job", "show"}, exitUsage, "takes NAME, and was given none"},
	} {
		if code, said := obey(t, at(append(c.words, "--format", "json")...)...); code != c.exit || !strings.Contains(said, c.want) {
			t.Errorf("%v: exit %d, want %d with %s:\n%s", c.words, code, c.exit, c.want, said)
		}
	}
	if _, said := obey(t, "budget", "show", "--from", "folder:"+graph, "--format", "json"); !strings.Contains(said, `"releases": 3`) {
		t.Errorf("the three runs are not three releases: %s", said)
	}
}

// TestValidateJobs names every job of a file that could not run.
func TestValidateJobs(t *testing.T) {
	_, settings := hall(t, nightJobs)
	code, said := obey(t, "config", "validate", settings)
	if code != exitValidation {
		t.Errorf("exit %d", code)
	}
	for i := range 9 {
		if named := strings.Contains(said, fmt.Sprintf("jobs[%d]: ", i)); named != (i > 2) {
			t.Errorf("job %d is named: %v", i, named)
		}
	}
	_, settings = hall(t, "jobs:\n  - {name: a, schedule: '@daily', sourceProperty: source}\n")
	succeeds(t, "config", "validate", settings)
}

// TestJobsWantAServer: what runs jobs says of a folder what does, before it does anything.
func TestJobsWantAServer(t *testing.T) {
	graph, settings := hall(t, nightJobs)
	folderJobs = nil
	state := os.Getenv("XDG_STATE_HOME")
	must.Do(t, os.RemoveAll(state))
	for _, words := range []string{
		"serve --listen :0", "job list", "job show often", "job run often", "job pause often",
		"job resume often", "job cancel often",
	} {
		code, said := obey(t, append(strings.Fields(words), "--from", "folder:"+graph, "--config", settings)...)
		if code != exitUsage || !strings.Contains(said, "jobs run on a Neo4j server, and not on folder:") ||
			!strings.Contains(said, "--uri") || !strings.Contains(said, "--once-per") {
			t.Errorf("%s: exit %d: %s", words, code, said)
		}
	}
	if _, err := os.Stat(state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was done before: %v", err)
	}
	write(t, settings, "from: folder:"+graph+"\njobs:\n  - {name: a, schedule: '@daily', sourceProperty: source}\n", 0o600)
	if code, said := obey(t, "config", "validate", settings); code != exitUsage || !strings.Contains(said, "jobs run on a Neo4j server") {
		t.Errorf("config validate: exit %d: %s", code, said)
	}
}

// TestServeRefuses: what would open the server to others, or cannot be, is named before
// anything else is done.
func TestServeRefuses(t *testing.T) {
	graph, settings := hall(t, nightJobs)
	dir := t.TempDir()
	token, open, short := filepath.Join(dir, "token"), filepath.Join(dir, "open"), filepath.Join(dir, "short")
	write(t, token, "0123456789abcdef0123456789abcdef\n", 0o600)
	write(t, open, "0123456789abcdef0123456789abcdef\n", 0o640)
	write(t, short, "secret\n", 0o600)
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for _, c := range []struct {
		flags []string
		exit  int
		want  string
	}{
		{[]string{"--listen", taken.Addr().String()}, exitConflict, "is in use"},
		{[]string{"--listen", ":0"}, exitUsage, "there is no token"},
		{[]string{"--listen", "0.0.0.0:0", "--token-file", token}, exitUsage, "nothing is encrypted"},
		{[]string{"--token-file", open}, exitValidation, "others can read it"},
		{[]string{"--token-file", short}, exitValidation, "not a valid token"},
		{[]string{"--token-file", filepath.Join(dir, "none")}, exitNotFound, "none"},
		{[]string{"--tls-certificate", token}, exitNotFound, "token.key"},
		{[]string{"--tls-certificate", settings}, exitNotFound, ".key"},
		{[]string{"--listen", "8473"}, exitUsage, "HOST:PORT"},
		{[]string{"--listen", "192.0.2.1:1", "--token-file", token, "--tls-certificate", "none"}, exitValidation, "cannot listen"},
	} {
		code, said := obey(t, append([]string{"serve", "--from", "folder:" + graph, "--config", settings}, c.flags...)...)
		if code != c.exit || !strings.Contains(said, c.want) {
			t.Errorf("%v: exit %d, want %d with %q:\n%s", c.flags, code, c.exit, c.want, said)
		}
		if strings.Contains(said, "0123456789abcdef") || strings.Contains(said, "secret") {
			t.Errorf("%v tells the token", c.flags)
		}
	}
}

// TestServeOverTLS: the server answers anyone who has the token over TLS, and ends in order with code 0. What it runs
// TestDroppedReadings asks.
func TestServeOverTLS(t *testing.T) {
	graph, settings := hall(t, nightJobs)
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	write(t, token, "0123456789abcdef0123456789abcdef\n", 0o600)
	pool := certificate(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, done := &lockedbuffer.Buffer{}, make(chan int, 1)
	go func() {
		done <- execute(ctx, []string{
			"serve", "--from", "folder:" + graph, "--config", settings, "--token-file", token, "--listen", "127.0.0.1:0",
			"--tls-certificate", filepath.Join(dir, "tls.crt"),
		}, strings.NewReader(""), io.Discard, said)
	}()
	address := ""
	for range 30_000 {
		if _, rest, ok := strings.Cut(said.String(), "https://"); ok {
			address, _, _ = strings.Cut(rest, " ")
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+address+"/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	w, err := client.Do(r)
	if err != nil {
		t.Fatalf("%v; the server said: %s", err, said)
	}
	page, err := io.ReadAll(w.Body)
	w.Body.Close()
	if err != nil || !strings.Contains(string(page), `<a href="/jobs/often">often</a></td>`) {
		t.Errorf("the page is %q, %v", page, err)
	}
	stop()
	if code := <-done; code != exitOK {
		t.Errorf("exit %d: %s", code, said)
	}
	if strings.Contains(said.String(), "0123456789abcdef") {
		t.Error("the log tells the token")
	}
}

// certificate writes cert.pem and key.pem of 127.0.0.1, and returns who trusts them.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, form, form, key.Public(), key))(t)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	write(t, filepath.Join(dir, "tls.crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), 0o600)
	write(t, filepath.Join(dir, "tls.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})), 0o600)
	pool := x509.NewCertPool()
	made := must.Get(x509.ParseCertificate(der))(t)
	pool.AddCert(made)
	return pool
}

// TestJobNeedsACap: a job does not spend from data that nothing limits, and says so, with
// the command that limits it.
func TestJobNeedsACap(t *testing.T) {
	const limit = "limit it first: `graphcloak budget set --create --budget-scope property=elsewhere "
	graph, settings := hall(t, "jobs:\n  - {name: a, schedule: '@daily', sourceProperty: elsewhere}\n"+
		"  - {name: b, schedule: '@daily', sourceProperty: source}\n")
	nodes := filepath.Join(graph, "nodes.csv")
	text := must.Get(os.ReadFile(nodes))(t)
	write(t, nodes, regexp.MustCompile(`(?m)(,[01])$`).ReplaceAllString(strings.Replace(string(text), ",source", ",source,elsewhere", 1),
		"$1$1"), 0o600)
	code, said := obey(t, "job", "run", "a", "--from", "folder:"+graph, "--config", settings)
	if code != exitBudget || !strings.Contains(said, "elsewhere") || !strings.Contains(said, "Hint: "+limit) {
		t.Errorf("exit %d: %s", code, said)
	}
	for _, words := range [][]string{{"job", "list"}, {"job", "show", "a"}, {"runs", "list"}} {
		if _, said := obey(t, append(words, "--from", "folder:"+graph, "--config", settings)...); !strings.Contains(said, limit) {
			t.Errorf("%v does not say what to do: %s", words, said)
		}
	}
}
