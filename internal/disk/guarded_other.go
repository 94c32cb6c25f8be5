// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package disk

import "io/fs"

// Guarded is true where the system has no such modes.
func Guarded(fs.FileInfo) bool { return true }
