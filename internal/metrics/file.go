// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// ErrFile says that an earlier file of metrics could not be continued.
var ErrFile = errors.New("metrics: the earlier file is not one of this program")

// maxFile bounds what is read of an earlier file, and what is made sure of for a new
// one, in bytes.
const maxFile = 1 << 18

// NameOf returns the name of the job whose metrics a file holds: its base name, which
// no other file of the folder has.
func NameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// format is OpenMetrics for FILE.om and FILE.openmetrics, else the text format that
// the node exporter's textfile collector reads.
func format(path string) expfmt.Format {
	if slices.Contains([]string{".om", ".openmetrics"}, filepath.Ext(path)) {
		return expfmt.NewFormat(expfmt.TypeOpenMetrics)
	}
	return expfmt.NewFormat(expfmt.TypeTextPlain)
}

// CheckFile makes sure that a file of metrics can be written, before there is
// anything to tell. [ErrFile] where something else is there: it is not replaced.
func CheckFile(path string) error {
	if err := disk.Replaceable(path); err != nil {
		return err
	}
	data, err := disk.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	if _, err := parse(path, data); err != nil {
		return err
	}
	return disk.Room(filepath.Dir(path), maxFile)
}

func parse(path string, data []byte) (map[string]*dto.MetricFamily, error) {
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %s is no text of metrics", ErrFile, path)
	}
	return families, nil
}

// WriteFile replaces a file of metrics at once. Others may read it.
func (s *Set) WriteFile(path string) error {
	families, err := s.registry.Gather()
	if err != nil {
		return err
	}
	return disk.Write(path, disk.Options{Mode: 0o644, Replace: true}, func(w io.Writer) error {
		e := expfmt.NewEncoder(w, format(path))
		for _, f := range families {
			if err := e.Encode(f); err != nil {
				return err
			}
		}
		if c, ok := e.(expfmt.Closer); ok { // OpenMetrics ends with a line of its own
			return c.Close()
		}
		return nil
	})
}

// Continue takes over from an earlier file what outlasts a run: the counters, and when
// a run of the job last succeeded. No file is no error. [ErrFile], with nothing taken
// over, where it is not one that this package wrote for the job at or before now.
func (s *Set) Continue(path, name string, now time.Time) error {
	data, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	families, err := parse(path, data)
	if err != nil {
		return err
	}
	counts, success, err := earlier(families, name, now)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	for status, n := range counts {
		s.runs.WithLabelValues(text(name), status).Add(n)
	}
	if success > 0 {
		s.success.WithLabelValues(text(name)).Set(success)
	}
	return nil
}

// earlier finds the counters and the last success of a job, and refuses numbers that
// this package cannot have written.
func earlier(families map[string]*dto.MetricFamily, name string, now time.Time) (counts map[string]float64, success float64, err error) {
	counts = make(map[string]float64)
	for _, m := range families[runsTotal].GetMetric() {
		status, n := label(m, statusLabel), value(m)
		switch {
		case label(m, nameLabel) != text(name):
			return nil, 0, errors.New("it is another job's")
		case !slices.Contains(Statuses(), status), !(n >= 0 && n < 1<<53), n != math.Trunc(n):
			return nil, 0, errors.New("its counters are no counts")
		}
		counts[status] += n
	}
	for _, m := range families[lastSuccess].GetMetric() {
		success = max(success, value(m))
		if t := value(m); label(m, nameLabel) != text(name) || !(t >= 0 && t <= unix(now)) {
			return nil, 0, errors.New("its last success is another job's or in the future")
		}
	}
	return counts, success, nil
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// value reads a sample whatever the file says of its type: the text format has no
// other name for a counter of OpenMetrics than that of its sample.
func value(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Untyped != nil:
		return m.Untyped.GetValue()
	}
	return math.NaN()
}
