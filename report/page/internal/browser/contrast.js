// SPDX-License-Identifier: Apache-2.0
//
// Every text that is shown and stands out less from what is behind it than WCAG 2.2 AA
// asks: 4.5 to 1, or 3 to 1 where it is large. Text in a picture is held against the
// picture's ground.
(() => {
	const channel = x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4
	const rgba = text => text.match(/[\d.]+/g).map(Number)
	const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
	const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
	const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches
	const behind = e => {
		const picture = e.closest("svg")
		if (picture) {
			const ground = picture.querySelector("rect.ground")
			if (ground && !e.closest("desc,title")) return rgba(getComputedStyle(ground).fill)
			e = picture
		}
		for (; e; e = e.parentElement) {
			const c = rgba(getComputedStyle(e).backgroundColor)
			if (c.length == 3 || c[3] == 1) return c
		}
		return dark ? [18, 18, 18] : [255, 255, 255]
	}
	const bad = []
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement, s = getComputedStyle(e)
		if (!n.data.trim() || e.closest("desc,title,style") || !e.checkVisibility()) continue
		const fore = rgba(e.closest("svg") ? s.fill : s.color)
		const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && s.fontWeight >= 700
		const r = ratio(luminance(fore), luminance(behind(e)))
		if (r < (large ? 3 : 4.5)) bad.push(`${r.toFixed(2)} to 1: ${n.data.trim().slice(0, 40)}`)
	}
	return bad
})()
