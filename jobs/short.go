// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"strings"

	"github.com/google/uuid"
)

// shortRunID is the length of the part of a UUIDv7 that is its time.
const shortRunID = 13

// ShortID is the beginning of a run's id, where that names it alone among runs. An id that is no UUID is shown as it is.
func ShortID(id string, among []Run) string {
	if uuid.Validate(id) != nil || len(id) <= shortRunID || len(BegunBy(id[:shortRunID], among)) != 1 {
		return id
	}
	return id[:shortRunID]
}

// BegunBy are the ids that begin with a text.
func BegunBy(start string, among []Run) (ids []string) {
	for _, r := range among {
		if strings.HasPrefix(r.RunID, start) {
			ids = append(ids, r.RunID)
		}
	}
	return ids
}
