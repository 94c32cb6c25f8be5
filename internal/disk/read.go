// SPDX-License-Identifier: Apache-2.0

// Package disk reads files that others may have made and writes files that must
// be whole.
//
// What is read is a regular file of bounded size: a device without an end, a pipe
// that nobody fills and a file larger than any of its kind are refused. What is
// written appears under its name at once, on disk, or not at all.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// ErrRefused says that a file is not of the kind or size that is read.
var ErrRefused = errors.New("file refused")

// Open opens a regular file. The kind is looked at before, for opening a pipe
// waits for its other end, and after, for the name may have changed hands.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, about("read", path, err)
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, about("read", path, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// about makes an error say what was wanted of which file, instead of the call that failed.
func about(what, path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: what, Path: path, Err: e.Err}
	}
	return err
}

func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	kind := "a device or a socket"
	switch mode := info.Mode(); {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSymlink != 0:
		kind = "a link"
	}
	return fmt.Errorf("%w: %s is %s, want a regular file", ErrRefused, path, kind)
}

// Read returns the content of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return All(f, path, limit)
}

// All reads r to its end, at most limit bytes; what names it in the error.
func All(r io.Reader, what string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = tooLarge(what, limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Limit passes on at most limit bytes of r and fails where there are more; a
// reader that only ends there would pass a part for the whole.
func Limit(r io.Reader, what string, limit int64) io.Reader {
	return &limited{r: r, what: what, limit: limit, left: limit}
}

type limited struct {
	r           io.Reader
	what        string
	limit, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		n = int(l.left)
		l.left = 0
		return n, tooLarge(l.what, l.limit)
	}
	l.left -= int64(n)
	return n, err
}

func tooLarge(what string, limit int64) error {
	return fmt.Errorf("%w: %s has more than %d bytes", ErrRefused, what, limit)
}

// Shared says what others than its owner may do with a file: "read", "write",
// "read and write", or "" for nothing, and where the system has no such modes.
func Shared(info fs.FileInfo) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	mode := info.Mode().Perm()
	switch read, write := mode&0o044 != 0, mode&0o022 != 0; {
	case read && write:
		return "read and write"
	case read:
		return "read"
	case write:
		return "write"
	}
	return ""
}
