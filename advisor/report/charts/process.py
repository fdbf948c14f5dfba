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
from html import escape
from typing import Any
from xml.parsers import expat

ELEMENTS = frozenset({"svg", "g", "path", "text", "tspan", "rect", "line", "defs", "clipPath", "title", "desc"})
"""What a drawn chart consists of. Anything else in it means that a name was taken for markup."""

_INHERITED = ("fill", "fill-opacity", "stroke", "stroke-width", "font-family", "font-size", "text-anchor")
"""Said once of a group where all its marks say the same: a map of 64 ranks has four thousand of them."""
_ID = re.compile(r"^url\(#")
_LONG = re.compile(r"(\.\d\d)\d+")


class Element(list["Element | str"]):
    """One element of a drawing: its attributes, and what is inside in order."""

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        super().__init__()
        self.name, self.attributes = name, attributes


WARM_UP = {
    "data": {"values": [{"a": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
"""Loading the library is nine tenths of the wait for the first chart; an axis has it measure words, which takes another
30 ms the first time."""


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
        answer = {"name": asked["name"], **_draw_spec(draw, asked)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _draw_spec(draw: Callable[[str], str], asked: dict[str, Any]) -> dict[str, str]:
    try:
        return {"svg": sanitize_svg(draw(json.dumps(asked["spec"])), asked["name"])}
    except ValueError as error:  # the library says so for a spec or data it cannot draw, `safe` for odd markup
        return {"error": str(error)[:200]}


def sanitize_svg(svg: str, name: str) -> str:
    """The drawing, written anew: ids of its own so that several fit on one page, what a mark says as its title.

    Raises:
        ValueError: It holds an element or attribute that no chart has.
    """
    top = Element("", {})
    open_ = [top]

    def begin(element: str, attributes: dict[str, str]) -> None:
        _refuse_foreign(element, attributes)
        open_[-1].append(_plain_element(element, attributes, name))
        open_.append(open_[-1][-1])  # type: ignore[arg-type]

    def text(said: str) -> None:
        open_[-1].append(said)

    def end(_: str) -> None:
        _say_once(open_.pop())

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text
    try:
        parser.Parse(svg, True)
    except expat.ExpatError as error:
        raise ValueError(f"not well-formed: {error}") from error
    return "".join(map(_write_node, top))


def _plain_element(element: str, attributes: dict[str, str], name: str) -> Element:
    """An element without what the library says of it for screen readers; what the page wants said is its title."""
    kept = {key: _rewrite_attribute(key, value, name) for key, value in attributes.items() if not _is_spoken(key)}
    made = Element(element, kept)
    if attributes.get("role") == "graphics-symbol" and "aria-label" in attributes:
        made.append(Element("title", {}))
        made[0].append(attributes["aria-label"])  # type: ignore[union-attr]
    return made


def _is_spoken(key: str) -> bool:
    """The library's words are always English; the page says the numbers in its own."""
    return key == "role" or key.startswith("aria-")


def _rewrite_attribute(key: str, value: str, name: str) -> str:
    """An attribute with the chart's own ids, and no digits that nobody sees."""
    if key == "id":
        return f"{name}-{value}"
    return _LONG.sub(r"\1", value) if key == "d" else _ID.sub(f"url(#{name}-", value)


def _say_once(group: Element) -> None:
    """Moves what all marks of a group say alike to the group."""
    marks = [one for one in group if isinstance(one, Element)]
    if group.name != "g" or len(marks) < 2 or any(mark.name == "g" for mark in marks):  # noqa: PLR2004 - one repeats nothing
        return
    for key in _INHERITED:
        said = {mark.attributes.get(key) for mark in marks}
        if len(said) == 1 and None not in said:
            group.attributes[key] = said.pop() or ""
            for mark in marks:
                del mark.attributes[key]


def _write_node(node: Element | str) -> str:
    if isinstance(node, str):
        return escape(node, quote=False)
    said = "".join(f' {key}="{escape(value)}"' for key, value in node.attributes.items())
    inside = "".join(map(_write_node, node))
    return f"<{node.name}{said}>{inside}</{node.name}>" if inside else f"<{node.name}{said}/>"


def _refuse_foreign(element: str, attributes: dict[str, str]) -> None:
    if element not in ELEMENTS:
        raise ValueError(f"unexpected element {element[:40]}")
    for name in attributes:
        if name.lower().startswith("on") or name.lower().endswith("href"):
            raise ValueError(f"unexpected attribute {name[:40]}")


if __name__ == "__main__":
    sys.exit(main())
