// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"encoding/json"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// arrayPiece is the number of elements that are marshalled at a time.
const arrayPiece = 1 << 10

// marshalArray marshals x as encoding/json does, in pieces on all processors.
func marshalArray[T any](x []T) ([]byte, error) {
	texts := make([][]byte, (len(x)+arrayPiece-1)/arrayPiece)
	errs := make([]error, len(texts))
	parallel.Rows(len(texts), 1<<14, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			text, err := json.Marshal(x[p*arrayPiece : min((p+1)*arrayPiece, len(x))])
			if err != nil {
				errs[p] = err
				continue
			}
			text[0] = ',' // [a,b] becomes ,a,b
			texts[p] = text[:len(text)-1]
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	all := append(slices.Concat(texts...), ']')
	if len(x) == 0 {
		return []byte("[]"), nil
	}
	all[0] = '['
	return all, nil
}

// member is one of an object's, with the text of its value.
type member struct {
	name  string
	value []byte
}

// extended returns pieces of the text of an object that has some members already and gets these, its end last.
func extended(object []byte, members ...member) [][]byte {
	pieces := [][]byte{object[:len(object)-1]}
	for _, m := range members {
		pieces = append(pieces, []byte(`,"`+m.name+`":`), m.value)
	}
	return append(pieces, []byte("}"))
}
