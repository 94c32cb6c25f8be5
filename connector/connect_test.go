// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector/store"
)

// serve listens on the loopback and gives every connection to answer.
func serve(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				answer(c)
			}()
		}
	}()
	return l.Addr().String()
}

// What accepts a connection and says nothing fails with a word about the time, whatever
// the scheme; a caller who has given up is told so.
func TestSilentServer(t *testing.T) {
	address := serve(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	for _, scheme := range []string{"bolt", "neo4j", "bolt+ssc", "neo4j+s"} {
		_, err := New(t.Context(), Options{URI: scheme + "://" + address, ConnectionTimeout: 50 * time.Millisecond})
		if !errors.Is(err, store.ErrTransient) || !strings.Contains(err.Error(), "within 50ms") || !strings.Contains(err.Error(), "--connection-timeout") {
			t.Errorf("%s: %v, want ErrTransient that names --connection-timeout", scheme, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := New(ctx, Options{URI: "bolt://" + address}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the caller's deadline", err)
	}
}

// Faults of certificates and of encryption are no matter of trying again.
func TestDistrust(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	certificate := web.TLS.Certificates[0]
	for name, answer := range map[string]func(net.Conn){
		"a certificate that nobody vouches for": func(c net.Conn) {
			_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}}).Handshake() // the client breaks it off
		},
		"no encryption": func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		"a hang-up":     func(c net.Conn) { c.Read(make([]byte, 1<<16)) },
		"no common version": func(c net.Conn) {
			_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}).Handshake()
		},
	} {
		for _, scheme := range []string{"bolt+s", "neo4j+s"} {
			if _, err := New(t.Context(), Options{URI: scheme + "://" + serve(t, answer)}); !errors.Is(err, store.ErrAuth) || errors.Is(err, store.ErrTransient) {
				t.Errorf("%s, by %s: %v, want ErrAuth", name, scheme, err)
			} else if fix := connectionFix(err); !strings.Contains(fix, "certificate") {
				t.Errorf("%s, by %s: the advice is to %s", name, scheme, fix)
			}
		}
	}
}
