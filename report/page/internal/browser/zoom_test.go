// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What a test asks of the first map of a page.
const (
	shownWidth = `document.querySelector("svg.map").viewBox.baseVal.width`
	shownLeft  = `document.querySelector("svg.map").viewBox.baseVal.x`
	firstMark  = `document.querySelector("svg.map circle").getBoundingClientRect().width`
	inSight    = `(s => { const m = [...s.querySelectorAll("circle,rect:not(.ground)")].at(-1), b = s.getBoundingClientRect(), r = m.getBoundingClientRect(); return r.left >= b.left && r.right <= b.right && r.top >= b.top && r.bottom <= b.bottom })(document.querySelector("svg.map"))`
	namesThere = `[...document.querySelector("svg.map").lastElementChild.children].map(e => e.textContent)`
)

// TestZoom: buttons, keys, wheel and a drag magnify and move the map, and the page goes
// back to the whole one; what is magnified is named, as text whatever it holds.
func TestZoom(t *testing.T) {
	v := open(t, start(t), serve(t, html(t, 120, true), "").URL, 1440, false)
	whole, mark := ask[float64](t, v, shownWidth), ask[float64](t, v, firstMark)
	press := func(label string) {
		t.Helper()
		ask[bool](t, v, fmt.Sprintf(`(document.querySelector("button[aria-label='%s']").click(), true)`, label))
	}
	press("Magnify")
	press("Magnify")
	if got := ask[float64](t, v, shownWidth); got >= whole/2 {
		t.Errorf("two steps show %g of %g units", got, whole)
	}
	if got := ask[float64](t, v, firstMark); got <= mark || got >= 2.56*mark {
		t.Errorf("a mark of %g pixels has %g: it is to grow less than the distances, so that marks part", mark, got)
	}
	press("Magnify")
	press("Magnify")
	if names := ask[[]string](t, v, namesThere); len(names) == 0 || len(names) > 40 {
		t.Errorf("%d names are shown", len(names))
	}
	press("Magnify")
	if !ask[bool](t, v, inSight) {
		t.Error("the likeliest node, drawn last, is out of sight")
	}
	press("Reduce")
	press("Whole map")
	if got, names := ask[float64](t, v, shownWidth), ask[[]string](t, v, namesThere); got != whole || len(names) != 0 {
		t.Errorf("the whole map shows %g of %g units and %d names", got, whole, len(names))
	}
	ask[bool](t, v, `(document.querySelector("svg.map").parentElement.focus(), true)`)
	for range 4 {
		v.run(t, chromedp.KeyEvent("+"))
	}
	left := ask[float64](t, v, shownLeft)
	v.run(t, chromedp.KeyEvent(kb.ArrowRight))
	if got := ask[float64](t, v, shownLeft); got <= left {
		t.Errorf("an arrow moves the map from %g to %g", left, got)
	}
	if mark := ask[string](t, v, `getComputedStyle(document.activeElement).outlineStyle`); mark == "none" {
		t.Error("a map with the keyboard has no mark")
	}
	v.run(t, chromedp.KeyEvent("0"))
	if got := ask[float64](t, v, shownWidth); got != whole {
		t.Errorf("0 shows %g of %g units", got, whole)
	}
	pointer(t, v, whole)
}

// pointer: a wheel alone scrolls the page, with Ctrl it magnifies about the pointer; a
// drag takes the map along.
func pointer(t *testing.T, v *visit, whole float64) {
	t.Helper()
	wheel := func(ctrl bool) bool {
		return ask[bool](t, v, fmt.Sprintf(`(s => { const b = s.getBoundingClientRect()
			return s.dispatchEvent(new WheelEvent("wheel", {deltaY: -300, ctrlKey: %t, clientX: b.left, clientY: b.top, cancelable: true, bubbles: true})) })(document.querySelector("svg.map"))`, ctrl))
	}
	if !wheel(false) || ask[float64](t, v, shownWidth) != whole {
		t.Error("the wheel by itself does not scroll the page past the map")
	}
	if wheel(true) || ask[float64](t, v, shownWidth) >= whole || ask[float64](t, v, shownLeft) != 0 {
		t.Error("Ctrl and the wheel at the left edge do not magnify about it")
	}
	ask[bool](t, v, `(s => { const b = s.getBoundingClientRect(), to = (type, x) => s.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: b.left + x * b.width, clientY: b.top + 9, bubbles: true}))
		s.setPointerCapture = () => {}
		to("pointerdown", .8); to("pointermove", .5); to("pointermove", .3); to("pointerup", .3); to("pointermove", .1)
		return true })(document.querySelector("svg.map"))`)
	if got, want := ask[float64](t, v, shownLeft), .5*ask[float64](t, v, shownWidth); got < .98*want || got > 1.02*want {
		t.Errorf("a drag over half of the map moves it by %g units, want %g", got, want)
	}
}
