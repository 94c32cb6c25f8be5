"use strict"
// SPDX-License-Identifier: Apache-2.0
// Each map can be magnified and moved: by buttons, keys, wheel, mouse and fingers. It stands in the page as it is, so it
// holds neither of the two characters that open a tag or an entity.
const most = 60 // magnification
const near = 40 // as many marks as are named when no more are in sight

document.querySelectorAll("svg.map").forEach(svg => {
	const { width, height } = svg.viewBox.baseVal, region = svg.parentElement
	const marks = [...svg.querySelectorAll("circle,rect:not(.ground)")].map(mark)
	const texts = [...svg.querySelectorAll("text")].map(e => ({ e, edge: 4 }))
	const names = svg.appendChild(document.createElementNS(svg.namespaceURI, "g"))
	let x = 0, y = 0, k = 1
	let answer = true // the middle is the likeliest, which is drawn last, until somebody moves the map

	const tools = document.createElement("p")
	tools.className = "tools"
	const said = document.createElement("span")
	said.setAttribute("role", "status")
	tools.append(
		button("+", "Magnify", () => step(1.6)), button("−", "Reduce", () => step(1 / 1.6)), button("Whole map", "Whole map", whole), said)
	region.before(tools)
	region.setAttribute("aria-keyshortcuts", "+ - 0 ArrowLeft ArrowRight ArrowUp ArrowDown")
	show()

	function step(factor) {
		zoom(factor, .5, .5, answer)
		if (!answer) return
		x = marks.at(-1).x - width / k / 2
		y = marks.at(-1).y - height / k / 2
		show()
	}
	function zoom(factor, across, down, keep = false) {
		answer = keep
		const before = k
		k = Math.min(most, Math.max(1, k * factor))
		x += width * across * (1 / before - 1 / k)
		y += height * down * (1 / before - 1 / k)
		show()
	}
	function move(across, down) {
		answer = false
		x += width * across / k
		y += height * down / k
		show()
	}
	function whole() {
		k = 1
		answer = true
		show()
	}
	function show() {
		x = Math.min(width - width / k, Math.max(0, x))
		y = Math.min(height - height / k, Math.max(0, y))
		svg.setAttribute("viewBox", [x, y, width / k, height / k].join(" "))
		svg.style.touchAction = k > 1 ? "none" : "pan-x pan-y"
		svg.style.cursor = k > 1 ? "grab" : ""
		said.textContent = k > 1 ? k.toFixed(1) + " times as large" : "+ and −, Ctrl and the wheel, or two fingers magnify; arrows or a drag then move"
		marks.forEach(m => m.resize(k ** -.6))
		name()
		const size = k ** -.95
		texts.concat([...names.children].map(e => ({ e, edge: 4 }))).forEach(t => {
			t.e.style.fontSize = ""
			t.e.style.fontSize = parseFloat(getComputedStyle(t.e).fontSize) * size + "px"
			t.e.style.strokeWidth = t.edge * size
		})
	}
	// name writes names beside marks where few are in sight.
	function name() {
		const seen = k > 1 ? marks.filter(m => Math.min(m.x - x, x + width / k - m.x, m.y - y, y + height / k - m.y) > 0) : []
		names.replaceChildren(...(seen.length > near ? [] : seen).map(m => {
			const t = document.createElementNS(svg.namespaceURI, "text")
			t.setAttribute("class", "ink rim")
			t.setAttribute("stroke-linejoin", "round")
			t.setAttribute("paint-order", "stroke")
			t.setAttribute("x", m.x + 1.3 * m.r * k ** -.6)
			t.setAttribute("y", m.y)
			t.textContent = m.name
			return t
		}))
	}

	region.addEventListener("keydown", e => {
		if (e.ctrlKey || e.metaKey || e.altKey) return
		const act = {
			"+": () => step(1.6), "=": () => step(1.6), "-": () => step(1 / 1.6), "0": whole,
			ArrowLeft: () => move(-.15, 0), ArrowRight: () => move(.15, 0), ArrowUp: () => move(0, -.15), ArrowDown: () => move(0, .15),
		}[e.key]
		if (!act || (k == 1 ? e.key.startsWith("Arrow") : false)) return // the arrows scroll the page past a whole map
		e.preventDefault()
		act()
	})
	svg.addEventListener("wheel", e => {
		if (!e.ctrlKey) return // the page scrolls
		e.preventDefault()
		const [across, down] = at(e)
		zoom(Math.exp(-e.deltaY / 300), across, down)
	}, { passive: false })

	const down = new Map()
	let moved = false
	const at = e => {
		const box = svg.getBoundingClientRect()
		return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height]
	}
	svg.addEventListener("pointerdown", e => {
		if (down.size == 0) moved = false
		down.set(e.pointerId, at(e))
	})
	svg.addEventListener("pointermove", e => {
		const old = down.get(e.pointerId), now = at(e)
		if (!old) return
		const across = now[0] - old[0], fallen = now[1] - old[1]
		if (!moved ? 0.01 > Math.hypot(across, fallen) : false) return
		const other = [...down].find(([id]) => id != e.pointerId)?.[1]
		if (!moved) svg.setPointerCapture(e.pointerId)
		moved = true
		down.set(e.pointerId, now)
		if (!other) return move(-across, -fallen)
		const distance = p => Math.max(.01, Math.hypot(p[0] - other[0], p[1] - other[1]))
		zoom(distance(now) / distance(old), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2)
	})
	const lifted = e => down.delete(e.pointerId)
	svg.addEventListener("pointerup", lifted)
	svg.addEventListener("pointercancel", lifted)
	svg.addEventListener("pointerleave", lifted)
	svg.addEventListener("click", e => {
		if (moved) e.preventDefault() // the end of a move is no choice
	}, true)
	addEventListener("beforeprint", whole)
})

// mark is a node or a community: where it is, how large, what it is called.
function mark(e) {
	const square = e.tagName == "rect", number = key => Number(e.getAttribute(key))
	const r = square ? number("width") / 2 : number("r")
	const x = square ? number("x") + r : number("cx"), y = square ? number("y") + r : number("cy")
	const title = e.firstElementChild.textContent
	const resize = s => {
		const set = (key, value) => e.setAttribute(key, value.toFixed(3))
		if (!square) return set("r", r * s)
		set("x", x - r * s)
		set("y", y - r * s)
		set("width", 2 * r * s)
		set("height", 2 * r * s)
	}
	return { x, y, r, resize, name: title.slice(0, title.lastIndexOf(": ")) }
}

function button(text, label, act) {
	const b = document.createElement("button")
	b.type = "button"
	b.textContent = text
	b.setAttribute("aria-label", label)
	b.addEventListener("click", act)
	return b
}
