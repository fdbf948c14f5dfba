# SPDX-License-Identifier: Apache-2.0
"""What the columns and tables that rules read hold, in Chinese: by what the reference of facts, which is in English,
says of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

_FILE = "chinese_meanings.yaml"


@cache
def chinese_meanings(of: Literal["columns", "tables"]) -> Mapping[str, str]:
    """By the English sentence its meaning in Chinese."""
    from importlib.resources import files

    import yaml

    said = yaml.load((files(__package__) / _FILE).read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return {one["en"]: one["zh"] for one in said[of]}
