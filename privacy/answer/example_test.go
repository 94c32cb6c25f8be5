// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
)

// Ask two people, pay, answer, publish. A third person is asked in the same round later; the
// answers of the others are kept.
func Example() {
	ctx, ledger := context.Background(), new(privacy.MemoryLedger)
	people := []privacy.Sensor{{Node: 0, ID: "Ann"}, {Node: 1, ID: "Ben"}, {Node: 2, ID: "Cem"}}
	heard := map[string]bool{"Ann": true, "Cem": true}
	escrow, err := privacy.NewEscrow(bytes.Repeat([]byte{7}, privacy.KeySize), "office", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(id string, people ...privacy.Sensor) (*answer.Release, error) {
		p := &answer.Plan{
			Question: answer.Question{Rumour: "heard", Round: 1, Epsilon: 1, Randomness: privacy.EscrowRandomness}, People: people,
		}
		charge, err := p.Charge("property=heard", id, privacy.NewAttempt())
		if err != nil {
			return nil, err
		}
		entry, err := privacy.Spend(ctx, ledger, charge)
		if err != nil {
			return nil, err
		}
		var truths []bool
		for _, person := range people {
			truths = append(truths, heard[string(person.ID)])
		}
		r, err := p.Answer(truths, id, escrow)
		if err != nil {
			return nil, err
		}
		fmt.Println(r.ID(), "verified:", answer.Verify(r, p) == nil && answer.VerifyEntry(r, entry) == nil)
		return r, nil
	}
	monday, err := ask("monday", people[:2]...)
	if err != nil {
		fmt.Println(err)
		return
	}
	kept, err := answer.Keep("heard", monday)
	if err != nil {
		fmt.Println(err)
		return
	}
	tuesday, err := ask("tuesday", kept.Unasked(people, 1)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := json.Marshal(tuesday)
	if err != nil {
		fmt.Println(err)
		return
	}
	var read answer.Release
	if err := json.Unmarshal(data, &read); err != nil {
		fmt.Println(err)
		return
	}
	truths, err := read.Reveal(escrow)
	fmt.Println(len(read.Plan().People), read.Answers()[0].ID, truths, err)
	account, err := privacy.ReadAccount(ctx, ledger, "property=heard")
	if err != nil {
		fmt.Println(err)
		return
	}
	spent, err := account.Epsilon(0)
	fmt.Println("each person has spent ε =", spent, err)
	// Output:
	// monday verified: true
	// tuesday verified: true
	// 1 Cem [true] <nil>
	// each person has spent ε = 1 <nil>
}
