// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// Exit codes: those of neo4j-cli and more, but for usage, which is 64 as in sysexits.h: Go
// ends a program that broke with 2, and that may be after a spend.
const (
	exitOK         = 0
	exitInternal   = 1
	exitBroken     = 2 // Go's own: out of memory, SIGQUIT, a fatal error
	exitNotFound   = 3 // label, type, property, database, run, file
	exitAuth       = 4 // credentials or rights; database read-only
	exitConflict   = 5 // property or file exists, run in progress, graph changed
	exitValidation = 6 // a value or the data is not acceptable
	// 7, which is neo4j-cli's for a limited rate, is never returned.
	exitTransient    = 8  // server away or busy, timeout: trying again may help
	exitBudget       = 9  // privacy budget would be exceeded; nothing was released
	exitNotCertified = 10 // under --strict: recovery without a certificate, or infeasible
	exitMemory       = 11 // memory guard
	exitWarnings     = 12 // done, with warnings, under --strict
	exitUnfinished   = 13 // budget is or may be spent, and the run is unfinished: resume it
	exitUsage        = 64 // unknown command, flag, or word where one of a few is wanted
	exitInterrupt    = 130
	exitTerminated   = 143
)

// codeNames are the machine-readable names in the JSON of a failure.
func codeName(exit int) string {
	return map[int]string{
		exitUsage: "usage", exitNotFound: "not_found", exitAuth: "auth", exitConflict: "conflict",
		exitValidation: "validation", exitTransient: "transient",
		exitBudget: "budget_exceeded", exitNotCertified: "not_certified", exitMemory: "memory",
		exitWarnings: "warnings", exitUnfinished: "unfinished", exitInterrupt: "interrupted", exitTerminated: "terminated",
		exitInternal: "internal",
	}[exit]
}

// failure is an error with an exit code, and what to do about it.
type failure struct {
	exit                     int
	err                      error
	suggestion               string
	resourceType, resourceID string
}

// fail makes an error that ends the command with an exit code. The format may
// wrap an error with %w.
func fail(exit int, format string, args ...any) *failure {
	return &failure{exit: exit, err: fmt.Errorf(format, args...)}
}

// hint adds what the user can do.
func (f *failure) hint(format string, args ...any) *failure {
	f.suggestion = fmt.Sprintf(format, args...)
	return f
}

// about names what the error is about, such as a label.
func (f *failure) about(resourceType, resourceID string) *failure {
	f.resourceType, f.resourceID = resourceType, resourceID
	return f
}

func (f *failure) Error() string      { return f.err.Error() }
func (f *failure) Unwrap() error      { return f.err }
func (f *failure) Suggestion() string { return f.suggestion }

// Resource returns what the error is about.
func (f *failure) Resource() (resourceType, resourceID string) { return f.resourceType, f.resourceID }

// exitCode returns the code that an error ends the command with.
func exitCode(err error) int {
	if s, ok := errors.AsType[signalError](err); ok {
		return 128 + int(s.signal)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.exit
	}
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			return s.exit
		}
	}
	if exit := configExit(err); exit != exitOK {
		return exit
	}
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupt
	case errors.Is(err, context.DeadlineExceeded):
		return exitTransient
	case errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case errors.Is(err, fs.ErrPermission):
		return exitAuth
	case errors.Is(err, fs.ErrExist):
		return exitConflict
	case isFileError(err):
		return exitValidation
	}
	return exitInternal
}

// isFileError reports whether the cause is a file or its disk: a folder where a file is
// wanted, a name too long, a disk that is full or read-only.
func isFileError(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}

// configExit is usage where what was typed is refused, a flag's value or flags that
// exclude each other, else validation: a file or the environment is to be fixed.
func configExit(err error) int {
	exit := exitOK
	for _, e := range flatten(err) {
		switch e := e.(type) {
		case *config.Error:
			if e.Origin.Layer == config.LayerFlag {
				return exitUsage
			}
			exit = exitValidation
		case *config.ConflictError:
			if !slices.ContainsFunc(e.Origins, func(o config.Origin) bool { return o.Layer != config.LayerFlag }) {
				return exitUsage
			}
			exit = exitValidation
		case *config.UnknownError, *config.SyntaxError, *config.SplitError, *config.FoundError:
			exit = exitValidation
		}
	}
	return exit
}

