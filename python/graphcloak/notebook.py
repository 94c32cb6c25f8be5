# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: one line of progress, and results as HTML whose every value is escaped."""

import base64
import re
import sys
from collections.abc import Iterable
from html import escape

ROWS = 10  # of a table; the frames have all


def here() -> bool:
    """Says whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def progress(text: str) -> None:
    """Shows a line in place of the last one; "" takes it away."""
    sys.stdout.write(f"\r{text:<80}\r" if not text else f"\r{text:<80}")
    sys.stdout.flush()


def map_of(page: str) -> str:
    """Returns the map of a report's page as SVG, "" where it has none."""
    found = re.search(r'<svg class="map".*?</svg>', page, re.DOTALL)
    return found[0] if found else ""


def block(headline: str, facts: Iterable[str], body: str, more: Iterable[str] = (), title: str = "") -> str:
    """Returns a result as HTML: body is HTML, all else text."""
    small = "font-size:.9em;opacity:.8"
    details = "".join(f"<li>{escape(line)}</li>" for line in more)
    return (
        f'<div style="max-width:56em"><p style="font-size:1.15em;font-weight:600">{escape(headline)}</p>'
        f'<p style="{small}">{escape(" · ".join(facts))}</p>{body}'
        + (f'<details style="{small}"><summary>{escape(title)}</summary><ul>{details}</ul></details>' if details else "")
        + "</div>"
    )


def picture(svg: str) -> str:
    """Returns a drawing as an image, in which nothing can run or be loaded."""
    if not svg:
        return ""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    alt = "Map of the graph, coloured by where the source may be"
    return (
        f'<figure style="margin:0 0 1em;max-width:40em"><img alt="{alt}" src="{source}" style="width:100%">'
        '<figcaption style="font-size:.9em;opacity:.8">The darker, the likelier. Thick rings: the 95 % credible set. '
        "Blue band: the community that the answer names.</figcaption></figure>"
    )


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Returns a table of names and their numbers, cut to its first rows."""
    rows = list(rows)

    def line(tag: str, cells: Iterable[object]) -> str:
        sides = (("right" if i else "left", cell) for i, cell in enumerate(cells))
        return (
            "<tr>"
            + "".join(f'<{tag} style="text-align:{side};padding-right:1em">{escape(str(cell))}</{tag}>' for side, cell in sides)
            + "</tr>"
        )

    top, body = line("th", head), "".join(line("td", row) for row in rows[:ROWS])
    rest = f"<p>and {len(rows) - ROWS} more</p>" if len(rows) > ROWS else ""
    return f"<table><thead>{top}</thead><tbody>{body}</tbody></table>{rest}"
