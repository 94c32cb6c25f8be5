// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"
)

// secret is the hash of a token; nil: there is none.
type secret []byte

func hashed(token string) secret {
	if token == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// is compares in constant time.
func (s secret) is(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return s != nil && subtle.ConstantTimeCompare(s, sum[:]) == 1
}

// minToken is the least length of a token, in bytes.
const minToken = 16

// ErrToken says that a token is too short, too long or not printable ASCII.
var ErrToken = errors.New("serve: not a valid token")

// CheckToken refuses a token that could be guessed or not be sent.
func CheckToken(token string) error {
	if len(token) < minToken || len(token) > 1024 ||
		strings.ContainsFunc(token, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }) {
		return fmt.Errorf("%w: want from %d to 1024 printable ASCII characters without spaces", ErrToken, minToken)
	}
	return nil
}

// given returns the token of a request: Bearer, or the password of Basic authentication.
func given(r *http.Request) string {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(token)
	}
	_, password, _ := r.BasicAuth()
	return password
}

// local reports whether a Host header names this machine itself.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// ownAddress reports whether an address to listen on is this machine's own, so that no other
// reaches it.
func ownAddress(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && host != "" && local(net.JoinHostPort(host, "0"))
}
