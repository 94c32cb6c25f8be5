// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

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

// FoundError is a setting in a .env that nobody named.
type FoundError struct{ Name, Path string }

func (e *FoundError) Error() string {
	return fmt.Sprintf("config: %s sets %s; a .env that is only found sets address, user name, password and database", e.Path, e.Name)
}

// Suggestion says how to go on.
func (e *FoundError) Suggestion() string {
	return "name the file with --env " + e.Path + " if it is yours"
}

// checkFound refuses settings in a .env that was found, not named, which would decide
// what is read, spent, written or sent.
func (l Layers) checkFound(settings []Setting) []error {
	var problems []error
	for _, s := range settings {
		name := firstSet(s.Env, l.dotEnvLookup)
		if l.DotEnvFound && name != "" && !strings.HasPrefix(s.Key, "neo4j") {
			problems = append(problems, &FoundError{Name: name, Path: l.DotEnvPath})
		}
	}
	return problems
}
