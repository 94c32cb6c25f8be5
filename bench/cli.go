// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/graphcloak/graphcloak/bench/internal/usage"
)

// cli is the program in a folder of its own.
type cli struct{ path, dir string }

// build builds the program in its own module, with what that requires.
func (c cli) build(ctx context.Context) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/graphcloak/graphcloak").Output()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(dir)), "-o", c.path, "./cmd/graphcloak")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

type outcome struct {
	text           []byte
	seconds, bytes float64
}

// run runs the program and measures its process.
func (c cli) run(ctx context.Context, args ...string) (outcome, error) {
	cmd := exec.CommandContext(ctx, c.path, append(args, "--quiet")...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "XDG_STATE_HOME="+c.dir)
	text, err := cmd.Output()
	if err != nil {
		problem := ""
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			problem = lastLine(string(exit.Stderr))
		}
		return outcome{}, fmt.Errorf("%s: %w: %s", args[0], err, problem)
	}
	s := cmd.ProcessState
	o := outcome{text, (s.UserTime() + s.SystemTime()).Seconds(), float64(usage.PeakOf(s))}
	if o.bytes == 0 {
		return o, errors.New("this system does not tell how much memory a process held")
	}
	return o, nil
}
