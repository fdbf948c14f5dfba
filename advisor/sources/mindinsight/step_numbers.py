# SPDX-License-Identifier: Apache-2.0
"""How the files of the old profiler of MindSpore say which step a row is of."""

from __future__ import annotations

import re

STEP_NUMBER = "step_num"
"""The heading of the numbers of steps."""
_NUMBER = re.compile(r"\d{1,9}")


def step_of_text(text: str | None) -> int:
    """The number of a step, which begin at 1; 0 where the text is none, as that of the averages."""
    return int(text) if text and _NUMBER.fullmatch(text) else 0
