// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bytes"
	"encoding/binary"
)

// Signatures of Bolt messages, and of a structure without and with one field.
const (
	sigBegin   = 0x11
	sigCommit  = 0x12
	sigSuccess = 0x70

	structure    = 0xB0
	structureOne = 0xB1
)

// handshake is what a client says first: the magic number and four versions.
const handshake = 20

// manifest stands among the versions of a client that can negotiate at greater length,
// and after more bytes than this proxy counts.
var manifest = []byte{0, 0, 1, 0xff}

// plain takes the offer to negotiate at length out of a handshake.
func plain(hello []byte) []byte {
	for at := 4; at+4 <= len(hello); at += 4 {
		if bytes.Equal(hello[at:at+4], manifest) {
			clear(hello[at : at+4])
		}
	}
	return hello
}

// messages cuts a stream of Bolt into its messages: chunks behind their length, two
// zero bytes at the end. Before the first one, skip bytes are passed on in one piece.
type messages struct {
	skip int
	buf  []byte
}

// message is one message as it stood in the stream, chunk headers too, and its body.
type message struct{ raw, body []byte }

// is reports whether a message has a signature.
func (m message) is(signature byte) bool { return len(m.body) > 1 && m.body[1] == signature }

// next returns what can be passed on: the bytes before the first message, or one.
// ok is false where more bytes are needed.
func (s *messages) next() (m message, ok bool) {
	if s.skip > 0 {
		if len(s.buf) < s.skip {
			return message{}, false
		}
		m.raw, s.buf = s.buf[:s.skip], s.buf[s.skip:]
		s.skip = 0
		return m, true
	}
	at := 0
	for at+2 <= len(s.buf) {
		n := int(binary.BigEndian.Uint16(s.buf[at:]))
		if n == 0 { // the end, or a sign of life between messages
			m.raw, s.buf = s.buf[:at+2], s.buf[at+2:]
			return m, true
		}
		if at+2+n > len(s.buf) {
			return message{}, false
		}
		m.body = append(m.body, s.buf[at+2:at+2+n]...)
		at += 2 + n
	}
	return message{}, false
}
