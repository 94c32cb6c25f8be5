// SPDX-License-Identifier: Apache-2.0

// Package operatorfile reads linear operators from files: CSV and Parquet with the columns sensor, node, response and, where a sensor
// reads several times, time; and Matrix Market.
package operatorfile

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/columnar"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/laplacian/response"
)

// reportEvery is the number of entries between two calls of progress and two looks at the context.
const reportEvery = 1 << 16

// reader adds the entries of one file.
type reader struct {
	ctx      context.Context
	name     string
	builder  *response.Builder
	progress func(stage string, done, total int64)
	done     int64
}

// Read begins an operator under the name of the file and adds its entries, which are in order of arrival. The format is that of the
// name's end: .parquet, .mtx, else CSV. It returns [response.ErrInvalid] for a file that is none, with the place, and the errors of
// [disk.Open].
func Read(ctx context.Context, path string, b *response.Builder, progress func(stage string, done, total int64)) error {
	file, err := disk.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := &reader{ctx: ctx, name: filepath.Base(path), builder: b, progress: progress}
	b.Begin(r.name)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet":
		return r.parquet(file)
	case ".mtx":
		return r.matrixMarket(file, path)
	}
	return r.csv(file)
}

// add adds an entry at a place of the file.
func (r *reader) add(place int64, sensor, node string, x float64, time string) error {
	if err := r.builder.Add(graph.ID(sensor), graph.ID(node), x, time); err != nil {
		return fmt.Errorf("%q, entry %d: %w", r.name, place, err)
	}
	return r.tick()
}

func (r *reader) tick() error {
	if r.done++; r.done%reportEvery != 0 {
		return nil
	}
	if r.progress != nil {
		r.progress("read operator "+r.name, r.done, 0)
	}
	return r.ctx.Err()
}

func (r *reader) invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %q %s", response.ErrInvalid, r.name, fmt.Sprintf(format, args...))
}

// columns are the places of the columns in a header; time is −1 where there is none.
type columns struct{ sensor, node, response, time int }

func (r *reader) columns(header []string) (c columns, err error) {
	place := func(name string) int { return slices.Index(header, name) }
	c = columns{place("sensor"), place("node"), place("response"), place("time")}
	if c.sensor < 0 || c.node < 0 || c.response < 0 {
		return c, r.invalid("has no columns sensor, node and response, parted by commas in a CSV file")
	}
	return c, nil
}

func (r *reader) csv(file io.Reader) error {
	rows := csv.NewReader(bufio.NewReaderSize(file, 1<<20))
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return r.invalid("is empty, want a header sensor,node,response and an entry a line")
	}
	if err != nil {
		return r.invalid("has no header sensor,node,response: %v", err)
	}
	header[0] = strings.TrimPrefix(header[0], "\uFEFF")
	c, err := r.columns(header)
	if err != nil {
		return err
	}
	rows.ReuseRecord = true
	return r.entries(c, rows.Read)
}

func (r *reader) parquet(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	rows, err := columnar.NewReader(file, info.Size())
	if err != nil {
		return r.invalid("%v", err)
	}
	c, err := r.columns(rows.Names)
	if err != nil {
		return err
	}
	if err := rows.Choose(c.sensor, c.node, c.response, c.time); err != nil {
		return r.invalid("%v", err)
	}
	return r.entries(c, rows.Next)
}

// entries adds what next returns.
func (r *reader) entries(c columns, next func() ([]string, error)) error {
	for {
		fields, err := next()
		if errors.Is(err, io.EOF) {
			return r.ctx.Err()
		}
		if err != nil {
			return r.invalid("cannot be read: %v", err)
		}
		x, err := strconv.ParseFloat(fields[c.response], 64)
		if err != nil {
			return r.invalid("has a response that is no number, entry %d", r.done+1)
		}
		time := ""
		if c.time >= 0 {
			time = fields[c.time]
		}
		if err := r.add(r.done+1, fields[c.sensor], fields[c.node], x, time); err != nil {
			return err
		}
	}
}

// matrixMarket reads a coordinate matrix of real numbers (R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats,
// NISTIR 5935, 1996). Rows and columns are named by the lines of two files beside it.
func (r *reader) matrixMarket(file io.Reader, path string) error {
	sensors, err := r.lines(path + ".sensors")
	if err != nil {
		return err
	}
	nodes, err := r.lines(path + ".nodes")
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(file)
	if !lines.Scan() || !slices.Equal(strings.Fields(strings.ToLower(lines.Text())),
		[]string{"%%matrixmarket", "matrix", "coordinate", "real", "general"}) {
		return r.invalid("does not begin with %%%%MatrixMarket matrix coordinate real general")
	}
	sized, count := false, int64(0)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "%") {
			continue
		}
		if len(fields) != 3 {
			return r.invalid("has a line of %d fields, want 3, entry %d", len(fields), r.done+1)
		}
		i, errI := strconv.Atoi(fields[0])
		j, errJ := strconv.Atoi(fields[1])
		x, errX := strconv.ParseFloat(fields[2], 64)
		switch {
		case errors.Join(errI, errJ, errX) != nil:
			return r.invalid("has a field that is no number, entry %d", r.done+1)
		case !sized:
			if sized, count = true, int64(x); i != len(sensors) || j != len(nodes) {
				return r.invalid("is %d × %d, and the files beside it name %d sensors and %d nodes", i, j, len(sensors), len(nodes))
			}
			continue
		case i < 1 || i > len(sensors) || j < 1 || j > len(nodes):
			return r.invalid("has an entry (%d, %d) outside the matrix", i, j)
		}
		sensor, time, _ := strings.Cut(sensors[i-1], "\t")
		if err := r.add(r.done+1, sensor, nodes[j-1], x, time); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return r.invalid("cannot be read: %v", err)
	}
	if r.done != count {
		return r.invalid("has %d entries, and states %d", r.done, count)
	}
	return r.ctx.Err()
}

// maxNames bounds a file of names in bytes.
const maxNames = 1 << 28

// lines reads a file of names.
func (r *reader) lines(path string) ([]string, error) {
	data, err := disk.Read(path, maxNames)
	if err != nil {
		return nil, fmt.Errorf("%q needs beside it a file with .sensors at its end (a line each: id, or id, tab and time) and one with "+
			".nodes (a line each: id): %w", r.name, err)
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n"), nil
}
