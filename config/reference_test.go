// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

const referenceHead = `# Configuration

A setting is taken from the first place that has it:

flag > environment > ` + "`.env`" + ` > configuration file > default

- **Flags** are shown by each command's ` + "`--help`" + `; a command takes only the groups it uses.
- **Environment**: ` + "`GRAPHCLOAK_`" + ` and the key in capitals. The names of the Neo4j tools work too, where ours is not set.
- **` + "`.env`" + `** is looked for from the working directory upwards, as far as the first directory with ` + "`.git`" + ` or the home directory. ` + "`--env FILE`" + ` names one, such as the file that Aura gives out. One that is only found sets address, user name, password and database, and any other setting of ours in it is refused: it may be another's. One that others can read or write is warned of.
- **File**: ` + "`--config FILE`" + `, else ` + "`GRAPHCLOAK_CONFIG`" + `, else ` + "`$XDG_CONFIG_HOME/graphcloak/config.yaml`" + `; YAML, JSON or TOML. Unknown keys are refused. A file holds no password.

**Address and password come from one hand**, or the command refuses and names the two places: the caller's (flags, environment, the
user's own file), a ` + "`.env`" + `'s, or that of a file which ` + "`--config`" + ` names. ` + "`--uri`" + ` serves every password. Where no place has the password, the
question on the terminal names the address. Every file that is read is a regular one of bounded size (settings: 256 KiB, ` + "`.env`" + `: 1 MiB). A file of settings is one document, names each key once in any case of letters, and
no text in it or in the environment holds control characters.

` + "`graphcloak config view --origins`" + ` shows every value and where it came from; ` + "`graphcloak config validate FILE`" + ` checks a file;
` + "`graphcloak config schema`" + ` prints its JSON Schema. Commands may have defaults of their own, which their help shows.

This page is made from the table in ` + "`config/settings.go`" + `.
`

// Reference returns the reference page of all settings, as Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	var last Group
	for _, s := range Settings() {
		if s.Group != last {
			last = s.Group
			fmt.Fprintf(&b, "\n## %s\n\n| key | flag | environment | values | default | |\n|---|---|---|---|---|---|\n", s.Group)
		}
		flag := "`--" + s.Flag + "`"
		if s.Short != "" {
			flag = "`-" + s.Short + "`, " + flag
		}
		key := "`" + s.Key + "`"
		if s.noFile {
			key += " (not in a file)"
		}
		row := []string{key, flag, "`" + strings.Join(s.Env, "`, `") + "`", s.describeValues(), quoted(s.Default), s.Help}
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", "\\|")
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}

// describeValues is the placeholder where it says more than the type.
func (s Setting) describeValues() string {
	if s.Values == nil && strings.Contains(s.arg, "|") {
		return quoted(s.arg)
	}
	if s.Values != nil {
		return quoted(s.Want())
	}
	return s.Want()
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
