// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	_ "time/tzdata" // time zones of jobs, where the system has none, as in an image
)

func main() {
	ctx, stop := withSignals(context.Background())
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
