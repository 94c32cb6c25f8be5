// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Digest returns SHA-256 of the plan's JSON. A run asks for it again and again, and the text of
// many sensors takes time: the last digest is kept beside a key of all that the text is made of.
func (p *Plan) Digest() (Digest, error) {
	head, err := p.marshalHead()
	if err != nil {
		return Digest{}, err
	}
	key := p.contentKey(head)
	if last := lastDigest.Load(); last != nil && last.key == key {
		return last.digest, nil
	}
	sensors, err := p.marshalSensors()
	if err != nil {
		return Digest{}, err
	}
	d := planDigest(extended(head, member{"sensors", sensors})...)
	lastDigest.Store(&knownDigest{key, d})
	return d, nil
}

// knownDigest is the digest of the plan with a key. A plan that was changed has another.
type knownDigest struct{ key, digest Digest }

var lastDigest atomic.Pointer[knownDigest]

// contentKey is a collision-free hash of the text of a plan without sensors, and of the fields
// of the sensors: of their digests by pieces, as it is computed in this process alone.
func (p *Plan) contentKey(head []byte) Digest {
	pieces := make([]Digest, (len(p.Sensors)+arrayPiece-1)/arrayPiece)
	parallel.RowsWith(len(pieces), 1<<14, func() *[]byte { return new([]byte) }, func(memory *[]byte, lo, hi int) {
		for k := lo; k < hi; k++ {
			text := (*memory)[:0]
			for _, s := range p.Sensors[k*arrayPiece : min((k+1)*arrayPiece, len(p.Sensors))] {
				text = s.appendTo(text)
			}
			pieces[k], *memory = sha256.Sum256(text), text
		}
	})
	parts := [][]byte{[]byte("graphcloak/plan content"), head}
	for k := range pieces {
		parts = append(parts, pieces[k][:])
	}
	return hash(parts...)
}

// appendTo appends all fields, the only one of variable length behind its length.
func (s SensorNoise) appendTo(text []byte) []byte {
	for _, v := range [...]uint64{
		uint64(s.Node), uint64(s.Exponent), uint64(s.Steps), math.Float64bits(s.Weight), math.Float64bits(s.Bound), uint64(len(s.ID)),
	} {
		text = binary.LittleEndian.AppendUint64(text, v)
	}
	return append(text, s.ID...)
}
