// SPDX-License-Identifier: Apache-2.0

package privacy

// SystemBits calls use with a function that returns 64 uniform bits of the operating
// system's generator at a time, and clears what was read ahead.
func SystemBits(use func(next func() uint64) error) error {
	src := &systemWords{}
	defer src.wipe()
	return use(src.next)
}

// Nonce is that of [Escrow] for a value under a release id and a calibration.
func (k *SensorKey) Nonce(releaseID string, calibration Digest, value int64) Nonce {
	return k.newMAC().nonce(releaseID, calibration, value)
}

// Bits returns the stream of uniform bits of [Escrow] for a nonce, 64 at a time. The
// calibration binds them to the mechanism that uses them: two mechanisms never share any.
//
// Proof: docs/proofs/escrow.md.
func (k *SensorKey) Bits(releaseID string, calibration Digest, nonce Nonce) (next func() uint64, err error) {
	src, err := k.newMAC().bits(releaseID, calibration, nonce)
	if err != nil {
		return nil, err
	}
	return src.next, nil
}
