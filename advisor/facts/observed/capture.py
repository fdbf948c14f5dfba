# SPDX-License-Identifier: Apache-2.0
"""The captures themselves: their settings, and what of them could not be read."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Flag, Index, Key, Mhz, Name, Number, Rank, Share
from advisor.messages.text import Text


class Setting(Fact):
    """One environment variable or profiler switch of one rank."""

    table = "settings"
    called = Text("environment variables and profiler switches", "环境变量与 profiler 开关")
    record_with = Text(
        en="keep profiler_metadata.json beside the output (recent torch_npu versions write it), or write a snapshot of "
        "the environment there with `advisor snapshot-env`",
        zh="保留 profiler_metadata.json（较新的 torch_npu 会自动写出），或用 `advisor snapshot-env` 在旁边写入环境快照",
    )

    rank: Rank
    kind: Annotated[
        str, Key("`env` (a variable), `profiler` (a switch), or of a snapshot `host`, `device`, `package`.")
    ]
    name: Annotated[str, Key("Name, such as ASCEND_LAUNCH_BLOCKING.")]
    value: Annotated[str, Key("Value as recorded; empty text for a variable that was recorded as unset.")]
    number: Annotated[float, Number("The value as a number, where it is one; true is 1, false is 0.")]


class Device(Fact):
    """The device of one rank, as far as the capture says."""

    table = "devices"
    called = Text("clock and cores of the device", "设备的频率与核数")
    record_with = Text(
        en="keep the folder PROF_* beside ASCEND_PROFILER_OUTPUT: its info.json names clock and cores",
        zh="保留 ASCEND_PROFILER_OUTPUT 旁的 PROF_* 目录：其中的 info.json 记录频率与核数",
    )

    rank: Rank
    chip: Annotated[str, Key("Chip, such as Ascend910B; many captures name only the family.")]
    cube_cores: Annotated[float, Count("AI Cores, which hold the cube units.")]
    vector_cores: Annotated[float, Count("Vector cores; 0 or missing where they are part of the AI Cores.")]
    nominal_mhz: Annotated[float, Mhz("Clock of the AI Cores that the driver names (aic_frequency of info.json).")]
    memory_bytes: Annotated[float, Bytes("Memory of the device, where the capture says it: traces of GPUs do.")]
    number: Annotated[int, Index("Which device of its machine it is, where the capture says it: traces of GPUs do.")]


class RankCapture(Fact):
    """How one rank was captured."""

    table = "rank_captures"
    called = Text("how ranks were captured", "各卡的采集方式")

    rank: Rank
    source: Annotated[str, Key("text, database, text+database, trace, insight or cluster.")]
    level: Annotated[str, Key("Level_none, Level0, Level1, Level2; missing when not recorded.")]
    level_number: Annotated[float, Number("-1 for Level_none, 0 to 2 otherwise.")]
    complete: Annotated[bool, Flag("The profiler was stopped properly.")]
    with_stack: Annotated[bool, Flag("Call stacks were recorded.")]
    profile_memory: Annotated[bool, Flag("Memory was recorded.")]
    has_steps: Annotated[bool, Flag("Steps were marked with prof.step().")]
    other_captures: Annotated[float, Count("Further captures of the same rank that were left aside.")]
    at_once_captures: Annotated[
        float, Count("Those of them that another process recorded at the same time; missing when that is not told.")
    ]
    told_ranks: Annotated[float, Count("Ranks that the job has, as this one was told; missing when not recorded.")]
    cann_version: Annotated[str, Key("Version of CANN; missing when not recorded.")]
    torch_npu_version: Annotated[str, Key("Version of torch_npu; missing when not recorded.")]


class Damage(Fact):
    """Something in the input that could not be read, with its place."""

    table = "damages"
    called = Text("what could not be read", "无法读取的内容")

    rank: Rank
    file: Annotated[str, Name("File, relative to the input.")]
    place: Annotated[str, Name("Line, row or byte offset of the first occurrence.")]
    place_message: Annotated[str, Name("The place as a code and values, in JSON; missing for a name out of the file.")]
    what: Annotated[str, Name("What was wrong, in English.")]
    what_message: Annotated[str, Name("What was wrong as a code and values, in JSON.")]
    kind: Annotated[
        str,
        Key(
            "`row` (some rows left out), `truncated`, `shortened` (truncated, and its end left out so that the rest is "
            "whole), `outrun` (the device ends before the program, and what follows is left out), `unreadable` (the "
            "file as a whole), `set-aside` (a rank that nobody could read to its end), `rounded` (all is there, and "
            "times lack their last digits), `clock`."
        ),
    ]
    rows: Annotated[float, Count("Rows or events left out.")]
    share: Annotated[float, Share("Part of the file's rows left out; 1 for a file that cannot be read.")]
