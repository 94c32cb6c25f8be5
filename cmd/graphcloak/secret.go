// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// maxSecret bounds what is read as a password, in bytes.
const maxSecret = 64 << 10

// credentials returns user name and password of the server. The password comes
// from flag, environment or .env; from --password-file, which may be standard input; or
// from a prompt on a terminal. It is never echoed.
func (a *app) credentials(ctx context.Context) (username, password string, err error) {
	c := a.config.Connection
	if c.Username == "" {
		return "", "", fail(exitUsage, "no user name for %s", c.URI).hint("give --username, or set NEO4J_USERNAME")
	}
	if err := a.config.CheckCredentials(); err != nil {
		return "", "", err
	}
	switch {
	case c.PasswordFile == "-":
		password, err = firstLine(a.stdin)
	case c.PasswordFile != "":
		password, err = a.passwordFile(c.PasswordFile)
	case c.Password != "":
		password = c.Password.Reveal()
	case a.tty.in && a.tty.err: // somebody is there to answer
		password, err = a.console.Password(ctx, a.stdin, fmt.Sprintf("Password of %s at %s: ", c.Username, c.URI))
	}
	if err != nil {
		return "", "", err
	}
	if password == "" {
		return "", "", fail(exitUsage, "no password for %s", c.URI).hint("set NEO4J_PASSWORD, or give --password-file")
	}
	return c.Username, password, nil
}

func (a *app) passwordFile(path string) (string, error) {
	f, err := disk.Open(path)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && disk.Shared(info) != "" {
		a.note("%s", sharedWarning(path, disk.Shared(info)))
	}
	return firstLine(f)
}

// firstLine reads a line without its end. A password may start or end in spaces.
func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(disk.Limit(r, "the password", maxSecret)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
