# SPDX-License-Identifier: Apache-2.0
"""A rule's own tests as data: the little tables and the run a case stands on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from advisor.expr.language import RUN_NAMES, RUN_VALUES
from advisor.facts import FACTS
from advisor.facts.base import MISSING, Fact
from advisor.facts.table import Table, read_table, split_cells
from advisor.messages.errors import Unclear
from advisor.messages.message import Message, either_of
from advisor.model.job import JobKind
from advisor.model.run import Capture, Parallel, Run, Sides
from advisor.rules.schema import CaseFile
from advisor.yaml_files.suggestions import suggest_known

MAX_ROWS = 100_000
OF_FINDINGS = ("severity", "confidence", "saving_us", "places", "fix", "rank", "stage", "step")
"""What a case may expect of a finding of any rule."""
_TIMES = re.compile(r"\sx(\d+)\s*$", re.MULTILINE)
_DEFAULTS = {"step_us": "1000", "step_count": "1", "rank_count": "1"}
_LEVELS = {"-1": "Level_none", "0": "Level0", "1": "Level1", "2": "Level2", "-": ""}


class UnclearCase(Unclear):
    """What a case starts from cannot be understood: in which of its tables, or in its `run`."""

    def __init__(self, unclear: Unclear, table: str) -> None:
        self.table = table
        super().__init__(unclear.what, unclear.hint, unclear.at)


class CaseInput(Struct, frozen=True):
    """What a case starts from."""

    run: Run
    tables: Mapping[type[Fact], Table[Any]]


def parse_given(case: CaseFile) -> CaseInput:
    """The run and the tables of a case.

    Raises:
        UnclearCase: A table, column, run name or cell does not exist or is not a value.
    """
    found: dict[type[Fact], Table[Any]] = {}
    for name, text in case.given.items():
        if name == "run":
            continue
        try:
            fact = _fact_named(name)
            found[fact] = _table_of_text(fact, text)
        except Unclear as unclear:
            raise UnclearCase(unclear, name) from None
    ranks = {rank for table in found.values() if "rank" in table.fact.columns() for rank in table["rank"].tolist()}
    try:
        return CaseInput(run_of(case.given.get("run", ""), ranks), found)
    except Unclear as unclear:
        raise UnclearCase(unclear, "run") from None


def _fact_named(name: str) -> type[Fact]:
    if name not in FACTS:
        raise Unclear(Message("unknown_table", name=name), suggest_known(name, FACTS))
    return FACTS[name]


def _table_of_text(fact: type[Fact], text: str) -> Table[Any]:
    if sum(int(times[:9]) for times in _TIMES.findall(text)) > MAX_ROWS:
        raise Unclear(Message("too_many_rows", table=fact.table, limit=MAX_ROWS))
    try:
        return read_table(fact, text)
    except OverflowError:
        raise Unclear(Message("number_over_64_bits", table=fact.table)) from None


def run_of(words: str, seen: Iterable[int] = ()) -> Run:
    """A run from `name=value` words; `-` is unknown. Steps count from 1.

    The captured ranks are 0, 1, 2 … up to `captured_ranks`; without it those `seen` in the tables; without any, all.

    Raises:
        Unclear: A word is not `name=value`, no run name, or not a number where one is needed.
    """
    said = dict(_DEFAULTS)
    for word in split_cells(words):
        name, equals, value = word.partition("=")
        if not equals:
            raise Unclear(Message("not_name_value", word=word))
        if name not in {entry.name for entry in RUN_NAMES}:
            raise Unclear(
                Message("unknown_run_name", name=name), suggest_known(name, (entry.name for entry in RUN_NAMES))
            )
        said[name] = value
    ranks = _captured_ranks(said, {rank for rank in seen if rank != MISSING})
    world = _number_of_word(said, "world_size", _number_of_word(said, "rank_count"))
    if said.get("level", "-") not in _LEVELS:
        raise _not_one_of("level", _LEVELS, said["level"])
    return Run(
        name="case",
        framework=_text_of_word(said, "framework"),
        execution=_text_of_word(said, "execution"),
        cann_version=_text_of_word(said, "cann_version"),
        torch_npu_version=_text_of_word(said, "torch_npu_version"),
        chip=_text_of_word(said, "chip"),
        level=_LEVELS[said.get("level", "-")],
        ranks=ranks,
        world_size=int(world),
        steps=tuple(range(1, int(_number_of_word(said, "step_count")) + 1)),
        step_us=_number_of_word(said, "step_us"),
        idle_share=_share_of_word(said, "device_idle_share"),
        exposed_share=_share_of_word(said, "exposed_comm_share"),
        sides=_recorded_sides(said),
        job=JobKind(
            workload=_one_of_words(said, "workload"),
            phase=_one_of_words(said, "phase"),
            stack=_one_of_words(said, "stack"),
        ),
        captures=_captures_lacking(said, _text_of_word(said, "lost_files").split(), ranks),
        parallel=Parallel(**{name: int(_number_of_word(said, name, 0)) for name in ("tp", "pp", "dp", "cp", "ep")}),
    )


def _captures_lacking(said: Mapping[str, str], files: Sequence[str], ranks: Iterable[int]) -> tuple[Capture, ...]:
    """Captures of host and device from which these files are missing; none where nothing is to be said of them."""
    family, recorder = _device_family(said), _one_of_words(said, "recorder")
    by = "msprof" if recorder == "msprof" else ""
    alone = _one_of_words(said, "recorded_alone")
    switched_on = {"host": ("CPU",), "device": (family.upper(),)}.get(alone, ("CPU", family.upper()))
    on = {name: said[name] for name in ("core_metrics", "sampled") if said.get(name, "-") != "-"}
    stacks = {"on": True, "off": False}.get(_one_of_words(said, "call_stacks"))
    lists, source = _one_of_words(said, "kernel_list"), _text_of_word(said, "export")
    if not (files or family == "gpu" or by or on or stacks is not None or lists or alone or source):
        return ()
    files = (*files, *(["kernel_details.csv"] if lists == "no" else []))
    like = Capture(
        rank=0,
        path="",
        recorder=by,
        source=source or "text",
        activities=switched_on,
        with_stack=stacks,
        absent=tuple(files),
        **on,
    )
    return tuple(like.model_copy(update={"rank": rank}) for rank in ranks)


def _device_family(said: Mapping[str, str]) -> str:
    word = said.get("device_family", "npu")
    if word not in RUN_VALUES["device_family"]:
        raise _not_one_of("device_family", RUN_VALUES["device_family"], word)
    return word


def _captured_ranks(said: Mapping[str, str], seen: set[int]) -> tuple[int, ...]:
    everyone = range(int(_number_of_word(said, "captured_ranks", _number_of_word(said, "rank_count"))))
    if "captured_ranks" in said or said.get("world_size") == "-" or not seen:
        return tuple(everyone)
    return tuple(sorted(seen))


_SIDES: Mapping[str, Sides] = {"both": "both", "device": "device", "summary": "summary", "-": ""}


def _recorded_sides(said: Mapping[str, str]) -> Sides:
    word = said.get("sides", "-")
    if word not in _SIDES:
        raise _not_one_of("sides", _SIDES, word)
    return _SIDES[word]


def _not_one_of(name: str, allowed: Iterable[str], given: str) -> Unclear:
    *words, last = allowed
    return Unclear(Message("run_word_is_one_of", name=name, allowed=either_of(", ".join(words), last), given=given))


def _one_of_words(said: Mapping[str, str], name: str) -> Any:
    word, known = _text_of_word(said, name), RUN_VALUES[name]
    if word and word not in known:
        raise _not_one_of(name, known, word)
    return word


def _text_of_word(said: Mapping[str, str], name: str) -> str:
    return "" if said.get(name, "-") == "-" else said[name]


def _share_of_word(said: Mapping[str, str], name: str) -> float | None:
    return None if said.get(name, "-") == "-" else _number_of_word(said, name)


def _number_of_word(said: Mapping[str, str], name: str, default: float = 0) -> float:
    """The number of a word; 0, which stands for unknown, for `-`."""
    if name not in said:
        return default
    if said[name] == "-":
        return 0
    try:
        value = float(said[name])
    except ValueError:
        raise Unclear(Message("run_word_is_number", name=name, given=said[name])) from None
    if not 0 <= value <= 1e12 or (name != "step_us" and value > MAX_ROWS):  # noqa: PLR2004 - 11 days in µs
        raise Unclear(Message("run_word_out_of_range", name=name, given=said[name]))
    return value
