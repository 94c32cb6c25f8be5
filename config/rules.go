// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
)

// conflicts finds settings that exclude each other.
func (c *Config) conflicts() (problems []error) {
	for _, keys := range [][]string{
		{"sourceProperty", "measurementProperty"},
		{"sourceProperty", "answerProperty"},
		{"measurementProperty", "answerProperty"},
		{"nodeLabels", "nodeQuery"},
		{"relationshipTypes", "relationshipQuery"},
		c.passwordKeys(),
	} {
		if len(keys) < 2 || slices.ContainsFunc(keys, c.empty) {
			continue
		}
		e := &ConflictError{Keys: keys}
		for _, key := range keys {
			e.Origins = append(e.Origins, c.origins[key])
		}
		problems = append(problems, e)
	}
	return problems
}

// empty reports whether a text or a list was not given.
func (c *Config) empty(key string) bool {
	list, isList := c.raw[key].([]string)
	return c.raw[key] == "" || isList && len(list) == 0
}

// passwordKeys returns the way to the password that the stronger layer gives, or both where
// one layer gives both, and clears the other.
func (c *Config) passwordKeys() (keys []string) {
	p := &c.Connection
	text, file := c.origins["neo4jPassword"].Layer.strength(), c.origins["passwordFile"].Layer.strength()
	switch {
	case p.Password == "" || p.PasswordFile == "":
	case text < file:
		p.PasswordFile = ""
	case file < text:
		p.Password = ""
	}
	if p.Password != "" {
		keys = append(keys, "neo4jPassword")
	}
	if p.PasswordFile != "" {
		keys = append(keys, "passwordFile")
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

// SplitError is an address and a password from different authors: anyone who wrote the
// one may not know of the other.
type SplitError struct{ Address, Password Origin }

func (e *SplitError) Error() string {
	return fmt.Sprintf("config: the server's address comes from %s and the password from %s: the password might go to a stranger",
		e.Address, e.Password)
}

// Suggestion says how to go on.
func (e *SplitError) Suggestion() string {
	return "give the address by --uri, or address and password in one place"
}

// CheckCredentials refuses to send a password to an address that was not meant
// for it. Flags, environment and the user's own file of settings are the caller's; a
// .env, and a file that --config names, may have another author. An
// address given by --uri, and the built-in one of this machine, serve every
// password. Without a password from any layer there is nothing to refuse: the
// question on the terminal names the address.
func (c *Config) CheckCredentials() error {
	address := c.origins["neo4jUri"]
	if address.Layer == LayerFlag || address.Layer == LayerDefault {
		return nil
	}
	for _, key := range c.passwordKeys() {
		if password := c.origins[key]; c.authority(password.Layer) != c.authority(address.Layer) {
			return &SplitError{Address: address, Password: password}
		}
	}
	return nil
}

// authority returns the layer that stands for all with the same author.
func (c *Config) authority(l Layer) Layer {
	if l == LayerEnv || l == LayerFile && c.ownFile {
		return LayerFlag
	}
	return l
}
