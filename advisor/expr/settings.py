# SPDX-License-Identifier: Apache-2.0
"""What `setting("NAME")` of an expression sees: the environment variables that were recorded, rank by rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from advisor.expr.frame import Frame, Value
from advisor.facts.base import MISSING
from advisor.facts.table import Table, Texts

ENVIRONMENT = "setting"
"""The name under which a frame holds the environment. It is a word of the language, so nothing else is called so."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASKED = re.compile(rf'setting\("({VARIABLE.pattern})"\)')

Environment = Mapping[str, Mapping[int, str]]
"""By variable and rank; empty text where it was recorded as unset."""


def setting_name(variable: str) -> str:
    """How an expression names it among the names it uses."""
    return f'setting("{variable}")'


def asked_variables(names: Iterable[str]) -> frozenset[str]:
    """The variables among the names that expressions use."""
    return frozenset(found[1] for name in names if (found := _ASKED.fullmatch(name)))


def recorded_environment(settings: Table[Any], variables: Iterable[str]) -> Environment:
    """What was recorded of these variables."""
    named = settings.texts("name").isin(variables) & ~settings.texts("kind").isin(["profiler"])
    rows = settings.take(np.flatnonzero(named))
    found: dict[str, dict[int, str]] = {}
    cells = zip(rows["rank"].tolist(), rows.texts("name").values(), rows.texts("value").values(), strict=True)
    for rank, name, value in cells:
        found.setdefault(name or "", {})[rank] = (value or "").strip()
    return found


def of_setting(variable: str) -> Callable[[Frame], Value]:
    """The value on the rank of each group, or the one that all ranks share; missing where unset or not recorded."""

    def run(frame: Frame) -> Value:
        by_rank = frame.named.get(ENVIRONMENT, {}).get(variable, {})
        ranks = frame.named.get("rank")
        if isinstance(ranks, np.ndarray) and ranks.ndim:
            known = np.where(np.isnan(ranks), MISSING, ranks).astype(np.int64)
            return Texts.of(by_rank.get(rank) or None for rank in known.tolist())
        values = set(by_rank.values())
        return values.pop() or None if len(values) == 1 else None

    return run