// flatten lists the members of a joined error.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, flatten(e)...)
	}
	return list
}

// problem is the JSON of a failure.
type problem struct {
	Code         string `json:"code"`
	ExitCode     int    `json:"exit_code"`
	Message      string `json:"message"`
	Suggestion   string `json:"suggestion,omitempty"`
	ResourceType string `json:"resource_type,omitempty"`
	ResourceID   string `json:"resource_id,omitempty"`
	Retryable    bool   `json:"retryable"`
	RetryAt      string `json:"retry_at,omitempty"` // before, it is of no use
}

// finish reports how the command ended and returns its exit code.
func (a *app) finish(ctx context.Context, err error) int {
	if err == nil {
		if a.config != nil && a.config.Execution.Strict && len(a.warnings) > 0 {
			return exitWarnings
		}
		return exitOK
	}
	err = a.found(err)
	err = a.withRun(a.stopped(ctx, err), err)
	p := describe(err)
	lines := messages(err)
	if a.format() == "json" || a.format() == "ndjson" {
		if !a.rendered { // one document on standard output
			a.printProblem(p)
		}
		lines = []string{strings.Join(lines, "; ")}
	}
	a.printError(lines, p)
	return p.ExitCode
}

// withRun adds how to go on where a run was begun and not ended, and where another
// run is in the way. A signal keeps its exit code. why is the error before a signal or
// --timeout took its place.
func (a *app) withRun(err, why error) error {
	begun, ours := errors.AsType[*graphcloak.UnfinishedError](why)
	if e, ok := errors.AsType[*connector.UnfinishedError](why); ok && !ours {
		return explainBlockingRun(e, err)
	}
	id := a.unfinishedRun()
	if f, ok := errors.AsType[*failure](err); id == "" || ok && f.resourceType == "run" {
		return err
	}
	spent := run.MaySpent
	if ours {
		spent = begun.Spent
	}
	if _, said := errors.AsType[*graphcloak.UnfinishedError](err); !said {
		err = fmt.Errorf("run %s is unfinished, %v: %w", id, spent, err)
	}
	exit, hint := exitUnfinished, "the same command again, or `graphcloak run --resume %s` with "+a.sameStore()+
		", goes on with it; nothing is spent twice"
	if code := exitCode(err); code == exitInterrupt || code == exitTerminated {
		exit = code
	}
	if spent == run.NotSpent {
		exit, hint = exitCode(err), "`graphcloak run --resume %s` with "+a.sameStore()+" takes its reservation back"
	}
	return fail(exit, "%w", err).hint(hint, id).about("run", id)
}

// sameStore says what --resume must be given again: where the graph is, and the queries,
// which no file may bring along.
func (a *app) sameStore() string {
	if a.config != nil && a.config.Projection.NodeQuery != "" {
		return "the same --from or --uri, --node-query and --relationship-query"
	}
	return "the same --from or --uri"
}

func describe(err error) problem {
	exit := exitCode(err)
	p := problem{Code: codeName(exit), ExitCode: exit, Message: strings.Join(messages(err), "; ")}
	p.Retryable = exit == exitTransient
	if f, ok := errors.AsType[*failure](err); ok && f.resourceType == "run" {
		p.Retryable = false // the same command again would spend again
	}
	if e, ok := errors.AsType[*privacy.WaitError](err); ok {
		p.Retryable, p.RetryAt = true, e.Until.Format(time.RFC3339)
		p.Suggestion = "nothing was released; the same command succeeds from " + p.RetryAt + " on, if nothing else is spent until then"
	}
	if e, ok := errors.AsType[interface {
		error
		Suggestion() string
	}](err); ok {
		p.Suggestion = e.Suggestion()
	}
	if e, ok := errors.AsType[interface {
		error
		Resource() (string, string)
	}](err); ok {
		p.ResourceType, p.ResourceID = e.Resource()
	}
	if e, ok := errors.AsType[*connector.NotFoundError](err); ok {
		p.ResourceType, p.ResourceID = e.Kind, e.Name
		if e.Suggestion != "" {
			p.Suggestion = fmt.Sprintf("did you mean %q?", e.Suggestion)
		}
	}
	if p.Suggestion == "" {
		p.Suggestion = defaultSuggestion(err, exit)
	}
	return p
}

