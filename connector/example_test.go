// SPDX-License-Identifier: Apache-2.0

package connector_test

import (
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/connector"
)

// A caller acts on the kind of an error, and shows what it suggests.
func ExampleNotFound() {
	err := fmt.Errorf("read graph: %w", connector.NotFound("node label", "Persn", []string{"City", "Person"}))
	fmt.Println(errors.Is(err, connector.ErrNotFound))
	if e, ok := errors.AsType[*connector.NotFoundError](err); ok {
		fmt.Println("try", e.Suggestion)
	}
	// Output:
	// true
	// try Person
}
