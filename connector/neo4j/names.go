// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/connector"
)

// Names of labels, types and properties come from settings, from files and from the
// database itself, whose users may have chosen them to be read as Cypher. Two ways
// lead into a statement, both in this file: [naming] where the server takes the name
// as a value, [Quote] where it must be text.

// cypher is text for the server to run. The compiler lets constants become cypher,
// and nothing else: a string from outside is turned into it here, by quote, and in
// query.go, where the user wrote all of it. TestOnlyQuotedNames holds that.
type cypher string

// none is a column that is not asked for.
const none cypher = "null"

// quote is [Quote] as part of a statement.
func quote(name string) cypher { return cypher(Quote(name)) }

// numbered is a word with a number, such as a parameter's.
func numbered(word cypher, k int) cypher { return word + cypher(strconv.Itoa(k)) }

func join(parts []cypher, separator cypher) (text cypher) {
	for i, p := range parts {
		if i > 0 {
			text += separator
		}
		text += p
	}
	return text
}

// naming holds the parameters of a statement that are names of properties.
type naming map[string]any

// property is the property of x with a name: null where the name is empty.
func (n naming) property(x cypher, name string) cypher {
	if name == "" {
		return none
	}
	parameter := numbered("name", len(n))
	n[string(parameter)] = name
	return x + "[$" + parameter + "]"
}

// escapes are what could end a quoted name. The server replaces \u0060 by a
// back-tick before it looks for the end of the name, so no backslash may reach it
// as such; what it has replaced it does not look at again.
var escapes = strings.NewReplacer("`", "``", `\`, `\u005C`)

// Quote writes a name (of a label, type, property or database) as Cypher text that
// the server reads as exactly this name, whatever it holds: TestQuoteOnServer
// in integration holds it against the server's parser. Bytes that are no UTF-8
// become U+FFFD, as they would on the way.
func Quote(name string) string {
	return "`" + escapes.Replace(strings.ToValidUTF8(name, "\uFFFD")) + "`"
}

// quoteAll writes :`A`|`B`, or nothing where every label or type is meant.
func quoteAll(names []string) cypher {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]cypher, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return ":" + join(quoted, "|")
}

// checkName refuses what no label, type or property can be called.
func checkName(kind, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the name of a %s is empty", connector.ErrInput, kind)
	case strings.ContainsRune(name, 0), !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is no name of a %s: it holds a zero byte or is not UTF-8", connector.ErrInput, name, kind)
	}
	return nil
}