// defaultSuggestion is for errors that carry none of their own.
func defaultSuggestion(err error, exit int) string {
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			return s.suggestion
		}
	}
	if e, ok := errors.AsType[*config.Error](err); ok && e.Origin.Layer != config.LayerFlag { // who typed it knows
		return "`graphcloak config view --origins` shows where each value comes from"
	}
	if exit == exitTransient {
		return "try again, or give more time by --timeout"
	}
	return ""
}

// ownPackages are those whose errors begin with their name, which says nothing to who calls
// a command.
var ownPackages = []string{
	"graphcloak", "advice", "allocation", "analyst", "builtin", "community", "config", "emd", "expm", "graph", "inspect",
	"jobs", "laplacian",
	"linop", "measurement", "posterior", "privacy", "recovery", "sensitivity", "sensor", "study",
}

// textOf is an error without the names of our packages before what they say.
func textOf(err error) string {
	parts := strings.Split(err.Error(), ": ")
	last := len(parts) - 1
	said := slices.DeleteFunc(parts[:last], func(s string) bool { return slices.Contains(ownPackages, s) })
	return strings.Join(append(said, parts[last]), ": ")
}

// messages returns one text for each member of a joined error. One that wraps several in
// a sentence is one.
func messages(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	var texts []string
	if ok {
		for _, e := range joined.Unwrap() {
			texts = append(texts, e.Error())
		}
	}
	if !ok {
		return []string{textOf(err)}
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []string{strings.ReplaceAll(textOf(err), "\n", "; ")}
	}
	texts = nil
	for _, e := range joined.Unwrap() {
		texts = append(texts, messages(e)...)
	}
	return texts
}

func (a *app) printProblem(p problem) {
	text, err := encode(map[string]problem{"error": p}, a.format() == "json")
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	if err != nil { // standard error still tells
		a.log.Debug("print the failure as JSON", "error", err)
	}
}

// printError prints a message, or one for each of several problems, and what to do.
func (a *app) printError(lines []string, p problem) {
	const mark = "Error:"
	if len(lines) == 1 {
		a.say(mark, bad, fmt.Sprintf("%s (exit %d)", lines[0], p.ExitCode))
	} else {
		a.say(mark, bad, fmt.Sprintf("%d problems (exit %d)", len(lines), p.ExitCode))
		for _, line := range lines {
			a.say("", plain, "  - "+line)
		}
	}
	if p.Suggestion != "" && !strings.Contains(p.Message, p.Suggestion) {
		a.say("Hint:", plain, p.Suggestion)
	}
}

// format returns the form of the result.
func (a *app) format() string {
	chosen := a.early("format")
	if a.config != nil {
		chosen = a.config.Output.Format
	}
	if slices.Contains([]string{"table", "json", "ndjson", "csv", "parquet"}, chosen) {
		return chosen
	}
	if a.tty.out {
		return "table"
	}
	return "json"
}

// early reads a flag or its variable where settings could not be resolved, so
// that the report of the failure has the form that was asked for.
func (a *app) early(flag string) string {
	value := os.Getenv(config.EnvPrefix + strings.ToUpper(flag))
	for i, arg := range a.args {
		if v, ok := strings.CutPrefix(arg, "--"+flag+"="); ok {
			value = v
		} else if arg == "--"+flag && i+1 < len(a.args) {
			value = a.args[i+1]
		}
	}
	return value
}
