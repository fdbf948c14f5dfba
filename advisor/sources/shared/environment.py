# SPDX-License-Identifier: Apache-2.0
"""What `advisor snapshot-env` wrote of a machine and a job, read back from in or beside a capture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from advisor.facts.observed import Setting
from advisor.facts.table import Table
from advisor.machine.regular_files import read_regular
from advisor.sources.files.jsonfile import as_mapping, as_number, parse_json, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.shared.environment_snapshot import FILE_NAME, VERSION

_NUMBERS = {"true": 1.0, "yes": 1.0, "on": 1.0, "false": 0.0, "no": 0.0, "off": 0.0}
_MOST_BYTES = 1 << 20
_KINDS = ("env", "host", "device", "package")

SettingWords = tuple[str, str, str]
"""Kind, name and value of a setting."""


def snapshot_settings(folders: Iterable[Path]) -> list[SettingWords]:
    """What the snapshot in the first of these folders that has one says; nothing where none has.

    A file that is no snapshot, or too large for one, is passed over: it is no part of the capture.
    """
    for folder in folders:
        try:
            written = parse_json(read_regular(folder / FILE_NAME, _MOST_BYTES))
        except (OSError, ValueError):
            continue
        if value_at(written, "advisor_env") == VERSION:
            return list(_words_of_snapshot(written))
    return []


def _words_of_snapshot(written: object) -> Iterator[SettingWords]:
    for kind in _KINDS:
        for name, value in as_mapping(value_at(written, kind)).items():
            if isinstance(value, str):
                yield kind, name, value


def setting_table(rank: int, words: Iterable[SettingWords]) -> Table[Setting]:
    """Settings of one rank, with the number that a value is."""
    kinds, names, values = zip(*sorted({tuple(map(bounded_name, word)) for word in words}), strict=True)
    numbers = [value_number(value) if value.strip() else math.nan for value in values]
    return Table.build(Setting, rank=rank, kind=kinds, name=names, value=values, number=numbers)


def value_number(value: str) -> float:
    """A value as a number: yes, true and on are 1, their opposites 0, decimals themselves; NaN otherwise."""
    plain = value.strip().lower()
    return _NUMBERS[plain] if plain in _NUMBERS else as_number(plain)
