// SPDX-License-Identifier: Apache-2.0

//go:build unix

package usage

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

func self() (user, system time.Duration, peak int64) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, 0, 0
	}
	return time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano()), peakOf(&r)
}

// PeakOf is the most memory that a process held which has ended, in bytes; 0 where the system
// does not tell.
func PeakOf(s *os.ProcessState) int64 {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return peakOf(r)
}

// peakOf returns bytes, which darwin alone counts, the others kibibytes.
func peakOf(r *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) * 1024
}
