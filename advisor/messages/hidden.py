# SPDX-License-Identifier: Apache-2.0
"""Characters that nobody sees and that terminals and logs obey: shown as what they are."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_COMMAND = re.compile(
    r"#(?=#\[)|:(?=:(?:error|warning|notice|debug|group|endgroup|echo|stop-commands|(?:add|set|save|remove)-[a-z]+)"
    r"(?:[ :]|$))",
    re.IGNORECASE,
)
"""What the log of GitHub Actions takes for a command: `##[` anywhere, `::error` where a line begins, and lines wrap."""
_BACK = re.compile("[\x0b\x0c\r]")
"""Breaks of lines that go back over what was written, or leave the line in its middle."""


def show_hidden(line: str) -> str:
    """A line with invisible characters, and with what a log takes for a command, as `\\u202e`; breaks of lines stay."""
    for odd in (_HIDDEN, _COMMAND):
        line = odd.sub(_escaped, line)
    return line


def show_hidden_in_lines(text: str) -> str:
    """Several lines alike: blanks, tabs and line feeds stay."""
    return "\n".join(_BACK.sub(_escaped, show_hidden(line)) for line in text.split("\n"))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
