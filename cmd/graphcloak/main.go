// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
)

func main() {
	ctx, stop := withSignals(context.Background())
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
