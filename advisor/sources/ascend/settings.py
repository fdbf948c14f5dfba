# SPDX-License-Identifier: Apache-2.0
"""How a rank was recorded: profiler_info, profiler_metadata or META_DATA, as typed words and as the fact Setting."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from advisor.facts.observed import Setting
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import LEVELS
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.jsonfile import as_flag, as_integer, as_mapping, as_text, value_at
from advisor.sources.reading import Reading
from advisor.sources.shared.environment import setting_table, snapshot_settings

CORE_METRICS: Mapping[str, str] = {
    "ACL_AICORE_PIPE_UTILIZATION": "PipeUtilization",
    "ACL_AICORE_ARITHMETIC_UTILIZATION": "ArithmeticUtilization",
    "ACL_AICORE_MEMORY_BANDWIDTH": "Memory",
    "ACL_AICORE_L0B_AND_WIDTH": "MemoryL0",
    "ACL_AICORE_MEMORY_UB": "MemoryUB",
    "ACL_AICORE_RESOURCE_CONFLICT_RATIO": "ResourceConflictRatio",
    "ACL_AICORE_L2_CACHE": "L2Cache",
    "ACL_AICORE_MEMORY_ACCESS": "MemoryAccess",
}
"""Sets of hardware counters as torch_npu writes them down, by what people ask for."""
SAMPLERS = ("sys_io", "sys_interconnection", "host_sys", "data_process")
"""Switches of profilers for what is looked at from time to time: network ports, links, the host, the dataset."""
_NOTHING_COUNTED = ("ACL_AICORE_NONE", "AiCoreNone")
_GRAPH, _PYNATIVE = 0, 1
"""Modes of MindSpore."""
WHOLE_GRAPH = "O2"
"""The `jit_level` at which a graph is executed as a whole."""
_COMMON = ("config", "common_config")
_EXPERIMENTAL = ("config", "experimental_config")


class Recorded(Struct, frozen=True):
    """What the profiler wrote down about itself and the job."""

    info: object
    """Content of `profiler_info*.json`; None when there is none."""
    metadata: Mapping[str, object]
    """Content of `profiler_metadata.json`, or of META_DATA."""

    @property
    def level(self) -> str | None:
        """One of `LEVELS`, or None when not recorded."""
        found = as_text(value_at(self.info, *_EXPERIMENTAL, "_profiler_level")) or as_text(
            value_at(self.info, "profiler_parameters", "profiler_level")
        )
        plain = found.replace("_", "").lower()
        return next((level for level in LEVELS if level.replace("_", "").lower() == plain), None)

    @property
    def activities(self) -> tuple[str, ...] | None:
        """`CPU` and `NPU`, as far as they were on."""
        said = (value_at(self.info, *_COMMON, "activities"), value_at(self.info, "profiler_parameters", "activities"))
        found = next((one for one in said if isinstance(one, list)), None)
        if found is None:
            return None
        return tuple(sorted({as_text(item).rpartition(".")[2] for item in found} & {"CPU", "NPU"}))

    @property
    def core_metrics(self) -> str | None:
        """What was counted within kernels, such as `PipeUtilization`; `L2 cache` stands behind it where `l2_cache` was
        on. None when not recorded, nothing when it was off."""
        said = as_text(value_at(self.info, *_EXPERIMENTAL, "_aic_metrics")) or as_text(
            value_at(self.info, "profiler_parameters", "aic_metrics")
        )
        if not said:
            return None
        word = said.rpartition(".")[2]
        cache = as_flag(value_at(self.info, *_EXPERIMENTAL, "_l2_cache")) or as_flag(
            value_at(self.info, "profiler_parameters", "l2_cache")
        )
        return ", ".join([CORE_METRICS.get(word, word)] * (word not in _NOTHING_COUNTED) + ["L2 cache"] * bool(cache))

    @property
    def sampled(self) -> str | None:
        """Which samplers of the hardware and the host were on, such as `sys_io, host_sys`; `none`, or None when not
        recorded."""
        sections = [value_at(self.info, *_EXPERIMENTAL), value_at(self.info, "profiler_parameters")]
        told = {name.lstrip("_"): value for section in sections for name, value in as_mapping(section).items()}
        return (", ".join(name for name in SAMPLERS if told.get(name)) or "none") if told else None

    def switch(self, name: str) -> bool | None:
        """A switch of the profiler, such as `with_stack`."""
        common = as_flag(value_at(self.info, *_COMMON, name))
        return common if common is not None else as_flag(value_at(self.info, "profiler_parameters", name))

    @property
    def complete(self) -> bool | None:
        """Whether the profiler was stopped properly; None when the file says nothing about its run."""
        if not as_mapping(value_at(self.info, "config")):
            return None
        return bool(as_mapping(value_at(self.info, "end_info")))

    @property
    def rank(self) -> int | None:
        """The rank as profiler_info names it; -1 and nothing mean a single card."""
        return _rank_or_none(value_at(self.info, "rank_id"))

    @property
    def device(self) -> int | None:
        """The device on its host, as MindSpore names it."""
        return _rank_or_none(value_at(self.info, "ms_profiler_info", "device_id"))

    @property
    def distributed_rank(self) -> int | None:
        """The rank as the training framework named it."""
        return _rank_or_none(value_at(self.metadata, "distributed_args", "rank"))

    @property
    def end_ns(self) -> int:
        """When recording ended, ns since the epoch; 0 when not recorded."""
        return max(as_integer(value_at(self.info, "end_info", "collectionTimeEnd")) or 0, 0)

    @property
    def start_ns(self) -> int:
        """When recording began, ns since the epoch; 0 when not recorded."""
        began = as_integer(value_at(self.info, "start_info", "start_monotonic"))
        ended = as_integer(value_at(self.info, "end_info", "MonotonicTimeEnd"))
        if began is None or ended is None or not self.end_ns:
            return 0
        return max(self.end_ns - (ended - began), 0)

    @property
    def is_pytorch(self) -> bool:
        """Whether torch_npu wrote profiler_info."""
        return bool(self.version("torch_npu_version")) or bool(as_mapping(value_at(self.info, *_COMMON)))

    @property
    def execution(self) -> str:
        """How MindSpore ran the job: `pynative`, `graph` or `whole graph`; empty when not recorded, as from 2.7 on."""
        mode = as_integer(value_at(self.info, "ms_profiler_info", "context_mode"))
        if mode == _GRAPH:
            return "whole graph" if self.jit_level == WHOLE_GRAPH else "graph"
        return "pynative" if mode == _PYNATIVE else ""

    @property
    def jit_level(self) -> str:
        """How MindSpore compiles its graphs, such as `O0`; empty when not recorded, or left to its default."""
        places = (("jit_level",), ("ms_profiler_info", "jit_level"))
        return next((level for place in places if (level := as_text(value_at(self.info, *place)))), "")

    def version(self, name: str) -> str:
        """`cann_version` or `torch_npu_version`; empty when not recorded."""
        return as_text(value_at(self.info, name))


def _rank_or_none(value: object) -> int | None:
    found = as_integer(value)
    return found if found is not None and found >= 0 else None


def recorded_settings(folder: Folder) -> Recorded:
    """What the profiler wrote down; what cannot be read is noted and missing."""
    return folder.once(
        "recorded", lambda: Recorded(_load_or_none(folder, "profiler_info.json"), _merged_metadata(folder))
    )


def _load_or_none(folder: Folder, name: str) -> object:
    path = folder.file(name)
    try:
        return jsonfile.load_json(path, folder.notes) if path is not None else None
    except Unreadable:  # noted; what it says is not known
        return None


def _merged_metadata(folder: Folder) -> Mapping[str, object]:
    """The text file where it is there, filled up from the database."""
    return {**_from_database(folder), **as_mapping(_load_or_none(folder, "profiler_metadata.json"))}


def _from_database(folder: Folder) -> dict[str, object]:
    found = query_rows(folder, "profiler", "SELECT name, value FROM META_DATA")
    return {str(name): _decode_value(value) for name, value in found}


def _decode_value(value: object) -> object:
    """META_DATA keeps JSON as text, and plain words too."""
    try:
        return jsonfile.parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _profiler_switches(info: object) -> Iterator[tuple[str, str]]:
    """The switches of the profiler by name, without the underscores and levels of nesting of the file."""
    sections = [
        value_at(info, *_COMMON),
        value_at(info, *_COMMON, "schedule"),
        value_at(info, *_EXPERIMENTAL),
        value_at(info, "profiler_parameters"),
    ]
    for section in sections:
        for name, value in as_mapping(section).items():
            if not isinstance(value, dict):
                yield name.lstrip("_"), _word_of_value(value)


def _word_of_value(value: object) -> str:
    """A value as one word; what is nested as no setting is has none."""
    try:
        return _joined_words(value) if isinstance(value, list) else _single_word(value)
    except RecursionError:
        return ""


def _joined_words(values: list[object]) -> str:
    return ",".join(_joined_words(item) if isinstance(item, list) else _single_word(item) for item in values)


def _single_word(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _settings_of_rank(folder: Folder) -> Table[Setting]:
    found = recorded_settings(folder)
    env = as_mapping(found.metadata.get("ENV_VARIABLES"))
    words = [("env", name, _word_of_value(value)) for name, value in env.items()]
    words += [("profiler", name, value) for name, value in _profiler_switches(found.info)]
    recorded = {(kind, name) for kind, name, _ in words}
    beside = (folder.root.parent,) if folder.below_input else ()
    words += [word for word in snapshot_settings((folder.root, *beside)) if word[:2] not in recorded]
    if not words:
        raise FactMissing([Setting.table])
    return setting_table(folder.rank, words)


SETTINGS = Reading(Setting, {"text": _settings_of_rank, "database": _settings_of_rank})
