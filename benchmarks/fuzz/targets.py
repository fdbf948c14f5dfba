# SPDX-License-Identifier: Apache-2.0
"""What is done with a damaged capture: `load` reads facts of it, `diagnose` judges the whole and writes reports.

The captures of `load-others` and `diagnose-others` are of other profilers, packed, or hold what is seldom recorded; of
the latter some are taken apart by modules and counted instead.

Both hold what came of it against what is promised (`promises`). Nothing is caught here but what advisor raises on
purpose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import advisor
from advisor.facts.base import Fact
from advisor.facts.observed import OBSERVED, Damage, RankCapture
from advisor.facts.rank_facts import Source
from advisor.messages.errors import FactMissing, InputError
from advisor.messages.text import LANGUAGES
from advisor.model.findings import Diagnosis
from advisor.pipeline import count_profile, diagnose, modules, open_profile, open_to_count
from advisor.report.output_formats import MODULE_WRITERS, STATISTICS_WRITERS, WRITERS, CountedTables, Reported, Writer
from advisor.rules.catalog import Catalog
from advisor.sources import UnpackedInput, open_input, open_unpacked
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.shared.ascend_names import ANALYSIS_DATABASES, PROFILER_DATABASE, TEXT_FILES
from benchmarks.fuzz import promises
from benchmarks.fuzz.captures import Files, Special, folder_state, write_files
from benchmarks.fuzz.mutations import Mutation, choose_mutations, only_removes
from benchmarks.fuzz.seeds import SEEDS, is_recorded, names_at_hand, seed_files

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_ABOUT = re.compile(r"profiler_(info(_\d+)?|metadata)\.json")
_AT_ONCE = 2
"""Facts read of one damaged file: more of other files tell more than more of this one."""
_EVERY = 8
"""One diagnosis of so many is held against the JSON schema, which takes a third as long as to make it."""
_REMOVALS = 0.3
"""Share of the diagnoses of captures that lack rows and are else as they were."""
_TABLE_TEXTS = ("markdown", "csv", "json")
_MOST_ROWS = 20
_TEXTS = tuple(writer for writer in WRITERS if writer.name not in ("html", "json", "xlsx"))
"""Formats that are written beside JSON, one for each input; pages and workbooks take as long as the diagnosis."""


TABLES = "tables"
"""A way of what is not diagnosed: the model is taken apart by its modules, and all statistics are counted."""


class Plan(NamedTuple):
    """An input: the name of its seed, its mutations, and how it is read, or what is written of it."""

    seed: str
    mutations: tuple[Mutation, ...]
    way: str


def plan_input(target: str, number: int) -> Plan:
    """The input of this number: the same wherever the same seeds are at hand."""
    chance = Random(f"{target} {number}")
    seed = _choose_seed(target, chance)
    files = seed_files(target, seed)
    if target == "load-others":
        return Plan(seed, tuple(choose_mutations(files, chance)), chance.choice(("open", "file")))
    if target != "load":
        removals = chance.random() < _REMOVALS
        ways = [writer.name for writer in _TEXTS] + [TABLES] * (target == "diagnose-others")
        return Plan(seed, tuple(choose_mutations(files, chance, removals=removals)), chance.choice(ways))
    way = chance.choices(("lone", "whole", "open"), (88, 4, 8))[0]
    lone = [name for name in files if _is_part(name)]
    if way == "open" or not lone:
        return Plan(seed, tuple(choose_mutations(files, chance)), "open")
    file = chance.choice([name for name in lone if not _ABOUT.fullmatch(Path(name).name)])
    return Plan(seed, tuple(choose_mutations({file: b""}, chance)), way)


def _choose_seed(target: str, chance: Random) -> str:
    """Each as often, those of clusters, which hold little, half as often; what is not at hand gives way to others."""
    every = [*SEEDS[target], *(name for name in SEEDS[target] if "cluster" not in name)]
    seed, other = chance.choice(every), chance.choice([name for name in every if not is_recorded(name)])
    return seed if seed in names_at_hand(target) else other


def _is_part(name: str) -> bool:
    return f"{_OUTPUT}/" in name or _ABOUT.fullmatch(Path(name).name) is not None


def load(files: Files, mutations: Iterable[Mutation], way: str, folder: Path, seed: Files) -> None:
    """Read facts of a mutated capture: all after opening it as people do, or those of one file.

    Raises:
        BrokenPromise: Something came of it that must not.
    """
    touched = {one.file for one in mutations}
    kept = (
        files if way != "lone" else {name: held for name, held in files.items() if name in touched or name not in seed}
    )
    write_files(kept, folder)
    before = folder_state(folder)
    if way == "open":
        read_opened(folder)
    else:
        read_directly(folder, kept, sorted(touched), Random(sum(one.number for one in mutations)))
    promises.check_unchanged(before, folder_state(folder))


def read_opened(folder: Path) -> None:
    """Open a capture and read every fact there is."""
    try:
        _, sources = open_input(folder, jobs=1)
    except InputError:
        return
    for source in sources:
        _read_facts(source, OBSERVED)


def load_as_given(files: Files, way: str, folder: Path) -> None:
    """Read every fact of a capture that may be packed, by its folder or by its one file; nothing stays of it.

    Raises:
        BrokenPromise: Something came of it that must not.
    """
    write_files(files, folder)
    before = folder_state(folder)
    around = promises.names_around(folder)
    unpacked = UnpackedInput(folder / next(iter(files)) if way == "file" and len(files) == 1 else folder)
    try:
        _, sources = open_unpacked(unpacked, jobs=1)
        for source in sources:
            _read_facts(source, OBSERVED)
    except InputError:
        pass
    finally:
        unpacked.close()
    promises.check_unchanged(before, folder_state(folder))
    promises.check_unchanged(around, promises.names_around(folder))


def read_directly(folder: Path, files: Files, touched: list[str], chance: Random) -> None:
    """Read two of the facts that are kept in some files, without looking for captures first."""
    output = Path(touched[0]).parent
    names = [
        Path(name).name for name, held in files.items() if Path(name).parent == output and held is not Special.folder
    ]
    opened = Folder(
        rank=0,
        root=folder / output.parent,
        output=folder / output,
        files={name: folder / output / name for name in names if name in TEXT_FILES},
        databases=dict(_databases(folder / output, names)),
        readings=READINGS,
    )
    wanted = frozenset[type[Fact]]().union(*(facts_in(Path(name).name) for name in touched))
    facts = sorted(wanted - {Damage, RankCapture}, key=lambda fact: fact.table)  # every file gives those two
    _read_facts(opened, [*chance.sample(facts, min(_AT_ONCE, len(facts))), Damage])
    opened.release()


def _databases(output: Path, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for name in names:
        if PROFILER_DATABASE.match(name):
            yield "profiler", output / name
        elif name in ANALYSIS_DATABASES:
            yield "analysis", output / name


def _read_facts(source: Source, facts: Iterable[type[Fact]]) -> None:
    for fact in facts:
        try:
            table = source.read(fact)
        except FactMissing:
            continue
        promises.check_table(table)


_FACTS_OF_FILES: dict[str, set[type[Fact]]] = {}


def learn_facts(folder: Path) -> None:
    """Find out which facts are read from which file: those that a file alone gives."""
    for seed in names_at_hand("load"):
        for name, held in seed_files("load", seed).items():
            if not _is_part(name) or _ABOUT.fullmatch(Path(name).name):
                continue
            write_files({name: held}, folder)
            place = folder / Path(name).parent
            named = Path(name).name
            opened = Folder(
                rank=0, root=place.parent, output=place, readings=READINGS,
                files={named: place / named} if named in TEXT_FILES else {}, databases=dict(_databases(place, [named])),
            )  # fmt: skip
            for fact in OBSERVED:
                try:
                    opened.read(fact)
                except FactMissing:
                    continue
                _FACTS_OF_FILES.setdefault(_kind_of_file(named), set()).add(fact)
            opened.release()


def facts_in(name: str) -> set[type[Fact]]:
    """The facts that a file of this name gives, as far as was found out."""
    return _FACTS_OF_FILES.get(_kind_of_file(name), set())


def _kind_of_file(name: str) -> str:
    return "profiler" if PROFILER_DATABASE.match(name) else name


@cache
def _catalog() -> Catalog:
    return advisor.load_rules()


@cache
def _diagnosis_of_seed(target: str, seed: str, folder: Path) -> Diagnosis:
    """What is said of a capture to which nothing was done."""
    write_files(seed_files(target, seed), folder)
    return diagnose(open_profile(folder, jobs=1), _catalog())


def diagnose_capture(plan: Plan, files: Files, folder: Path, target: str) -> None:
    """Diagnose a mutated capture and write it as JSON and in one other format.

    Raises:
        BrokenPromise: Something came of it that must not.
    """
    drawn = sum(one.number for one in plan.mutations)
    whole = _diagnosis_of_seed(target, plan.seed, folder) if only_removes(plan.mutations) else None
    write_files(files, folder)
    before = folder_state(folder)
    try:
        diagnosis = diagnose(open_profile(folder, jobs=1), _catalog())
    except InputError:
        promises.check_unchanged(before, folder_state(folder))
        return
    promises.check_unchanged(before, folder_state(folder))
    promises.check_diagnosis(diagnosis)
    if drawn % _EVERY == 0:
        promises.check_schema(diagnosis.model_dump(mode="json"))
    writer = next(one for one in WRITERS if one.name == plan.way)
    promises.check_text(writer.text(Reported(diagnosis, "zh" if drawn % 2 else "en")))
    if whole is not None:
        gone = any(one.kind == "files remove_file" for one in plan.mutations)
        promises.check_nothing_is_silently_fine(whole, diagnosis, files_gone=gone)


def tabulate_capture(files: Files, folder: Path) -> None:
    """Say where in its model the time of a mutated capture goes, and count all there is, and write both.

    Raises:
        BrokenPromise: Something came of it that must not.
    """
    write_files(files, folder)
    before = folder_state(folder)
    try:
        profile = open_to_count(folder, jobs=1)
    except InputError:
        promises.check_unchanged(before, folder_state(folder))
        return
    found = count_profile(profile)
    promises.check_finite(json.loads(found.to_json()))
    report = modules(profile)
    promises.check_unchanged(before, folder_state(folder))
    for language in LANGUAGES:
        _check_texts(MODULE_WRITERS, (report, language))
        if found.tables:  # else the command ends before it writes
            _check_texts(STATISTICS_WRITERS, CountedTables(found, language, _MOST_ROWS))


def _check_texts(writers: Iterable[Writer], told: object) -> None:
    for writer in writers:
        if writer.name in _TABLE_TEXTS:
            promises.check_text(writer.text(told))


def _judge(plan: Plan, files: Files, folder: Path) -> None:
    if plan.way == TABLES:
        tabulate_capture(files, folder)
    else:
        diagnose_capture(plan, files, folder, "diagnose-others")


Run = Callable[[Plan, Files, Path], None]
RUNS = MappingProxyType({
    "load": lambda plan, files, folder: load(files, plan.mutations, plan.way, folder, seed_files("load", plan.seed)),
    "diagnose": lambda plan, files, folder: diagnose_capture(plan, files, folder, "diagnose"),
    "load-others": lambda plan, files, folder: load_as_given(files, plan.way, folder),
    "diagnose-others": _judge,
})  # fmt: skip
"""Each target, of a plan, the files after its mutations, and a folder to put them."""
