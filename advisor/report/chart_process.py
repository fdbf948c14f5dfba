# SPDX-License-Identifier: Apache-2.0
"""The process that draws: one Vega-Lite spec per line in, one SVG per line out, an empty line ends it.

Started as a file and with nothing of this package imported: the drawing library takes half a second to wake up and
stops every other thread while it does, so it wakes up in a process of its own, beside the reading of the capture.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

ELEMENTS = frozenset({"svg", "g", "path", "text", "tspan", "rect", "line", "defs", "clipPath", "title", "desc"})
"""What a drawn chart consists of. Anything else in it means that a name was taken for markup."""

_TAG = re.compile("<[^<>]*>")
_IDS = re.compile(r'(\bid="|url\(#)')
_SPOKEN = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
"""What the library says of marks for screen readers, always in English; the page says it in its own words."""


WARM_UP = {"data": {"values": [{"a": 1}]}, "mark": "bar"}
"""Loading the library is nine tenths of the wait for the first chart."""


def main() -> int:
    """Serves until the empty line. The first chart is drawn before anything is asked for."""
    import vl_convert

    def draw(spec: str) -> str:
        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))

    draw(json.dumps(WARM_UP))
    for line in sys.stdin.buffer:
        if not line.strip():
            break
        asked = json.loads(line)
        answer = {"name": asked["name"], **_drawn(draw, asked)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _drawn(draw: Callable[[str], str], asked: dict[str, Any]) -> dict[str, str]:
    try:
        return {"svg": safe(draw(json.dumps(asked["spec"])), asked["name"])}
    except ValueError as error:  # the library says so for a spec or data it cannot draw, `safe` for odd markup
        return {"error": str(error)[:200]}


def safe(svg: str, name: str) -> str:
    """The drawing, with ids of its own so that several fit on one page.

    Raises:
        ValueError: It holds an element or attribute that no chart has.
    """
    parser = expat.ParserCreate()
    parser.StartElementHandler = _refuse_foreign
    try:
        parser.Parse(svg, True)
    except expat.ExpatError as error:
        raise ValueError(f"not well-formed: {error}") from error
    return _TAG.sub(lambda tag: _IDS.sub(lambda found: f"{found[1]}{name}-", _SPOKEN.sub("", tag[0])), svg)


def _refuse_foreign(element: str, attributes: dict[str, str]) -> None:
    if element not in ELEMENTS:
        raise ValueError(f"unexpected element {element[:40]}")
    for name in attributes:
        if name.lower().startswith("on") or name.lower().endswith("href"):
            raise ValueError(f"unexpected attribute {name[:40]}")


if __name__ == "__main__":
    sys.exit(main())
