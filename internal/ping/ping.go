// SPDX-License-Identifier: Apache-2.0

// Package ping tells a monitor that a job begins and how it ended, by the convention of
// healthchecks.io: URL/start, then URL after success or URL/EXIT, the exit status, after
// a failure. A monitor that hears nothing raises the alarm itself.
package ping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrAddress says that an address cannot be pinged.
var ErrAddress = errors.New("ping: the address is no URL that begins with https:// or http://, without a password and a fragment")

// Monitor is an address to ping. Anyone who knows the address can report in the job's
// name, so no error holds it.
type Monitor struct {
	address *url.URL
	client  *http.Client
}

// Limits of one message.
const (
	patience  = 5 * time.Second // of an attempt
	attempts  = 2
	redirects = 3
)

// New returns the monitor at an address, or [ErrAddress]. Nothing is sent.
func New(address string) (*Monitor, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, ErrAddress
	}
	client := &http.Client{Timeout: patience, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > redirects {
			return errors.New("it redirects too often")
		}
		return nil
	}}
	return &Monitor{u, client}, nil
}

// Start says that the job begins.
func (m *Monitor) Start(ctx context.Context) error { return m.send(ctx, m.address.JoinPath("start")) }

// End says how the job ended, by its exit status.
func (m *Monitor) End(ctx context.Context, exit int) error {
	if exit == 0 {
		return m.send(ctx, m.address)
	}
	return m.send(ctx, m.address.JoinPath(strconv.Itoa(exit)))
}

// send requests a URL, and once more where that failed.
func (m *Monitor) send(ctx context.Context, u *url.URL) error {
	var err error
	for range attempts {
		if err = m.once(ctx, u); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

func (m *Monitor) once(ctx context.Context, u *url.URL) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return ErrAddress
	}
	req.Header.Set("User-Agent", "graphcloak")
	resp, err := m.client.Do(req)
	if err != nil {
		return fmt.Errorf("ping: no answer from %s: %w", u.Hostname(), secretless(err))
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<16) // so that the connection ends in order
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("ping: %s answered with status %d", u.Hostname(), resp.StatusCode)
	}
	return nil
}

// secretless is the reason of a failed request without its URL, which may be that of a
// redirect.
func secretless(err error) error {
	for {
		of, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		if of.Timeout() {
			return context.DeadlineExceeded
		}
		err = of.Err
	}
}
