// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net"
	"net/url"
	"slices"
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

// conflicts finds settings that exclude each other.
func (c *Config) conflicts() []error {
	var problems []error
	clash := func(both bool, want string, keys ...string) {
		if both {
			e := &ConflictError{Keys: keys, Want: want}
			for _, key := range keys {
				e.Origins = append(e.Origins, c.origins[key])
			}
			problems = append(problems, e)
		}
	}
	p := c.Projection
	clash(c.Signal.SourceProperty != "" && c.Signal.MeasurementProperty != "", "one of them", "sourceProperty", "measurementProperty")
	clash(len(p.NodeLabels) > 0 && p.NodeQuery != "", "one of them", "nodeLabels", "nodeQuery")
	clash(len(p.RelationshipTypes) > 0 && p.RelationshipQuery != "", "one of them", "relationshipTypes", "relationshipQuery")
	if keys := c.passwordKeys(); len(keys) > 1 {
		clash(true, "one of them", keys...)
	}
	return problems
}

// passwordKeys returns the ways to the password that the strongest layer with
// any gives, and clears the weaker ones.
func (c *Config) passwordKeys() []string {
	ways := []struct {
		key   string
		given bool
		clear func()
	}{
		{"neo4jPassword", c.Connection.Password != "", func() { c.Connection.Password = "" }},
		{"passwordFile", c.Connection.PasswordFile != "", func() { c.Connection.PasswordFile = "" }},
	}
	least := LayerDefault.strength()
	for _, w := range ways {
		if w.given {
			least = min(least, c.origins[w.key].Layer.strength())
		}
	}
	var keys []string
	for _, w := range ways {
		switch {
		case !w.given:
		case c.origins[w.key].Layer.strength() == least:
			keys = append(keys, w.key)
		default:
			w.clear()
		}
	}
	return keys
}

// finish settles what depends on more than one setting.
func (c *Config) finish() {
	if c.From == (From{}) && c.origins["neo4jUri"].Layer != LayerDefault {
		c.From = From{Kind: FromNeo4j}
		c.raw["from"] = c.From.String()
		c.origins["from"] = c.origins["neo4jUri"]
	}
	c.warnCleartext()
}

// warnCleartext warns where a password would travel in clear text.
func (c *Config) warnCleartext() {
	u, err := url.Parse(c.Connection.URI)
	if err != nil {
		return
	}
	if c.From.Kind == FromNeo4j && (u.Scheme == "neo4j" || u.Scheme == "bolt") && !loopback(u.Hostname()) {
		c.warnings = append(c.warnings, "the connection to "+u.Hostname()+" is not encrypted; use "+u.Scheme+
			"+s:// where the server has a certificate")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
