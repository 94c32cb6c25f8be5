// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/graphcloak/graphcloak/report"
)

// plain shows by its code each character of a name that hides, reorders or breaks text.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\n' || r == '\u202f' || r == '\u00a0' { // two spaces that do not break
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "[U+%04X]", r)
		}
	}
	return b.String()
}

// prose is plain, without a line break before a percent sign.
func prose(text string) string { return strings.ReplaceAll(plain(text), " %", "\u00a0%") }

// cut is plain, of at most 120 characters.
func cut(text string) string { return truncate(plain(text), 120) }

// short is plain, for a label.
func short(text string) string { return truncate(plain(text), 28) }

func truncate(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func percent(p float64) string { return report.Percent(p) }

// share is a percentage with a digit behind the point, for small ones.
func share(p float64) string {
	switch {
	case p >= .1 || p == 0:
		return percent(p)
	case p < 1e-5:
		return "under 0.001 %"
	case p < .0005:
		return strconv.FormatFloat(100*p, 'g', 2, 64) + " %"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// star is a star of five points about 0.
const star = "M0-13L3.2-4.4 12.4-4 5.2 1.7 7.6 10.5 0 5.5-7.6 10.5-5.2 1.7-12.4-4-3.2-4.4z"

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

func tenth(x float64) float64 { return math.Round(10*x) / 10 }

// raised is a number in superscript.
func raised(digits string) string {
	return strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9",
		"⁹").Replace(digits)
}

// thousands groups digits by narrow spaces that do not break.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "\u202f" + s[k:]
	}
	return s
}

// factor is e^ε, which bounds: in short, and from 100 on not less than it is.
func factor(eps float64) string {
	switch x := math.Exp(eps); {
	case x < 100:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case x < 1e6:
		return thousands(int(math.Ceil(x)))
	case x < 999e6:
		return strconv.Itoa(int(math.Ceil(x/1e6))) + "\u00a0million"
	}
	decade, rest := math.Modf(eps / math.Ln10) // e^ε itself may be beyond float64
	hundredths := math.Ceil(100 * math.Pow(10, rest))
	if hundredths >= 1000 {
		decade, hundredths = decade+1, 100
	}
	return strconv.FormatFloat(hundredths/100, 'f', 2, 64) + "·10" + raised(strconv.Itoa(int(decade)))
}

// times says how a ratio of at most 1 compares.
func times(ratio float64) string {
	if ratio < .001 {
		return "under a thousandth as well"
	}
	if ratio > .995 {
		return "just as well"
	}
	return fmt.Sprintf("%s times as well", strconv.FormatFloat(ratio, 'g', 2, 64))
}

func nodesOf(n int) string { return counted(n, "node") }

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func peopleOf(n int) string {
	if n == 1 {
		return "1 person"
	}
	return thousands(n) + " people"
}

// rare is a share that is not read for what it is below one in a thousand.
func rare(p float64) string {
	if p < report.NoFit {
		return "fewer than 0.1 %"
	}
	return share(p)
}
