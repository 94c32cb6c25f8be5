// SPDX-License-Identifier: Apache-2.0

package folder

// A goroutine of its own parses rows while those before are worked on: batches of at most
// batchRows rows, and of little more than batchBytes where rows are long, of which aheadBatches
// wait at most.
const (
	batchRows    = 1024
	batchBytes   = 1 << 18
	aheadBatches = 2
)

// rowBatch holds rows one after the other, each of as many fields as the header has.
type rowBatch struct {
	fields []string
	lines  []int
	bytes  []byte // of the rows, where the table keeps them
	ends   []int  // of each row in them
	err    error  // of the row behind them
}

// row returns the bytes of row k.
func (b *rowBatch) row(k int) []byte {
	if k == 0 {
		return b.bytes[:b.ends[0]]
	}
	return b.bytes[b.ends[k-1]:b.ends[k]]
}

// ahead returns a function that returns the rows as [table.next] does, until its first error,
// and one that ends the reading, whether or not rows are left.
func (t *table) ahead() (next func() (fields []string, line int, err error), end func()) {
	full, stop := make(chan *rowBatch, aheadBatches), make(chan struct{})
	go t.parse(full, stop)
	b, k, width := &rowBatch{}, 0, len(t.as)
	next = func() ([]string, int, error) {
		for k == len(b.lines) {
			if b.err != nil {
				return nil, 0, b.err
			}
			b, k = <-full, 0
		}
		if t.source.keep {
			t.bytes = b.row(k)
		}
		k++
		return b.fields[(k-1)*width : k*width], b.lines[k-1], nil
	}
	end = func() {
		close(stop)
		for range full { // until the parser has ended
		}
	}
	return next, end
}

// parse hands over batches until the first error, the end of the file included, or until stop
// is closed, and closes full.
func (t *table) parse(full chan<- *rowBatch, stop <-chan struct{}) {
	defer close(full)
	for {
		b := t.batch()
		select {
		case full <- b:
		case <-stop:
			return
		}
		if b.err != nil {
			return
		}
	}
}

func (t *table) batch() *rowBatch {
	b := &rowBatch{fields: make([]string, 0, batchRows*min(len(t.as), 16)), lines: make([]int, 0, batchRows)}
	for size := 0; len(b.lines) < batchRows && size < batchBytes; {
		fields, line, err := t.next()
		if err != nil {
			b.err = err
			break
		}
		for _, f := range fields {
			size += len(f)
		}
		b.fields, b.lines = append(b.fields, fields...), append(b.lines, line)
		if t.source.keep {
			b.bytes = append(b.bytes, t.rowBytes()...)
			b.ends = append(b.ends, len(b.bytes))
		}
	}
	return b
}
