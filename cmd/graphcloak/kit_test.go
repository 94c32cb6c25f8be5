// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// kit returns an app as RunE sees it, and its two streams.
func kit(t *testing.T, args ...string) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	a = newApp(args, strings.NewReader(""), stdout, stderr)
	cmd := a.withSettings(&cobra.Command{Use: "test"}, nil, config.Groups())
	cmd.Flags().Func("release-id", "", a.nameRelease)
	cmd.SetContext(t.Context())
	must.Do(t, cmd.ParseFlags(args))
	must.Do(t, a.prepare(cmd, nil))
	return a, stdout, stderr
}

// withJobs is a folder beside which a test keeps jobs. What spends, reserves, writes and cancels
// asks for the fence before, where a server does in its transaction.
type withJobs struct {
	*folder.Store
	kept storetest.JobStore
}

func (s withJobs) Jobs() jobs.Store {
	return struct {
		jobs.Claims
		jobs.Board
		jobs.History
	}{s.kept, s.kept, s.History()}
}

func (s withJobs) Ledger() privacy.Ledger { return fencedLedger{s.Store.Ledger(), s.kept} }

type fencedLedger struct {
	privacy.Ledger
	kept storetest.JobStore
}

func (l fencedLedger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	if err := l.kept.Fence(ctx); err != nil {
		return err
	}
	return l.Ledger.Update(ctx, scope, releaseID, rule)
}

func (s withJobs) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if err := s.kept.Fence(ctx); err != nil {
		return err
	}
	return s.Store.Reserve(ctx, g, t, force)
}

func (s withJobs) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if err := s.kept.Fence(ctx); err != nil {
		return err
	}
	return s.Store.Write(ctx, g, t, force)
}

func (s withJobs) Cancel(ctx context.Context, runID string) error {
	if err := s.kept.Fence(ctx); err != nil {
		return err
	}
	return s.Store.Cancel(ctx, runID)
}

func (s withJobs) Undo(ctx context.Context, runID string) (int64, error) {
	if err := s.kept.Fence(ctx); err != nil {
		return 0, err
	}
	return s.Store.Undo(ctx, runID)
}

// jobsOnFolders lets commands run jobs on folders until the test ends: what they do is the same
// on a server, which package integration asks.
func jobsOnFolders(t *testing.T) {
	kept := storetest.NewJobStore()
	folderJobs = func(s graphStore) graphStore { return withJobs{s.(*folder.Store), kept} }
	t.Cleanup(func() { folderJobs = nil })
}

// writeGraph makes a folder with a graph.
func writeGraph(t *testing.T, dir, nodes, relationships string) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o755))
	for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": relationships} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}

// planned opens the store that the settings name, and makes the model and plan of its job.
func planned(t *testing.T, a *app) (graphStore, *graphcloak.Model, *graphcloak.Plan, graphcloak.Job) {
	t.Helper()
	job := must.Get(a.job())(t)
	s := must.Get(a.openStore(t.Context()))(t)
	m := must.Get(a.load(t.Context(), s, job))(t)
	p := must.Get(m.Plan(t.Context(), job.Plan))(t)
	job.RunID = "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11"
	return s, m, p, job
}

// An answer without a certificate is a warning, under --strict exit 10, and so is a proof
// that there is none.
func TestCertified(t *testing.T) {
	gap := 2e-4
	for _, c := range []struct {
		status  string
		args    []string
		exit    int
		warning string
	}{
		{"optimal", []string{"--strict"}, exitOK, ""},
		{"stalled", nil, exitOK, "at a relative gap of 0.0002"},
		{"stalled", []string{"--strict"}, exitNotCertified, ""},
		{"infeasible", nil, exitOK, ""},
		{"infeasible", []string{"--strict"}, exitNotCertified, ""},
	} {
		a, _, stderr := kit(t, c.args...)
		err := a.certified(report.BPDN{Status: c.status, Gap: &gap})
		if exit := a.finish(t.Context(), err); exit != c.exit || !strings.Contains(stderr.String(), c.warning) || c.warning == "" &&
			len(a.warnings) > 0 {
			t.Errorf("%s %v: exit %d, warnings %q, want exit %d and %q", c.status, c.args, exit, a.warnings, c.exit, c.warning)
		}
	}
}

