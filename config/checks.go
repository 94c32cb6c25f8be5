// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func schemes() []string {
	return []string{"neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"}
}

// checkURI never repeats the address in what it wants: it may hold a password.
func checkURI(text string) string {
	u, err := url.Parse(text)
	switch {
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		return "the address of Bolt, not " + u.Scheme + ":// of the browser: often neo4j://HOST:7687, or neo4j+s://HOST on Aura"
	case err != nil || !slices.Contains(schemes(), u.Scheme) || u.Hostname() == "":
		return "SCHEME://HOST:PORT with a scheme of " + strings.Join(schemes(), "|")
	case u.User != nil:
		return "an address without user and password: give --username and NEO4J_PASSWORD"
	}
	return ""
}

func nonEmpty(text string) string {
	if text == "" {
		return "hops or the name of a property"
	}
	return ""
}

func checkListen(text string) string {
	_, port, err := net.SplitHostPort(text)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
		return "HOST:PORT such as 127.0.0.1:8473 or :8473"
	}
	return ""
}

// checkPrefix keeps written names plain: a letter, then letters, digits, _.
func checkPrefix(text string) string {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			text = ""
			break
		}
	}
	if text == "" || len(text) > 64 {
		return "a letter, then letters, digits or _, at most 64"
	}
	return ""
}
