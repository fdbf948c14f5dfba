# SPDX-License-Identifier: Apache-2.0
"""How help is laid out, in lines as wide as they look."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from advisor.messages.text import Language

_USAGE = "usage: "
_USAGE_IN_CHINESE = "用法： "
"""As wide as the other one, because further lines begin below what follows it."""


class HelpFormatter(argparse.HelpFormatter):
    """Lays out help as argparse does; Chinese, which has no blanks between words, is broken where it may be."""

    language: Language = "en"

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """How a command is called."""
        super().add_usage(usage, actions, groups, _USAGE if prefix is None else prefix)

    def _format_usage(self, *words: Any) -> str:
        usage = super()._format_usage(*words)
        return usage.replace(_USAGE, _USAGE_IN_CHINESE, 1) if self.language == "zh" else usage

    def _split_lines(self, text: str, width: int) -> list[str]:
        if self.language == "en":
            return super()._split_lines(text, width)
        from rich.text import Text

        from advisor.report.line_breaks import break_lines

        return break_lines(Text(text), width).plain.split("\n")

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))
