# SPDX-License-Identifier: Apache-2.0
"""The table `[tool.advisor]` of a pyproject.toml as a document of settings, so that mistakes are told with their line.

The parser gives values without places; a key is looked for from the line of the table or key that it belongs to.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.machine.regular_files import read_regular
from advisor.messages.errors import FilePlace, Mistake, RuleError
from advisor.messages.message import Message
from advisor.yaml_files.document import MAX_BYTES, RuleDocument, mistake_at, read_text

if TYPE_CHECKING:
    import yaml

TABLE = ("tool", "advisor")
_HEADINGS = re.compile(r"^[^\S\n]*(?:\[+\s*)?tool\s*\.\s*advisor\b", re.MULTILINE)
_PLACE = re.compile(r"\(at line (\d{1,9}), column (\d{1,9})\)$")
"""How the parser ends its sentence where it has no attributes, before Python 3.14; not at the end of the file."""
_STARTS = re.compile(r"^[^\S\n]*(?:(?:\[+\s*)?tool\s*\.\s*advisor\b|advisor\s*[=.])", re.MULTILINE)


def has_settings(path: Path) -> bool:
    """Whether a pyproject.toml holds the table, or would if it were TOML; what else is wrong in it is not looked at."""
    try:
        raw = read_regular(path, MAX_BYTES + 1)
    except OSError:
        return False
    text = raw.decode("utf-8", "replace")
    if len(raw) > MAX_BYTES or "advisor" not in text:
        return False
    try:
        tool = tomllib.loads(text).get(TABLE[0])
    except (tomllib.TOMLDecodeError, RecursionError):
        return bool(_HEADINGS.search(text))
    return isinstance(tool, dict) and TABLE[1] in tool


def read_document(path: Path) -> RuleDocument:
    """The settings of a TOML file.

    Raises:
        RuleError: It cannot be read, or not as TOML.
    """
    file = path.as_posix()
    text = read_text(path, file)
    try:
        data: Any = tomllib.loads(text)
    except RecursionError:
        raise RuleError([Mistake(FilePlace(file), Message("nested_too_deep"))]) from None
    except tomllib.TOMLDecodeError as error:
        raise RuleError([_not_toml(error, file, text.split("\n"))]) from None
    for name in TABLE:
        data = data.get(name) if isinstance(data, dict) else None
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if _STARTS.match(line)), 0)
    plain = _days_as_text(data)
    return RuleDocument(file, text.encode(), _yaml_node(plain, lines, (start, 0)), plain)


def _not_toml(error: tomllib.TOMLDecodeError, file: str, lines: Sequence[str]) -> Mistake:
    """What the parser found, where it found it; where it does not say, at the end of the file."""
    said = str(error)
    at = _PLACE.search(said)
    line, column = map(int, at.groups()) if at else (len(lines), len(lines[-1]) + 1)
    spot = getattr(error, "lineno", line) - 1, getattr(error, "colno", column) - 1
    what = Message("not_toml", said=getattr(error, "msg", said))
    return mistake_at(file, spot, what, lines[spot[0]], Message("check_toml_here"))


def _days_as_text(value: Any) -> Any:
    """The value with days as they are written."""
    if isinstance(value, dict):
        return {key: _days_as_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_days_as_text(one) for one in value]
    return value.isoformat() if isinstance(value, date) else value


def _yaml_node(value: Any, lines: Sequence[str], spot: tuple[int, int]) -> yaml.Node:
    """The value as a node of YAML at this line and column, which is what places are read from."""
    import yaml

    mark = yaml.Mark("", 0, *spot, "", 0)
    if isinstance(value, dict):
        pairs = []
        for key, one in value.items():
            at = _place_of_key(key, lines, spot)
            pairs.append((_yaml_scalar(key, yaml.Mark("", 0, *at, "", 0)), _yaml_node(one, lines, at)))
        return yaml.MappingNode("", pairs, mark, mark)
    if isinstance(value, list):
        return yaml.SequenceNode("", [_yaml_node(one, lines, spot) for one in value], mark, mark)
    return _yaml_scalar({True: "true", False: "false"}[value] if isinstance(value, bool) else str(value), mark)


def _yaml_scalar(text: str, mark: yaml.Mark) -> yaml.ScalarNode:
    import yaml

    return yaml.ScalarNode("", text, mark, mark)


def _place_of_key(key: str, lines: Sequence[str], spot: tuple[int, int]) -> tuple[int, int]:
    """Where a key stands, from a line on; that line where it cannot be found."""
    wanted = re.compile(rf"""(?:^|[\s{{,.\[])(["']?){re.escape(key)}\1\s*[=.\]]""")
    for number in range(spot[0], len(lines)):
        if found := wanted.search(lines[number]):
            return number, found.start() + (not found[0].startswith((key, '"', "'")))
    return spot
