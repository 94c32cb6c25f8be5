// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
)

const defaultPort = "7687"

// boltSchemes are those that the driver takes.
var boltSchemes = []string{"neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"}

// address is where a server listens.
type address struct {
	uri     string // for the driver
	written string // as the user wrote it
	name    string // neo4j://host:port: the same for every scheme and every name of the loopback
}

// parseURI accepts what the driver does, and adds a missing scheme and port.
// The address of the browser is refused: where Bolt listens does not follow from it, and
// a password must not go to a port that nobody named.
func parseURI(s string) (address, error) {
	if s == "" {
		s = "neo4j://localhost:" + defaultPort
	}
	written := s
	if !strings.Contains(s, "://") {
		s = "neo4j://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return address{}, fmt.Errorf("%w: the URI is not of the form neo4j://host:7687", connector.ErrInput)
	}
	if u.User != nil {
		return address{}, fmt.Errorf("%w: user name and password do not belong in the URI %s", connector.ErrInput, u.Redacted())
	}
	a := address{written: written}
	if u.Scheme == "http" || u.Scheme == "https" {
		return address{}, fmt.Errorf("%w: %s:// is the address of the browser; give that of Bolt, often neo4j://HOST:7687, or "+
			"neo4j+s://HOST on Aura", connector.ErrInput, u.Scheme)
	}
	if !slices.Contains(boltSchemes, u.Scheme) {
		return address{}, fmt.Errorf("%w: the scheme of the URI is %q, want one of %v", connector.ErrInput, u.Scheme, boltSchemes)
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return address{}, fmt.Errorf("%w: the port of the URI is %q, want a number from 1 to 65535", connector.ErrInput, u.Port())
	}
	host := strings.ToLower(u.Hostname())
	if loopback(host) {
		host = "localhost"
	}
	a.uri, a.name = u.String(), "neo4j://"+net.JoinHostPort(host, u.Port())
	return a, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
