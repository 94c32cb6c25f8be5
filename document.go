// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

// Keys of plan and release files that seal writes itself.
const (
	versionKey = "schemaVersion"
	sealKey    = "documentDigest"
)

// seal writes a plan or release file: one object, schemaVersion first, with the
// SHA-256 of the canonical form of everything else in it. The digest finds what was
// changed by accident or by hand; who computes it again is met by the checks of the
// content, and by nothing else.
func seal(fields map[string]json.RawMessage) ([]byte, error) {
	delete(fields, sealKey)
	version, err := json.Marshal(privacy.SchemaVersion)
	if err != nil {
		return nil, err
	}
	fields[versionKey] = version
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	canonical, err := strictjson.Canonical(text)
	if err != nil {
		return nil, err
	}
	if fields[sealKey], err = json.Marshal(privacy.Digest(sha256.Sum256(canonical))); err != nil {
		return nil, err
	}
	delete(fields, versionKey)
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"`+versionKey+`":`), version, []byte{','}, rest[1:]), nil
}

// checkVersion reads the version of a file before anything else in it, so that an
// older or newer file, and one of another kind, is refused for what it is.
func checkVersion(fields map[string]json.RawMessage, what string) error {
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

// kindOf tells files of ours apart by a key; "" is a file that it cannot tell.
func kindOf(fields map[string]json.RawMessage) string {
	for _, kind := range []struct{ key, name string }{
		{"release", "release file"}, {"answer", "report"}, {"sensor", "sensor package"}, {"steps", "sensor's value"}, {"sensitivity", "plan file"},
	} {
		if fields[kind.key] != nil {
			return kind.name
		}
	}
	return ""
}

// describes refuses settings that are not those of the plan beside them.
func (s Settings) describes(p privacy.Public) error {
	if s.Tau != p.Tau || s.Laplacian.String() != p.Laplacian || s.metric() != p.Metric {
		return fmt.Errorf("%w: its model is another than its plan's, in tau, laplacian or metric", strictjson.ErrInvalid)
	}
	return nil
}

// consistent refuses what no plan of ours says.
func (p *Plan) consistent() error {
	if p.PublicProperties == nil {
		return fmt.Errorf("%w: publicProperties is no list", strictjson.ErrInvalid)
	}
	if err := p.Model.describes(p.Public); err != nil {
		return err
	}
	for _, a := range []*Accuracy{p.Accuracy, p.uniformAccuracy()} {
		if a != nil && !a.possible() {
			return fmt.Errorf("%w: expectedAccuracy is not what so many trials can give", strictjson.ErrInvalid)
		}
	}
	return nil
}

func (p *Plan) uniformAccuracy() *Accuracy {
	if p.Allocated == nil {
		return nil
	}
	return p.Allocated.Uniform.Accuracy
}

// possible reports whether so many trials can give these numbers.
func (a *Accuracy) possible() bool {
	const most = 1 << 40
	if a.Trials < 1 || a.Trials > most || !(a.Probability >= 0 && a.Probability <= 1) {
		return false
	}
	right := math.Round(a.Probability * float64(a.Trials))
	b := wilson(int(right), a.Trials)
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9 }
	return near(a.Probability, b.Probability) && near(a.Lower, b.Lower) && near(a.Upper, b.Upper) &&
		a.Chance > 0 && a.Chance <= 1 && a.MeanEMD >= 0 &&
		a.Elsewhere >= 0 && a.Elsewhere <= 1 && a.KnownMassSetSize >= 0 && a.CredibleSetSize >= 0
}

// merge marshals parts into one set of fields; a later part wins.
func merge(parts ...any) (map[string]json.RawMessage, error) {
	fields := make(map[string]json.RawMessage)
	for _, part := range parts {
		data, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// restates refuses a file that says more, less or something else than what was
// read from it: every derived number, sentence and digest is computed again.
func restates(data []byte, v json.Marshaler) error {
	again, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	return strictjson.Compare(data, again, "/"+sealKey)
}
