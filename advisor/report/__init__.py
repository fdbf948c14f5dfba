# SPDX-License-Identifier: Apache-2.0
"""What people and programs are given: a Diagnosis written out as HTML, Markdown, JSON or on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.report.output_formats import WRITERS, Reported, Writer
    from advisor.report.writers import Output, check_output, check_outputs, check_suffix, outside_captures, write_report

__all__ = [
    "WRITERS",
    "Output",
    "Reported",
    "Writer",
    "check_output",
    "check_outputs",
    "check_suffix",
    "outside_captures",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """The writers, when first asked for: the drawing process is started before they are imported."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from advisor.report import writers

    return getattr(writers, name)
