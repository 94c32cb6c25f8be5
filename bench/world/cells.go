// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// cellFile keeps what a study has finished, a JSON object each, so that a study that was stopped
// goes on where it was. It holds for the program that wrote it: after a change of the program it
// is to be begun anew.
type cellFile struct {
	file    *os.File // nil: nothing is kept
	cells   map[cellKey]tauCell
	choices map[choiceKey]tauChoice
}

// line is one of either.
type line struct {
	Cell   *tauCell   `json:"cell,omitempty"`
	Choice *tauChoice `json:"choice,omitempty"`
}

// openCells reads what a file holds, which need not be there; "" keeps nothing.
func openCells(name string) (*cellFile, error) {
	k := &cellFile{cells: make(map[cellKey]tauCell), choices: make(map[choiceKey]tauChoice)}
	if name == "" {
		return k, nil
	}
	var err error
	if k.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	for in := json.NewDecoder(k.file); ; {
		var l line
		err := in.Decode(&l)
		if errors.Is(err, io.EOF) {
			return k, nil
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), k.close())
		}
		k.keep(l)
	}
}

func (k *cellFile) keep(l line) {
	if l.Cell != nil {
		k.cells[l.Cell.cellKey] = *l.Cell
	}
	if l.Choice != nil {
		k.choices[l.Choice.choiceKey] = *l.Choice
	}
}

func (k *cellFile) add(l line) error {
	k.keep(l)
	if k.file == nil {
		return nil
	}
	return json.NewEncoder(k.file).Encode(l)
}

func (k *cellFile) close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}
