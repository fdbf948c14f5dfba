# SPDX-License-Identifier: Apache-2.0
"""Text tables of captures that are read one after another: those of one name are parsed together with the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from advisor.facts.base import Column
from advisor.facts.table import Values
from advisor.sources.files.alike_tables import read_alike


class _Asked(Struct, frozen=True):
    """What is read of the files of one name."""

    name: str
    columns: Mapping[str, Column]
    headings: Mapping[str, Sequence[str]]
    required: tuple[str, ...]


class TablesBeside:
    """The text tables of several captures, each given out once; `whole` names the files of each that are not cut."""

    def __init__(self, whole: Sequence[Mapping[str, Path]]) -> None:
        self._whole = whole
        self._read: list[tuple[_Asked, dict[Path, dict[str, Values]]]] = []

    def take(
        self,
        path: Path,
        name: str,
        columns: Mapping[str, Column],
        headings: Mapping[str, Sequence[str]],
        required: tuple[str, ...],
    ) -> dict[str, Values] | None:
        """The columns of a file, as `csvfile.read_columns` gives them; None where it has to be read by itself."""
        asked = _Asked(name, columns, headings, required)
        found = next((found for one, found in self._read if one == asked), None)
        if found is None:
            paths = list(dict.fromkeys(files[name] for files in self._whole if name in files))
            parts = read_alike(paths, columns, headings, required)
            found = {path: part for path, part in zip(paths, parts, strict=True) if part is not None}
            self._read.append((asked, found))
        return found.pop(path, None)
