// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// PlannedCommunities says of which communities a plan was made. They are public, as all that a plan rests on, and a file
// names none of them: a reader finds its own and compares the digests. Nothing that is released or certified rests on what
// stands here.
type PlannedCommunities struct {
	Count     int            `json:"count"`
	Property  string         `json:"property,omitempty"`  // public property that names them; "": detected
	Detection *Detection     `json:"detection,omitempty"` // nil: they were named
	Digest    privacy.Digest `json:"digest"`              // of the graph and the community of each node, by number
}

// Detection is how communities were found.
type Detection struct {
	Method     string  `json:"method"`          // "leiden" or "other"
	Gamma      float64 `json:"gamma,omitempty"` // 0: the method's own
	RandomSeed uint64  `json:"randomSeed,omitempty"`
}

const (
	methodLeiden = "leiden"
	methodOther  = "other"
)

func detectionOf(d community.Detector) *Detection {
	if d, ok := d.(community.Leiden); ok {
		return &Detection{Method: methodLeiden, Gamma: d.Gamma, RandomSeed: d.Seed}
	}
	return &Detection{Method: methodOther}
}

func communitiesDigest(g [32]byte, labels []int) privacy.Digest {
	digest := sha256.New()
	digest.Write([]byte("graphcloak/v1/communities"))
	digest.Write(g[:])
	for part := range slices.Chunk(labels, 1<<10) {
		var block []byte
		for _, k := range part {
			block = binary.BigEndian.AppendUint32(block, uint32(k))
		}
		digest.Write(block)
	}
	return privacy.Digest(digest.Sum(nil))
}

// Check refuses what no communities of n nodes are, and what does not come from public properties alone.
func (c *PlannedCommunities) Check(n int, public []string) error {
	switch {
	case c == nil:
		return nil
	case c.Count < 1 || c.Count > n:
		return fmt.Errorf("%w: communities: %d of %d nodes", strictjson.ErrInvalid, c.Count, n)
	case (c.Property == "") == (c.Detection == nil):
		return fmt.Errorf("%w: communities are either named by a property or detected", strictjson.ErrInvalid)
	case c.Property != "" && !slices.Contains(public, c.Property):
		return fmt.Errorf("%w: communities: their property is none of publicProperties", strictjson.ErrInvalid)
	}
	return c.Detection.check()
}

func (d *Detection) check() error {
	switch {
	case d == nil:
		return nil
	case d.Method != methodLeiden && d.Method != methodOther:
		return fmt.Errorf("%w: communities: there is no such detection", strictjson.ErrInvalid)
	case d.Gamma < 0:
		return fmt.Errorf("%w: communities: a setting of the detection is negative", strictjson.ErrInvalid)
	}
	return nil
}
