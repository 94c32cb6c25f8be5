// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"os"
	"syscall"
	"time"
)

// self returns no peak of memory.
func self() (user, system time.Duration, peak int64) {
	var created, ended, kernel, own syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(process, &created, &ended, &kernel, &own) != nil {
		return 0, 0, 0
	}
	return span(own), span(kernel), 0
}

// span is a Filetime as the duration that it counts in 100 nanoseconds.
func span(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}

// PeakOf returns 0: the system does not tell.
func PeakOf(*os.ProcessState) int64 { return 0 }
