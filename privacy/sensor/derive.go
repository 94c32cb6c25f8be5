// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphcloak/graphcloak/privacy"
)

// DeriveKeys makes the key of each sensor from a file with the master secret, writes it into a folder under the name of the sensor's
// package, and returns the files. All packages are checked before anything is written. It returns [privacy.ErrInput] for a package that
// asks for system randomness, and the errors of [ReadKeyFile] and [ReadFile].
func DeriveKeys(master, dir string, packages []string) ([]string, error) {
	secret, err := ReadKeyFile(master)
	if err != nil {
		return nil, err
	}
	keys := make([]*privacy.SensorKey, len(packages))
	for i, path := range packages {
		p, err := ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if p.Randomness != privacy.EscrowRandomness {
			return nil, fmt.Errorf("%w: %s asks for system randomness; plan with --deployment NAME", privacy.ErrInput, path)
		}
		escrow, err := privacy.NewEscrow(secret, p.Deployment, p.Epoch)
		if err != nil {
			return nil, err
		}
		if keys[i], err = escrow.SensorKey(string(p.Sensor.ID)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files := make([]string, len(packages))
	for i, path := range packages {
		files[i] = filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".json")+".key")
		if err := WriteKeyFile(files[i], keys[i].Bytes()); err != nil {
			return nil, err
		}
	}
	return files, nil
}
