// SPDX-License-Identifier: Apache-2.0

package document

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Keys of plan and release files that [Seal] writes itself.
const (
	versionKey = "schemaVersion"
	SealKey    = "documentDigest"
)

// Seal writes a plan or release file: one object, schemaVersion first, with the
// SHA-256 of the canonical form of everything else in it. The digest finds what was
// changed by accident or by hand. It is no signature: against anyone who computes it again
// there are the checks of the content alone.
func Seal(fields map[string]json.RawMessage) (strictjson.Pieces, error) {
	delete(fields, SealKey)
	version, err := json.Marshal(privacy.SchemaVersion)
	if err != nil {
		return nil, err
	}
	fields[versionKey] = version
	sum := sha256.New()
	if err := strictjson.WriteCanonical(sum, fields); err != nil {
		return nil, err
	}
	if fields[SealKey], err = json.Marshal(privacy.Digest(sum.Sum(nil))); err != nil {
		return nil, err
	}
	delete(fields, versionKey)
	pieces := strictjson.Object(strictjson.InPieces(fields))
	pieces[0] = []byte(`{"` + versionKey + `":` + string(version) + `,`)
	return pieces, nil
}

// Read reads a document of a kind.
func Read(data []byte, what string, v any) error {
	var fields map[string]json.RawMessage
	if err := strictjson.Unmarshal(data, &fields); err != nil {
		return err
	}
	if err := CheckVersion(fields, what); err != nil {
		return err
	}
	return strictjson.Unmarshal(data, v)
}

// CheckVersion reads the version of a file before anything else in it, so that an
// older or newer file, and one of another kind, is refused for what it is.
func CheckVersion(fields map[string]json.RawMessage, what string) error {
	var version int
	if err := strictjson.Unmarshal(fields[versionKey], &version); err != nil || version != privacy.SchemaVersion {
		return fmt.Errorf("%w: its schemaVersion is not %d; is this a %s of this version of GraphCloak?",
			strictjson.ErrInvalid, privacy.SchemaVersion, what)
	}
	if found := kindOf(fields); found != "" && found != what {
		return fmt.Errorf("%w: it is a %s, no %s", strictjson.ErrInvalid, found, what)
	}
	return nil
}

// kindOf recognises the kinds of our files by a key that only one of them has; "" for none.
func kindOf(fields map[string]json.RawMessage) string {
	for _, kind := range []struct{ key, name string }{
		{"release", "release file"},
		{"answers", "release file of answers"},
		{"question", "plan file of answers"},
		{"answer", "report"},
		{"sensor", "sensor package"},
		{"steps", "sensor's value"},
		{"sensitivity", "plan file"},
	} {
		if fields[kind.key] != nil {
			return kind.name
		}
	}
	return ""
}

// Merge marshals parts into a set of fields; a later part wins.
func Merge(fields map[string]json.RawMessage, parts ...any) error {
	for _, part := range parts {
		data, err := marshal(part)
		if err != nil {
			return err
		}
		members, err := strictjson.Members(data)
		if err != nil {
			return err
		}
		maps.Copy(fields, members)
	}
	return nil
}

// marshal is json.Marshal, without its copy of what marshals itself.
func marshal(v any) ([]byte, error) {
	if m, ok := v.(json.Marshaler); ok {
		return m.MarshalJSON()
	}
	return json.Marshal(v)
}

// Joined is the text of a file.
func Joined(pieces strictjson.Pieces, err error) ([]byte, error) { return pieces.Join(), err }

// CheckRoundTrip refuses a file that says more, less or something else than what was
// read from it: every derived number, sentence and digest is computed again.
func CheckRoundTrip(data []byte, v interface {
	File() (strictjson.Pieces, error)
},
) error {
	again, err := v.File()
	if err != nil || strictjson.IsSpaced(data, again) { // as most are
		return err
	}
	return strictjson.Compare(data, again.Join(), "/"+SealKey)
}

// Remarshal decodes fields into v.
func Remarshal(fields map[string]json.RawMessage, v any) error {
	return strictjson.Unmarshal(strictjson.Object(strictjson.InPieces(fields)).Join(), v)
}
