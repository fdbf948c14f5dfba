# SPDX-License-Identifier: Apache-2.0
"""What people and programs are given: a Diagnosis written out as HTML, Markdown, JSON or on the terminal."""

from __future__ import annotations

from advisor.report.writers import WRITERS, check_outputs, check_suffix, outside_captures, write

__all__ = ["WRITERS", "check_outputs", "check_suffix", "outside_captures", "write"]
