// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/privacy"
)

// CreateKeyFile draws a master secret and writes it to a new file of mode 0600.
// An existing file is never overwritten: a lost secret cannot be drawn again.
func CreateKeyFile(path string) error {
	secret := make([]byte, privacy.KeySize)
	rand.Read(secret)
	return WriteKeyFile(path, secret)
}

// WriteKeyFile writes a secret to a new file of mode 0600 and syncs it.
func WriteKeyFile(path string, secret []byte) error {
	if len(secret) != privacy.KeySize {
		return fmt.Errorf("sensor: a key has %d bytes, want %d", len(secret), privacy.KeySize)
	}
	err := disk.Write(path, disk.Options{Mode: 0o600}, func(w io.Writer) error {
		_, err := w.Write(secret)
		return err
	})
	if err != nil {
		return fmt.Errorf("sensor: write key file: %w", err)
	}
	return nil
}

// ReadKeyFile reads the 32 bytes of a key. A file that others may read is refused
// where the system has such modes, and so is one of another size.
func ReadKeyFile(path string) ([]byte, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sensor: open key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("sensor: key file: %w", err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&fs.FileMode(0o077) != 0 {
		return nil, fmt.Errorf("sensor: key file %s has mode %04o, want 0600: chmod 600 %s", path, mode, path)
	}
	secret := make([]byte, privacy.KeySize+1)
	n, err := io.ReadFull(f, secret)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("sensor: read key file: %w", err)
	}
	if n != privacy.KeySize {
		return nil, fmt.Errorf("sensor: key file %s has %d bytes, want %d", path, info.Size(), privacy.KeySize)
	}
	return secret[:n], nil
}
