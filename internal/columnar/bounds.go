// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// What a file may take of memory, whatever it states. The reader of Parquet allocates what a length in the file says.
const (
	maxFooter = 16 << 20  // bytes: some 20,000 groups of rows with five columns
	maxPage   = 128 << 20 // bytes of a page, packed and as it states unpacked
	maxValues = 1 << 24   // of a page
	maxHeader = 16 << 20  // bytes of the header of a page, which may hold the least and the largest text
	maxRow    = 16 << 20  // bytes of the texts of a row
)

// recovered makes an error of a panic: the reader of Parquet may panic on an altered file.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = damaged(fmt.Errorf("%v", p))
	}
}

// damaged quotes an error, which may hold bytes of the file.
func damaged(err error) error {
	return fmt.Errorf("is damaged, or uses what is not read: %.300q", err.Error())
}

// list refuses lists with more elements than there are bytes to come.
type list struct {
	thrift.BytesReader
	size int
}

func (l list) ReadList() (thrift.List, error) {
	head, err := l.BytesReader.ReadList()
	if err == nil && int(head.Size) > l.size-l.BytesRead() {
		err = errors.New("a list ends beyond the file's footer")
	}
	return head, err
}

// decode reads a structure at the beginning of data, and returns its length.
func decode(data []byte, into any) (int, error) {
	r := new(thrift.CompactProtocol).NewReaderFromBytes(data)
	err := thrift.NewDecoder(list{r, len(data)}).Decode(into)
	return r.BytesRead(), err
}

// checkFooter refuses a file whose lengths are not those of its parts.
func checkFooter(input io.ReaderAt, size int64) error {
	var end [8]byte
	if _, err := input.ReadAt(end[:], max(size-8, 0)); err != nil || string(end[4:]) != "PAR1" {
		return errors.New("is no whole Parquet file: it does not end in PAR1")
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if n > min(size-12, maxFooter) {
		return fmt.Errorf("has a footer of %d bytes in %d, want at most %d; write larger groups of rows", n, size, maxFooter)
	}
	footer := make([]byte, n)
	if _, err := input.ReadAt(footer, size-8-n); err != nil {
		return damaged(err)
	}
	if _, err := decode(footer, new(format.FileMetaData)); err != nil {
		return damaged(err)
	}
	return nil
}

// checkPages refuses pages of a column that would take more memory than is bounded. The reader of Parquet unpacks all groups of rows
// by the codec of the first.
func checkPages(input io.ReaderAt, size int64, c *format.ColumnMetaData, codec format.CompressionCodec, optional bool) error {
	at := cmp.Or(c.DictionaryPageOffset, c.DataPageOffset)
	if at < 0 || at > size || c.TotalCompressedSize < 0 || c.TotalCompressedSize > size-at {
		return errors.New("is damaged: a column lies outside the file")
	}
	var page []byte
	data := make([]byte, 1<<16)
	for end := at + c.TotalCompressedSize; at < end; {
		n, err := input.ReadAt(data[:min(end-at, int64(len(data)))], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged(err)
		}
		var h format.PageHeader
		length, err := decode(data[:n], &h)
		if err != nil && n == len(data) && n < maxHeader {
			data = make([]byte, maxHeader)
			continue
		}
		if err != nil {
			return damaged(err)
		}
		values := max(h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, h.DictionaryPageHeader.V.NumValues)
		if max(h.CompressedPageSize, h.UncompressedPageSize) > maxPage || values > maxValues {
			return fmt.Errorf("has a page of more than %d bytes or %d values; write smaller pages", maxPage, maxValues)
		}
		at += int64(length)
		page = slices.Grow(page[:0], int(h.CompressedPageSize))[:h.CompressedPageSize]
		if _, err := input.ReadAt(page, at); err != nil {
			return damaged(err)
		}
		if err := checkPage(&h, page, codec, optional); err != nil {
			return err
		}
		at += int64(len(page))
	}
	return nil
}

// plainDictionary is the name that old writers give to what is now RLEDictionary.
const plainDictionary format.Encoding = 2

// checkPage refuses a page that has more in it than it states.
func checkPage(h *format.PageHeader, page []byte, codec format.CompressionCodec, optional bool) (err error) {
	size, values := int(h.UncompressedPageSize), int(h.DataPageHeader.V.NumValues)
	encoding, levels := h.DataPageHeader.V.Encoding, []byte(nil)
	if h.Type == format.DataPageV2 {
		v := h.DataPageHeaderV2.V
		begin := v.RepetitionLevelsByteLength + v.DefinitionLevelsByteLength
		levels, page, size = page[v.RepetitionLevelsByteLength:begin], page[begin:], size-int(begin)
		values, encoding = int(v.NumValues), v.Encoding
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			codec = format.Uncompressed
		}
	}
	if page, err = unpack(codec, page, size); err != nil || h.Type == format.DictionaryPage {
		return err
	}
	if h.Type == format.DataPage && optional {
		end := 4 + int(binary.LittleEndian.Uint32(page))
		levels, page = page[4:end], page[end:]
	}
	if err := checkRuns(levels, 1, values); err != nil || len(page) == 0 {
		return err
	}
	switch encoding {
	case format.RLEDictionary, plainDictionary:
		return checkRuns(page[1:], uint64(page[0]), values)
	case format.RLE:
		return checkRuns(page[4:], 1, values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray: // size of a block, its parts, values
		for k := range 3 {
			u, n := binary.Uvarint(page)
			if n <= 0 || k == 2 && u > uint64(values) {
				return errors.New("is damaged: a page has more values than it states")
			}
			page = page[n:]
		}
	case format.Plain, format.ByteStreamSplit:
	default:
		return fmt.Errorf("has the encoding %q; write plain pages or such with a dictionary", encoding)
	}
	return nil
}

// checkRuns refuses runs of more values than there are, but for the last, which may be filled up.
func checkRuns(data []byte, width uint64, values int) error {
	left := uint64(values) + 512
	for len(data) > 0 {
		u, n := binary.Uvarint(data)
		run, length := u>>1, (width+7)/8
		if u&1 != 0 { // groups of eight, packed
			run, length = 8*min(run, maxValues), min(run, maxValues)*width
		}
		if n <= 0 || run > left {
			return errors.New("is damaged: a page has a run of more values than it states")
		}
		left -= run
		data = data[n:]
		data = data[min(length, uint64(len(data))):]
	}
	return nil
}

var unzstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))

// unpack returns what a page has in it, of which it states the size.
func unpack(codec format.CompressionCodec, page []byte, size int) (data []byte, err error) {
	switch codec {
	case format.Uncompressed:
		return page, nil
	case format.Snappy:
		if n, err := snappy.DecodedLen(page); err != nil || n != size {
			return nil, errors.New("is damaged: a page unpacks to another size than it states")
		}
		data, err = snappy.Decode(nil, page)
	case format.Zstd:
		data, err = unzstd.DecodeAll(page, make([]byte, 0, size))
	case format.Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(page)); err == nil {
			data, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
		}
	default:
		return nil, fmt.Errorf("is packed by %q; write it with zstd, snappy or gzip", codec)
	}
	if err != nil || len(data) != size {
		return nil, errors.New("is damaged: a page unpacks to another size than it states")
	}
	return data, nil
}
