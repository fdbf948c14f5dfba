# SPDX-License-Identifier: Apache-2.0
"""Signs of ranks that do not say the same of their job and its software."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus import program as do
from corpus.events import Layout
from corpus.signs import Sign, Write
from corpus.signs.captures import edit_json
from corpus.signs.instructed import MS, computes, instructed, moves_alone

_RANKS = 4


def _work(_rank: int, _step: int) -> Iterator[do.Instruction]:
    yield computes(2 * MS)
    yield from moves_alone("allReduce", tuple(range(_RANKS)), 4_000_000, "dp")


def _world_of_first_rank(size: int) -> Write:
    """The first rank says that its job has so many ranks; the others that theirs has four."""

    def change(said: dict[str, Any]) -> None:
        if said["distributed_args"]["rank"] == 0:
            said["distributed_args"]["world_size"] = size

    def written(folder: Path) -> None:
        instructed(_work, Layout(dp=_RANKS), steps=_RANKS)(folder)
        edit_json(folder, "profiler_metadata.json", change)

    return written


def _version_of_first_rank(version: str) -> Write:
    def change(said: dict[str, Any]) -> None:
        said["cann_version"] = version if said["rank_id"] == 0 else "8.3.RC1"

    def written(folder: Path) -> None:
        instructed(_work, Layout(dp=_RANKS), steps=_RANKS)(folder)
        edit_json(folder, "profiler_info_*.json", change)

    return written


SIGNS: Mapping[str, Sign] = {
    "capture/jobs-apart": Sign(
        spoiled=_world_of_first_rank(2), twin=_world_of_first_rank(4), shows={"other_size": "2", "size": "4", "most": 3}
    ),
    "capture/versions-apart": Sign(
        spoiled=_version_of_first_rank("8.0.RC3"),
        twin=_version_of_first_rank("8.3.RC1"),
        shows={"usual": "8.3.RC1", "other": "8.0.RC3"},
    ),
}