// Every error of a package that the table lists ends with its code and says what
// to do, however it is wrapped.
func TestSentinels(t *testing.T) {
	for _, s := range sentinels() {
		err := fmt.Errorf("read graph: %w", fmt.Errorf("%w: node 7", s.err))
		p := describe(err)
		if p.ExitCode != s.exit || p.Code == "" || p.Suggestion != s.suggestion || p.Retryable != (s.exit == exitTransient) {
			t.Errorf("%v gives %+v, want exit %d", s.err, p, s.exit)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{errors.New("anything"), exitInternal},
		{context.Canceled, exitInterrupt},
		{context.DeadlineExceeded, exitTransient},
		{fs.ErrNotExist, exitNotFound},
		{fs.ErrPermission, exitAuth},
		{fmt.Errorf("x: %w", fail(exitMemory, "too large")), exitMemory},
		{fmt.Errorf("write: %w", syscall.EPIPE), exitInternal}, // perhaps the server's connection
		{errors.Join(fs.ErrNotExist, privacy.ErrExhausted), exitBudget},
		{connector.NotFound("node label", "Persn", []string{"Person"}), exitNotFound},
	} {
		a, stdout, _ := kit(t, "--format", "json")
		if got := a.finish(t.Context(), c.err); got != c.want {
			t.Errorf("%v ends with %d, want %d", c.err, got, c.want)
		}
		var envelope struct{ Error problem }
		if stdout.Len() > 0 && (json.Unmarshal(stdout.Bytes(), &envelope) != nil || envelope.Error.ExitCode != c.want) {
			t.Errorf("%v prints %s", c.err, stdout)
		}
	}
	p := describe(fmt.Errorf("read graph: %w", connector.NotFound("node label", "Persn", []string{"Person"})))
	if p.ResourceType != "node label" || p.ResourceID != "Persn" || p.Suggestion != `did you mean "Person"?` {
		t.Errorf("%+v", p)
	}
}

func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		want   int
	}{{syscall.SIGINT, exitInterrupt}, {syscall.SIGTERM, exitTerminated}} {
		ctx, stop := withSignals(t.Context())
		must.Do(t, syscall.Kill(os.Getpid(), c.signal))
		<-ctx.Done()
		a, _, stderr := kit(t, "--format", "table")
		if got := a.finish(ctx, fail(exitInterrupt, "read edges: %w", ctx.Err()).hint("resume")); got != c.want ||
			!strings.Contains(stderr.String(), "stopped by signal") {
			t.Errorf("%v ends with %d (%s), want %d", c.signal, got, stderr, c.want)
		}
		stop()
	}
}

// Where a release is spent, the way on is not to run again.
func TestSpentIsNotTriedAgain(t *testing.T) {
	a, stdout, stderr := kit(t, "--format", "json")
	spent := fail(exitTransient, "write back: %w", context.DeadlineExceeded).hint("resume it").about("run", "r1")
	if got := a.finish(t.Context(), spent); got != exitTransient || !strings.Contains(stderr.String(), "resume it") ||
		!strings.Contains(stdout.String(), `"retryable": false`) {
		t.Errorf("after a spend: exit %d: %s%s", got, stdout, stderr)
	}
}

// Work that does not look at its context cannot hold up Ctrl-C. The clock is that of a test.
func TestStubbornWorkIsLeft(t *testing.T) { synctest.Test(t, stubborn) }

