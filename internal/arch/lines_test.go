// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/internal/must"
)

// maxColumns bounds a line of Go; a tab counts as four.
const maxColumns = 140

// TestLinesFit: no line is longer than maxColumns, but in a raw string, whose text is as it is.
func TestLinesFit(t *testing.T) {
	lines := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		raw := rawLines(src)
		for k, line := range strings.Split(string(src), "\n") {
			lines++
			if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > maxColumns && !raw[k+1] {
				t.Errorf("%s:%d has %d columns", strings.TrimPrefix(path, "../../"), k+1, n)
			}
		}
		return nil
	})
	must.Do(t, err)
	if lines < 50_000 {
		t.Errorf("%d lines were read", lines)
	}
}

// rawLines are the lines, from 1, on which a raw string stands.
func rawLines(src []byte) map[int]bool {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	raw := make(map[int]bool)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return raw
		}
		if tok == token.STRING && text[0] == '`' {
			for k := range strings.Count(text, "\n") + 1 {
				raw[file.Line(pos)+k] = true
			}
		}
	}
}
