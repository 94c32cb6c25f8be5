// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// readyText is the line that a process prints which waits for others before it measures.
const readyText = "ready"

// sideBySide runs a command k times at the same time, on one processor each. They measure from the moment on
// that all are ready.
func sideBySide(ctx context.Context, k int, name string, args ...string) ([]measure, error) {
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	list, errs := make([]measure, k), make([]error, k)
	var ready, done sync.WaitGroup
	ready.Add(k)
	for i := range k {
		done.Go(func() {
			once := sync.OnceFunc(ready.Done)
			defer once() // the others do not wait for one that has failed
			list[i], errs[i] = gated(ctx, func() { once(); ready.Wait() }, name, args...)
		})
	}
	done.Wait()
	return list, errors.Join(errs...)
}

// gated is [process] that calls wait when the command is ready, and lets it go on after that.
func gated(ctx context.Context, wait func(), name string, args ...string) (m measure, err error) {
	cmd := command(ctx, nil, name, args...)
	var problem strings.Builder
	cmd.Stderr = &problem
	in, err := cmd.StdinPipe()
	if err != nil {
		return m, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m, err
	}
	if err := cmd.Start(); err != nil {
		return m, err
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last = lines.Text(); last == readyText {
			wait()
			_, _ = io.WriteString(in, "\n") // a process that has ended says why below
		}
	}
	if err := cmd.Wait(); err != nil {
		return m, errors.Join(ctx.Err(), fmt.Errorf("%w: %s", err, lastLine(problem.String())))
	}
	return m, json.Unmarshal([]byte(last), &m)
}

// othersReady waits in a process that runs beside others until all of them are ready to measure.
func othersReady() error {
	if !*together {
		return nil
	}
	fmt.Println(readyText)
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}
