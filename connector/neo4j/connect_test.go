// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// serve listens on the loopback and gives every connection to answer.
func serve(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
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
		_, err := New(t.Context(), Options{URI: scheme + "://" + address, connectTime: 50 * time.Millisecond})
		if !errors.Is(err, connector.ErrTransient) || !strings.Contains(err.Error(), "within 50ms") {
			t.Errorf("%s: %v, want ErrTransient that names the time", scheme, err)
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
			_ = tls.Server(c, &tls.Config{
				Certificates: []tls.Certificate{certificate}, MaxVersion: tls.VersionTLS11,
				MinVersion: tls.VersionTLS10,
			}).Handshake()
		},
	} {
		for _, scheme := range []string{"bolt+s", "neo4j+s"} {
			if _, err := New(t.Context(), Options{URI: scheme + "://" + serve(t, answer)}); !errors.Is(err, connector.ErrAuth) ||
				errors.Is(err, connector.ErrTransient) {
				t.Errorf("%s, by %s: %v, want ErrAuth", name, scheme, err)
			} else if fix := connectionFix(err); !strings.Contains(fix, "certificate") {
				t.Errorf("%s, by %s: the advice is to %s", name, scheme, fix)
			}
		}
	}
}

// TestNarrowRecords: a server whose records have fewer values than the statement asks for,
// or of other types, is refused.
func TestNarrowRecords(t *testing.T) {
	for name, values := range map[string]string{"none": "\x90", "one": "\x91\x01", "two": "\x92\x90\x01"} {
		address := serve(t, func(c net.Conn) {
			io.ReadFull(c, make([]byte, 20))
			answer(c, values)
		})
		if _, err := New(t.Context(), Options{URI: "bolt://" + address}); !errors.Is(err, connector.ErrInput) {
			t.Errorf("%s: %v, want ErrInput", name, err)
		}
	}
}

// greet answers as a server of Neo4j does, each message with success, up to a COMMIT, at
// which it hangs up.
func greet(c net.Conn) { answer(c, "") }

// answer is greet with a record of these values to each statement; "": no record.
func answer(c net.Conn, values string) {
	const commit, pull = 0x12, 0x3f
	size, message := make([]byte, 2), []byte(nil)
	c.Write([]byte{0, 0, 7, 5}) // version 5.7 of the protocol
	for {
		if _, err := io.ReadFull(c, size); err != nil {
			return
		}
		chunk := make([]byte, binary.BigEndian.Uint16(size))
		if _, err := io.ReadFull(c, chunk); err != nil {
			return
		}
		if message = append(message, chunk...); len(chunk) > 0 || len(message) == 0 {
			continue
		}
		if message[1] == commit {
			return
		}
		if message[1] == pull && values != "" {
			c.Write([]byte("\x00" + string(rune(len(values)+2)) + "\xb1\x71" + values + "\x00\x00"))
		}
		c.Write([]byte("\x00\x2f\xb1\x70\xa3\x86server\x8cNeo4j/5.26.0\x8dconnection_id\x81c\x86fields\x90\x00\x00"))
		message = nil
	}
}

// Once the answer to a commit is lost, only a decision behind the lock ends the doubt: a
// proxy that says what no server of Neo4j says knows nothing of the commit.
func TestLostCommit(t *testing.T) {
	refusal := errors.New("refused behind the lock")
	for name, c := range map[string]struct {
		second    func(net.Conn)
		uncertain bool
	}{
		"HTTP":       {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 503 \r\n\r\n") }, true},
		"no version": {func(c net.Conn) { c.Write(make([]byte, 4)) }, true},
		"refusal":    {greet, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var connections, calls atomic.Int32
			address := serve(t, func(conn net.Conn) {
				if _, err := io.ReadFull(conn, make([]byte, 20)); err != nil { // the handshake
					return
				}
				switch connections.Add(1) {
				case 1:
					greet(conn)
				case 2:
					c.second(conn)
				default:
					cancel()
				}
			})
			driver, err := neo4j.NewDriverWithContext("bolt://"+address, neo4j.NoAuth())
			must.Do(t, err)
			defer driver.Close(context.Background())
			s := &Store{driver: driver, options: Options{Timeout: time.Minute, Notify: func(string) {}}}
			err = s.record(ctx, "test", func(tx *transaction) error {
				if err := tx.do("RETURN 1", nil); err != nil {
					return err
				}
				if calls.Add(1) > 1 {
					return refusal
				}
				return nil
			})
			if errors.Is(err, privacy.ErrUncertain) != c.uncertain || errors.Is(err, refusal) == c.uncertain {
				t.Errorf("%v, want uncertain %t", err, c.uncertain)
			}
		})
	}
}

func TestParseURI(t *testing.T) {
	for _, test := range []struct{ uri, driver, name string }{
		{"", "neo4j://localhost:7687", "neo4j://localhost:7687"},
		{"bolt://127.0.0.1:7688", "bolt://127.0.0.1:7688", "neo4j://localhost:7688"},
		{"db.example.com", "neo4j://db.example.com:7687", "neo4j://db.example.com:7687"},
		{"neo4j+s://DB.example.com", "neo4j+s://DB.example.com:7687", "neo4j://db.example.com:7687"},
		{"bolt+ssc://[::1]:9", "bolt+ssc://[::1]:9", "neo4j://localhost:9"},
	} {
		a, err := parseURI(test.uri)
		if err != nil {
			t.Errorf("%q: %v", test.uri, err)
			continue
		}
		if a.uri != test.driver || a.name != test.name {
			t.Errorf("%q: %q named %q, want %q named %q", test.uri, a.uri, a.name, test.driver, test.name)
		}
	}
	for _, bad := range []string{
		"ftp://localhost", "neo4j://", "neo4j://user:secret@host", "neo4j://host:port",
		"http://localhost:7474/browser", "https://abc.databases.neo4j.io", "HTTP://localhost",
	} {
		if _, err := parseURI(bad); !errors.Is(err, connector.ErrInput) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want ErrInput without the password", bad, err)
		}
	}
}

func TestSupportedVersions(t *testing.T) {
	for text, want := range map[string]bool{
		"5.26.0": true, "5.25.1": false, "4.4.40": false, "2026.08.1": true,
		"6.0-SNAPSHOT": true, "5.26-aura": true, "": false,
	} {
		if got := parseVersion(text).check() == nil; got != want {
			t.Errorf("%q supported: %v, want %v", text, got, want)
		}
	}
}
