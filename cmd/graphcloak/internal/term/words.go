// SPDX-License-Identifier: Apache-2.0

package term

import (
	"encoding/csv"
	"fmt"
	"strings"
	"time"
)

// FewNames shows the first of some names.
func FewNames(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(Quoted(names[:min(most, len(names))]), ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Quoted are names as a flag takes them, which reads commas as separators.
func Quoted(names []string) (texts []string) {
	for _, name := range names {
		var b strings.Builder
		w := csv.NewWriter(&b)
		_ = w.Write([]string{name}) // a builder takes everything
		w.Flush()
		texts = append(texts, strings.TrimSuffix(b.String(), "\n"))
	}
	return texts
}

// QuoteShell quotes a word for a POSIX shell where it needs it.
func QuoteShell(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Time is RFC 3339 in UTC, "" where there is no time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// OnePerLine puts each item on a line of its own.
func OnePerLine(items []string) string {
	text := ""
	for _, item := range items {
		text += "- " + item + "\n"
	}
	return text
}
