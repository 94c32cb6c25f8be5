// SPDX-License-Identifier: Apache-2.0

// Command revision does one work and prints the CPU seconds that it took, for
// `go -C bench run . -only revisions`, which builds it in two trees.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/graphcloak/graphcloak/bench/internal/work"
)

func main() {
	name := flag.String("work", "", "the work to do")
	flag.Parse()
	seconds, err := work.Measure(context.Background(), *name)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(map[string]float64{"cpu": seconds})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "revision:", err)
		os.Exit(1)
	}
}
