# SPDX-License-Identifier: Apache-2.0
"""The tables of a rank are gone when its work is done: a process that reads many ranks has room for one."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from advisor import load_profile, load_rules
from advisor.facts.table import Table
from advisor.pipeline import diagnose
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks
from tests.every_export import EXPORTS, written
from tests.shared_captures import SharedCaptures


@contextmanager
def garbage_kept() -> Iterator[list[Any]]:
    """What only the collector of garbage would free, in the list that is given, when the block is left."""
    found: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def tables_in(garbage: list[Any]) -> list[str]:
    return sorted({one.fact.table for one in garbage if isinstance(one, Table)})
