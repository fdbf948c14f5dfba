# SPDX-License-Identifier: Apache-2.0
"""The captures themselves: their settings, and what of them could not be read."""

from __future__ import annotations

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Key, Name, Number, Rank, Share
from advisor.text import Text


class Setting(Fact):
    """One environment variable or profiler switch of one rank."""

    table = "settings"
    record_with = Text(
        en="keep profiler_metadata.json beside the output (recent torch_npu versions write it)",
        zh="保留 profiler_metadata.json（较新的 torch_npu 会自动写出）",
    )

    rank: Rank
    kind: Annotated[str, Key("`env` or `profiler`.")]
    name: Annotated[str, Key("Name, such as ASCEND_LAUNCH_BLOCKING.")]
    value: Annotated[str, Key("Value as recorded; empty text for a variable that was recorded as unset.")]
    number: Annotated[float, Number("The value as a number, where it is one; true is 1, false is 0.")]


class RankCapture(Fact):
    """How one rank was captured."""

    table = "rank_captures"

    rank: Rank
    source: Annotated[str, Key("text, database, text+database or cluster.")]
    level: Annotated[str, Key("Level_none, Level0, Level1, Level2; missing when not recorded.")]
    level_number: Annotated[float, Number("-1 for Level_none, 0 to 2 otherwise.")]
    complete: Annotated[bool, Flag("The profiler was stopped properly.")]
    with_stack: Annotated[bool, Flag("Call stacks were recorded.")]
    profile_memory: Annotated[bool, Flag("Memory was recorded.")]
    has_steps: Annotated[bool, Flag("Steps were marked with prof.step().")]
    other_captures: Annotated[float, Count("Further captures of the same rank that were left aside.")]


class Damage(Fact):
    """Something in the input that could not be read, with its place."""

    table = "damages"

    rank: Rank
    file: Annotated[str, Name("File, relative to the input.")]
    place: Annotated[str, Name("Line, row or byte offset of the first occurrence.")]
    what: Annotated[str, Name("What was wrong, in English.")]
    kind: Annotated[str, Key("`row` (some rows left out), `truncated`, `unreadable` (the file as a whole), `clock`.")]
    rows: Annotated[float, Count("Rows or events left out.")]
    share: Annotated[float, Share("Part of the file's rows left out; 1 for a file that cannot be read.")]
