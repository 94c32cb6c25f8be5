// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// NewTick returns the tick of a job at a time, in UTC and cut to milliseconds.
func NewTick(jobName string, at time.Time) Tick {
	return Tick{JobName: jobName, NominalTime: at.UTC().Truncate(time.Millisecond)}
}

// ReleaseID returns the id of the release, and of the run, that belongs to a tick: a
// UUID of version 7 (RFC 9562 §5.7) whose time is the nominal one and whose other bits
// are those of SHA-256 over time and name. So ids sort by time, and a tick has one.
func (t Tick) ReleaseID() string {
	millis := t.NominalTime.UnixMilli()
	text := binary.BigEndian.AppendUint64([]byte("graphcloak tick\x00"), uint64(millis))
	sum := sha256.Sum256(append(text, t.JobName...))
	var id uuid.UUID
	copy(id[:], sum[:])
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(millis)<<16)
	copy(id[:6], stamp[:6])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
