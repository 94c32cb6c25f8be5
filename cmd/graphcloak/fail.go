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
	"syscall"
	"time"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
)

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

func describe(err error) problem {
	exit := exitCode(err)
	p := problem{Code: codeName(exit), ExitCode: exit, Message: strings.Join(messages(err), "; ")}
	p.Retryable = exit == exitTransient
	if f, ok := errors.AsType[*failure](err); ok {
		p.ResourceType, p.ResourceID = f.resourceType, f.resourceID
		p.Retryable = p.Retryable && f.resourceType != "run" // the same command again would spend again
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
		return "`graphcloak config view` shows where each value comes from"
	}
	if exit == exitTransient {
		return "try again"
	}
	return ""
}

// ownPackages are those whose errors begin with their name, which says nothing to who calls
// a command.
var ownPackages = []string{
	"graphcloak", "advice", "allocation", "analyst", "builtin", "community", "config", "emd", "expm", "graph", "inspect",
	"jobs", "laplacian",
	"linop", "measurement", "posterior", "privacy", "recovery", "sensitivity", "sensor", "serve", "simulate", "study",
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
	if !ok {
		return []string{textOf(err)}
	}
	var whole, texts []string
	for _, e := range joined.Unwrap() {
		whole, texts = append(whole, e.Error()), append(texts, messages(e)...)
	}
	if strings.Join(whole, "\n") != err.Error() {
		return []string{strings.ReplaceAll(textOf(err), "\n", "; ")}
	}
	return texts
}

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "stopped by signal: " + e.signal.String() }

// asRefusal gives an error of a sensor, a plan or a key the exit code of a refusal.
// Errors of files, interrupts and package sentinels keep their own.
func asRefusal(err error) error {
	if errors.Is(err, privacy.ErrExhausted) {
		return fail(exitBudget, "%w", err).hint("nothing was published for it; the package allows no more")
	}
	if err == nil || exitCode(err) != exitInternal {
		return err
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fail(exitValidation, "%w", err)
}
