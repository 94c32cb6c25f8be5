// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

// usage returns the processor time of this process and the peak of its memory in
// bytes.
func usage() (cpu time.Duration, peak int64) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), peakOf(&r)
}

// peakOf returns bytes, which darwin alone counts, the others kibibytes.
func peakOf(r *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return r.Maxrss
	}
	return r.Maxrss * 1024
}
