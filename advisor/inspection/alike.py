# SPDX-License-Identifier: Apache-2.0
"""Ranks that were captured alike: one of them shows what all of them hold."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from advisor.facts.rank_facts import Source
from advisor.model.inspection import AlikeRanks, InputFile
from advisor.model.run import Capture, Run
from advisor.sources.family import paths_of_source

READ_OF_EACH = 2
"""Ranks that are read of those that are alike: what rules say of ranks side by side takes two."""
_DIGITS = re.compile(r"\d+")


class SourceOfRank(Struct, frozen=True):
    """A rank, how it was captured, and what it is read from."""

    capture: Capture
    source: Source

    @property
    def way(self) -> tuple[object, ...]:
        """What tells ranks apart of which one does not show what the other holds."""
        names = {_DIGITS.sub("#", path.name) for path in paths_of_source(self.source)}
        about = self.capture.model_copy(update={"rank": 0, "path": "", "size_bytes": 0})
        return (about.model_dump_json(), *sorted(names))


def alike_ranks(run: Run, sources: Sequence[Source]) -> list[list[SourceOfRank]]:
    """The ranks of a run in groups, in order of rank; a single source stands for all of its ranks."""
    if len(sources) != len(run.captures):
        return [[SourceOfRank(capture, sources[0]) for capture in run.captures]]
    groups: dict[tuple[object, ...], list[SourceOfRank]] = defaultdict(list)
    for capture, source in zip(run.captures, sources, strict=True):
        one = SourceOfRank(capture, source)
        groups[one.way].append(one)
    return list(groups.values())


def ranks_to_read(groups: Sequence[Sequence[SourceOfRank]]) -> list[list[SourceOfRank]]:
    """Of each group the ranks with least to read that are not empty, in order of rank."""
    return [_smallest_ranks(group) for group in groups]


def _smallest_ranks(group: Sequence[SourceOfRank]) -> list[SourceOfRank]:
    if len({id(one.source) for one in group}) == 1:
        return list(group)
    by_size = sorted(group, key=lambda one: (not one.source.size_bytes, one.source.size_bytes, one.capture.rank))
    return sorted(by_size[:READ_OF_EACH], key=lambda one: one.capture.rank)


def describe_group(
    group: Sequence[SourceOfRank], read: Sequence[SourceOfRank], files: Mapping[Path, tuple[InputFile, ...]]
) -> AlikeRanks:
    """What is said of ranks that are alike; `files` are those of the folders that sources read."""
    first = group[0]
    folders = dict.fromkeys(path.parent for path in paths_of_source(first.source))
    about = first.capture
    return AlikeRanks(
        ranks=tuple(one.capture.rank for one in group),
        read=tuple(one.capture.rank for one in read),
        path=about.path,
        source=about.source,
        level=about.level,
        activities=about.activities,
        with_stack=about.with_stack,
        profile_memory=about.profile_memory,
        record_shapes=about.record_shapes,
        complete=about.complete,
        size_bytes=sum({id(one.source): one.source.size_bytes for one in group}.values()),
        files=tuple(file for folder in folders for file in files.get(folder, ())),
    )
