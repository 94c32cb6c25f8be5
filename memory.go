// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// ErrMemory says that a step would need more memory than there is.
var ErrMemory = errors.New("graphcloak: not enough memory")

// guard refuses a step whose estimate exceeds the limit.
func (o LoadOptions) guard(what string, bytes int64) error {
	limit := o.MemoryLimit
	if limit == 0 {
		limit = availableMemory()
	}
	if o.IgnoreMemory || bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s needs about %s, %s are available", ErrMemory, what, Bytes(bytes), Bytes(limit))
}

// Bytes writes a size with a binary unit.
func Bytes(n int64) string {
	x, unit := float64(n), 0
	for x >= 1024 && unit < 4 {
		x, unit = x/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", x, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// availableMemory returns what this process may still allocate: the lesser of
// what the control group leaves and what the machine has. Where neither is known
// it returns the largest number.
func availableMemory() int64 {
	limit := int64(math.MaxInt64)
	if max, ok := readNumber("/sys/fs/cgroup/memory.max"); ok {
		used, _ := readNumber("/sys/fs/cgroup/memory.current")
		limit = min(limit, max-used)
	}
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
				if kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
					limit = min(limit, kib<<10)
				}
			}
		}
	}
	return limit
}

// readNumber reads a file that holds one number; "max" is none.
func readNumber(path string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}
