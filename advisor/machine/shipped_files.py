# SPDX-License-Identifier: Apache-2.0
"""Where the rules, chips, templates and guides of the package lie: inside the wheel, or beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


@cache
def shipped_folder(name: str) -> Path:
    """The folder `rules`, `chips`, `templates` or `guides`."""
    inside = _PACKAGE / "_shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
