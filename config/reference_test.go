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
- **Environment**: ` + "`GRAPHCLOAK_`" + ` and the key in capitals, such as ` + "`GRAPHCLOAK_NODE_KEY`" + ` for ` + "`nodeKey`" +
	`. Another name that is listed counts where ours is not set.
- **` + "`.env`" + `** is looked for from the working directory upwards, as far as the first directory with ` + "`.git`" +
	` or the home directory. ` + "`--env FILE`" +
	` names one, such as the file that Aura gives out. One that is only found sets address, user name, password and database, and any other setting of ours in it is refused: it may be another's. One that others can read or write is warned of.
- **File**: ` + "`--config FILE`" + `, else ` + "`GRAPHCLOAK_CONFIG`" + `, else ` + "`$XDG_CONFIG_HOME/graphcloak/config.yaml`" +
	`; YAML or JSON. Unknown keys are refused. A file holds no password.

**Address and password come from one place**, or the command refuses: yours (flags, environment, your
own file), a ` + "`.env`" + `, or a file that ` + "`--config`" + ` names. ` + "`--uri`" +
	` serves every password. Every file that is read is a regular one of bounded size (settings: 256 KiB, ` + "`.env`" +
	`: 1 MiB). A settings file is one document and names each key once in any case of letters. No text in it or in the environment holds control characters.

` + "`graphcloak config view`" + ` shows every value and where it came from; ` + "`config validate FILE`" + ` checks a file.
A command's help shows defaults of its own.

Below stand key, flag, values (any text unless said) and default. A switch is false unless given. *For* says who chooses a setting differently from the next.

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
			fmt.Fprintf(&b, "\n## %s\n\n", s.Group)
		}
		facts := []string{"`" + s.Key + "`"}
		if s.Short != "" {
			facts = append(facts, "`-"+s.Short+"`")
		}
		if s.Flag != "" {
			facts = append(facts, "`--"+s.Flag+"`")
		}
		if len(s.Env) > 1 {
			facts = append(facts, "`"+strings.Join(s.Env[1:], "`, `")+"`")
		}
		switch values := s.describeValues(); values {
		case "text":
		case "true or false":
			facts = append(facts, "switch")
		default:
			facts = append(facts, values)
		}
		if s.Default != "" && s.Default != "false" {
			facts = append(facts, "default "+quoted(s.Default))
		}
		if s.noFile {
			facts = append(facts, "not in a file")
		}
		fmt.Fprintf(&b, "- %s: %s. *For* %s.\n", strings.Join(facts, ", "), s.Help, s.For)
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
