// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/net/netutil"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// What is wrong with an address, a token or a certificate.
var (
	ErrNoToken   = errors.New("serve: others than this machine reach the address, and there is no token")
	ErrPlain     = errors.New("serve: others than this machine reach the address, and nothing is encrypted")
	ErrTokenFile = errors.New("serve: the token file is not its owner's alone, and others can read it")
	ErrTLS       = errors.New("serve: the certificate cannot be used")
	ErrInUse     = errors.New("serve: the address is in use by another process")
	ErrListen    = errors.New("serve: cannot listen")
)

// maxFile bounds the files of a token and of a certificate, in bytes.
const maxFile = 1 << 20

// ReadToken reads the token of clients from the first line of a file. It returns [ErrTokenFile], [ErrToken] and the errors of
// [disk.Open].
func ReadToken(path string) (string, error) {
	f, err := disk.Open(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if !disk.Guarded(info) {
		return "", fmt.Errorf("%w: %s has mode %04o", ErrTokenFile, path, info.Mode().Perm())
	}
	text, err := disk.All(f, "the token", maxFile)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	token := strings.TrimSuffix(line, "\r")
	return token, CheckToken(token)
}

// Listen opens an address with the certificate and the key of a file, or without one where the path is "" or "none". It refuses an
// address that others reach unless there is a token, and a certificate or the word none: a proxy encrypts. It takes 64 connections at
// once, a sixteenth of the files that a process may usually open, so that jobs go on however many connect.
func Listen(address, token, certificate string) (net.Listener, error) {
	switch {
	case ownAddress(address):
	case token == "":
		return nil, fmt.Errorf("%w: %s", ErrNoToken, address)
	case certificate == "":
		return nil, fmt.Errorf("%w: %s", ErrPlain, address)
	}
	var identity *tls.Config
	if Encrypted(certificate) {
		pair, err := readCertificate(certificate)
		if err != nil {
			return nil, err
		}
		identity = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, address)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrListen, err)
	}
	listener = netutil.LimitListener(listener, 64)
	if identity != nil {
		listener = tls.NewListener(listener, identity)
	}
	return listener, nil
}

// Encrypted reports whether a server with this certificate speaks TLS.
func Encrypted(certificate string) bool { return certificate != "" && certificate != "none" }

// readCertificate reads chain and private key from one file, or the key from the file beside it that ends in .key, as
// Kubernetes mounts them.
func readCertificate(path string) (tls.Certificate, error) {
	chain, err := disk.Read(path, maxFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	key := chain
	if !bytes.Contains(chain, []byte("PRIVATE KEY-----")) {
		beside := strings.TrimSuffix(path, filepath.Ext(path)) + ".key"
		if key, err = disk.Read(beside, maxFile); err != nil {
			return tls.Certificate{}, fmt.Errorf("private key of the certificate: %w", err)
		}
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return pair, fmt.Errorf("%w: %w", ErrTLS, err)
	}
	return pair, nil
}
