// SPDX-License-Identifier: Apache-2.0

package suggest_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/internal/suggest"
)

func TestNearest(t *testing.T) {
	have := []string{"Person", "Place", "KNOWS", "weight", "Überfall", "max-levels", "privacy.epsilon"}
	for name, want := range map[string]string{
		"Persn": "Person", "person": "Person", "Preson": "Person", "wieght": "weight", "weigths": "weight",
		"KNOW": "KNOWS", "Uberfall": "Überfall", "Plaice": "Place", "Company": "", "": "", "x": "",
		"max_levels": "max-levels", "maxlevles": "max-levels", "privacy-epsilno": "privacy.epsilon", "Überfälle": "Überfall",
	} {
		if got := suggest.Nearest(name, have); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := suggest.Nearest("ab", []string{"ac", "ad", "ab"}); got != "ab" {
		t.Errorf("an equal name comes after %q", got)
	}
	if got := suggest.Nearest("ax", []string{"ac", "ad"}); got != "ac" {
		t.Errorf("of two equally near %q is taken, want the first", got)
	}
}
