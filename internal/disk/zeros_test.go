// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"bytes"
	"testing"
)

// TestWriteZeros: where the file system sets no room aside, as many zeros are written.
func TestWriteZeros(t *testing.T) {
	for _, size := range []int64{1, 1 << 20, 1<<20 + 1, 3<<20 + 5} {
		var text bytes.Buffer
		if err := writeZeros(&text, size); err != nil || int64(text.Len()) != size || len(bytes.Trim(text.Bytes(), "\x00")) > 0 {
			t.Errorf("%d bytes, want %d zeros; %v", text.Len(), size, err)
		}
	}
}
