// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/graphcloak/graphcloak/internal/must"
)

// chromium finds the browser, or installs Debian's.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Getuid() != 0 {
		t.Fatal("no chromium: install it (Debian: apt-get install chromium), or run as root where apt-get is")
	}
	for _, args := range [][]string{{"update", "-qq"}, {"install", "-y", "-qq", "--no-install-recommends", "chromium"}} {
		cmd := exec.CommandContext(t.Context(), apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("apt-get %s: %v\n%s", args[0], err, out)
		}
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("apt-get installed no chromium")
	}
	return path
}

// site serves one page under a policy and notes every request for anything else.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	other []string
}

func serve(t *testing.T, html, policy string) *site {
	t.Helper()
	s := new(site)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.other = append(s.other, r.URL.Path)
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		fmt.Fprint(w, html)
	}))
	t.Cleanup(s.Close)
	return s
}

// visit is a tab with what it complained of and asked for.
type visit struct {
	context.Context
	mu                 sync.Mutex
	complaints, wanted []string
}

// open shows a page in a window of so many pixels.
func open(t *testing.T, browser context.Context, url string, width int64, dark bool) *visit {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	v := &visit{Context: ctx}
	must.Do(t, chromedp.Listen(ctx, v.listen))
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	v.run(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), command(runtime.Enable, cdp.Empty{}),
		chromedp.EmulateViewport(width, 900),
		media(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		chromedp.Navigate(url))
	return v
}

// command makes an action of a command of the protocol whose result is not wanted.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func media(params emulation.SetEmulatedMediaParams) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, params)
}

func (v *visit) listen(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		v.wanted = append(v.wanted, e.Request.URL)
	case *log.EventEntryAdded:
		if !strings.Contains(e.Entry.URL, "favicon") { // asked for by the browser, not by the page
			v.complaints = append(v.complaints, e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		v.complaints = append(v.complaints, e.Type.String())
	case *runtime.EventExceptionThrown:
		v.complaints = append(v.complaints, e.ExceptionDetails.Text)
	}
}

func (v *visit) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	must.Do(t, chromedp.Do(v, actions...))
}

// ask evaluates a script of the test's own, which a page's policy does not hold back.
func ask[T any](t *testing.T, v *visit, script string) T {
	t.Helper()
	out, err := chromedp.Run(v, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return out
}

// start starts a browser for one test.
func start(t *testing.T) context.Context {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	browser, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	must.Do(t, chromedp.Do(browser))
	return browser
}
