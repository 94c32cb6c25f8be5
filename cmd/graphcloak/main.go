// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones of jobs, where the system has none: containers, Windows
)

func main() {
	ctx, stop := withSignals(context.Background())
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// withSignals cancels the context at the first SIGINT or SIGTERM. The second
// finds the default disposition again and kills the process.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(signalError{number})
		case <-done:
		}
	}()
	return ctx, func() { close(done); cancel(nil) }
}
