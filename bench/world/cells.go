// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// cellFile keeps the cells of a study as they are finished, a JSON object each, so that a study
// that was stopped goes on where it was.
type cellFile struct {
	file  *os.File // nil: nothing is kept
	cells []tauCell
}

// openCells reads what a file holds, which need not be there; "" keeps nothing.
func openCells(name string) (*cellFile, error) {
	k := new(cellFile)
	if name == "" {
		return k, nil
	}
	var err error
	if k.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	for in := json.NewDecoder(k.file); ; {
		var c tauCell
		err := in.Decode(&c)
		if errors.Is(err, io.EOF) {
			return k, nil
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), k.close())
		}
		k.cells = append(k.cells, c)
	}
}

// find returns the cell with the same graph, budget, τ, trials and seed.
func (k *cellFile) find(c tauCell) (tauCell, bool) {
	i := slices.IndexFunc(k.cells, func(x tauCell) bool {
		return x.Graph == c.Graph && x.Budget == c.Budget && x.Tau == c.Tau && x.Trials == c.Trials && x.Seed == c.Seed
	})
	if i < 0 {
		return tauCell{}, false
	}
	return k.cells[i], true
}

func (k *cellFile) add(c tauCell) error {
	k.cells = append(k.cells, c)
	if k.file == nil {
		return nil
	}
	return json.NewEncoder(k.file).Encode(c)
}

func (k *cellFile) close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}
