// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Answer is what is published of a person.
type Answer struct {
	ID    graph.ID       `json:"nodeId"`
	Yes   bool           `json:"yes"`
	Nonce *privacy.Nonce `json:"nonce,omitempty"` // escrow only
}

// Question is what is asked of people, and how their answers are made private.
type Question struct {
	Rumour     string             `json:"rumour"`  // answers about one rumour add up
	Round      int                `json:"round"`   // from 1
	Epsilon    float64            `json:"epsilon"` // of one answer; the coin has the largest multiple of 2⁻⁴⁰ up to it
	Randomness privacy.Randomness `json:"randomness"`
}

// Validate refuses an ε outside [privacy.MinEpsilon, privacy.MaxEpsilon], and what names no round of a rumour.
func (q Question) Validate() error {
	if _, err := privacy.PureCost(q.Epsilon); err != nil {
		return err
	}
	if q.Round < 1 || q.Randomness != privacy.SystemRandomness && q.Randomness != privacy.EscrowRandomness {
		return fmt.Errorf("answer: round %d with %s randomness, want at least 1, system or escrow", q.Round, q.Randomness)
	}
	return privacy.CheckID("rumour", q.Rumour)
}

// cost returns what an answer costs, and with it the ε of its coin; 0 where ε is not valid.
func (q Question) cost() privacy.Cost {
	c, _ := privacy.PureCost(q.Epsilon)
	return c
}

// Flip returns f = 1/(1 + e^ε), rounded to the nearest number. The coin takes the exact one.
func (q Question) Flip() float64 {
	bits := 128 + int(1.5*q.Epsilon) // f ≥ 2^−(1.5ε + 1)
	f := new(big.Float).SetInt(flipChance(q.cost(), uint(bits)))
	x, _ := f.SetMantExp(f, -bits).Float64()
	return x
}

// keyed is the answer that the bits of a person's key give.
func (q Question) keyed(c coin, key *privacy.SensorKey, releaseID string, truth bool) (Answer, error) {
	nonce := q.nonce(key, releaseID, truth)
	flip, err := q.keyedFlip(c, key, releaseID, nonce)
	return Answer{Yes: flip != truth, Nonce: &nonce}, err
}

func (q Question) nonce(key *privacy.SensorKey, releaseID string, truth bool) privacy.Nonce {
	value := int64(0)
	if truth {
		value = 1
	}
	return key.Nonce(releaseID, q.calibration(), value)
}

func (q Question) keyedFlip(c coin, key *privacy.SensorKey, releaseID string, nonce privacy.Nonce) (bool, error) {
	next, err := key.Bits(releaseID, q.calibration(), nonce)
	if err != nil {
		return false, err
	}
	return c.flip(next)
}

// calibration returns SHA-256 of the text that binds bits to mechanism, ε, rumour and round.
func (q Question) calibration() privacy.Digest { // the rumour holds no line end
	return sha256.Sum256(fmt.Appendf(nil, "graphcloak-calibration/v1\nmechanism=randomized-response\nepsilon=%016x\nround=%d\nrumour=%s\n",
		math.Float64bits(q.Epsilon), q.Round, q.Rumour))
}