func stubborn(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	var stdout, stderr bytes.Buffer
	a := newApp([]string{"stubborn"}, strings.NewReader(""), &stdout, &stderr)
	started := make(chan struct{})
	root := newRootCommand(a)
	root.AddCommand(a.withSettings(&cobra.Command{
		Use:         "stubborn",
		Annotations: map[string]string{flagsOnly: "true"},
		RunE:        func(*cobra.Command, []string) error { close(started); <-release; return nil },
	}, nil, nil, config.GroupExecution))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-started
		cancel(signalError{syscall.SIGINT})
	}()
	begin := time.Now()
	if got := a.execute(ctx, root); got != exitInterrupt {
		t.Errorf("it ends with %d (%s), want %d", got, &stderr, exitInterrupt)
	}
	if took := time.Since(begin); took != grace {
		t.Errorf("it ends after %v, want %v", took, grace)
	}
}

// A fault of the program is an internal error, not Go's exit status 2, which
// says that something may have been spent.
func TestFault(t *testing.T) {
	var stderr bytes.Buffer
	code := execute(t.Context(), []string{"version"}, strings.NewReader(""), new(faulty), &stderr)
	if code != exitInternal || !strings.Contains(stderr.String(), "internal error: broken stream") {
		t.Errorf("exit %d: %s", code, &stderr)
	}
}

// faulty panics at the first write.
type faulty struct{ used bool }

func (f *faulty) Write(p []byte) (int, error) {
	if !f.used {
		f.used = true
		panic("broken stream")
	}
	return len(p), nil
}

func TestStrictAfterWarnings(t *testing.T) {
	a, _, stderr := kit(t, "--strict", "--quiet")
	a.warn("careful")
	if got := a.finish(t.Context(), nil); got != exitWarnings || stderr.Len() > 0 {
		t.Errorf("exit %d with %q on stderr", got, stderr)
	}
}

// Without --force a file that appears meanwhile stays, with it it is replaced.
func TestCreate(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
		exit int
	}{{nil, "theirs", exitConflict}, {[]string{"--force"}, "ours", exitOK}} {
		a, _, _ := kit(t, c.args...)
		err := a.create("f", func(w io.Writer) error {
			_, err := io.WriteString(w, "ours")
			return errors.Join(err, os.WriteFile("f", []byte("theirs"), 0o600))
		})
		if text, _ := os.ReadFile("f"); (err != nil || c.exit != exitOK) && exitCode(err) != c.exit || string(text) != c.want {
			t.Errorf("%q: %v; the file holds %q", c.args, err, text)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Setenv("NEO4J_PASSWORD", "")
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{[]string{"-u", "me", "--password-file", write("p", " sp ace \r\nsecond\n")}, "", " sp ace "},
		{[]string{"-u", "me", "--password-file", "-"}, "from stdin\nrest", "from stdin"},
		{[]string{"-u", "me"}, "not asked", ""},
		{nil, "", ""},
		{[]string{"-u", "me", "--password-file", write("empty", "")}, "", ""},
	} {
		a, _, stderr := kit(t, c.args...)
		a.stdin = strings.NewReader(c.stdin)
		_, password, err := a.credentials(t.Context())
		if password != c.want || (err == nil) != (c.want != "") || err != nil && exitCode(err) != exitUsage {
			t.Errorf("%q gives %q, %v", c.args, password, err)
		}
		if stderr.Len() > 0 {
			t.Errorf("%q prints %q", c.args, stderr)
		}
	}
}

func TestLogForm(t *testing.T) {
	a, _, stderr := kit(t, "--verbose")
	a.progress("diffuse", 1, 2)
	a.progress("release", 0, 0)
	a.console.Stop()
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("log: %s", stderr)
	}
	var entry map[string]any
	must.Do(t, json.Unmarshal([]byte(lines[0]), &entry))
	if _, ok := entry["durationMillis"].(float64); !ok || entry["phase"] != "diffuse" || !strings.HasSuffix(entry["time"].(string), "Z") {
		t.Errorf("log: %s", lines[0])
	}
	if few, _, _ := kit(t); few.log.Enabled(t.Context(), slog.LevelInfo) {
		t.Error("without --verbose the log holds more than warnings")
	}
}
