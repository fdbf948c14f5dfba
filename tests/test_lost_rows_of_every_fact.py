# SPDX-License-Identifier: Apache-2.0
"""Of every fact that can be recorded, in both exports: rows that are taken out of any file are told, or they are listed
here with the reason why nothing can tell of them."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import corpus
from advisor.facts.observed import OBSERVED
from advisor.messages.errors import AdvisorError, FactMissing
from advisor.model.findings import Diagnosis
from advisor.pipeline import diagnose, open_profile
from advisor.rules.catalog import Catalog
from advisor.shipped_files import shipped_folder
from tests.sources.test_real_captures import OF_MINDSPORE

Cut = Callable[[Path], None]
Rows = list[str]
BOTH = ("text", "database")
KEPT = 0.9
"""Part of its rows by which a fact is there: every cut takes more."""
NOT_KNOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "frequencies": (BOTH, "the clock is written when it changes, and nothing says how often it did"),
    "host_calls": (("text",), "some versions count calls of the runtime and write none of them, as if they were gone"),
    "l2_cache": (("text",), "kernels without a row are usual"),
    "links": (BOTH, "which ranks exchange something is known by these rows alone"),
    "memory_uses": (BOTH, "memory is sampled when it changes, and nothing says how often it did"),
    "module_memory": (BOTH, "as memory_uses"),
    "operator_links": (BOTH, "they tell of other tables, and nothing tells of them; no rule reads them"),
    "operator_memory": (BOTH, "operators that allocate nothing are usual; no shipped rule reads it"),
    "transfers": (BOTH, "collectives that moved nothing between ranks are usual: with all rows gone none is missed"),
    "operator_totals": (("text",), "versions leave whole cores out of the totals, as if they were gone"),
}
"""Facts of which rows can be gone without anything that tells, in which exports, and why."""
FEW = {"frequencies", "links", "transfers"}
"""Of these a capture as small as this one has so few rows that some cuts leave all or none."""


# how files are cut


def halves(chance: random.Random) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if chance.random() < 0.5]


def ways_to_cut_rows() -> Iterator[tuple[str, Callable[[Rows], Rows]]]:
    yield "empty", lambda rows: []
    yield "half", halves(random.Random(7))  # noqa: S311
    yield "tail gone", lambda rows: rows[: len(rows) // 2]


def ways_for_csv(name: str) -> Iterator[tuple[str, Cut]]:
    def cut_by(keep: Callable[[Rows], Rows]) -> Cut:
        def cut(folder: Path) -> None:
            path = next(folder.rglob(name))
            lines = re.split(r"(?<=\n)(?=[^\n])", path.read_text("utf-8"))
            path.write_text("".join([lines[0], *keep(lines[1:])]), "utf-8")

        return cut

    for way, keep in ways_to_cut_rows():
        yield f"{name}: {way}", cut_by(keep)


def ways_for_json(name: str) -> Iterator[tuple[str, Cut]]:
    def cut_by(keep: Callable[[Rows], Rows]) -> Cut:
        def thinned(value: object, depth: int) -> object:
            if not isinstance(value, dict):
                return value
            if depth:
                return {key: thinned(inner, depth - 1) for key, inner in value.items()}
            return {key: value[key] for key in keep(list(value))}

        def cut(folder: Path) -> None:
            path = next(folder.rglob(name))
            path.write_text(json.dumps(thinned(json.loads(path.read_text("utf-8")), 2)), "utf-8")

        return cut

    for way, keep in ways_to_cut_rows():
        yield f"{name}: {way}", cut_by(keep)


def ways_for_trace(folder: Path) -> Iterator[tuple[str, Cut]]:
    def lane(event: dict[str, object]) -> str:
        layer, at, _ = str(event.get("name")).partition("@")
        return f"{event.get('ph')} {event.get('cat') or (layer if at else '')}"

    def without(gone: Callable[[dict[str, object]], bool]) -> Cut:
        def cut(folder: Path) -> None:
            path = next(folder.rglob("trace_view.json"))
            events = json.loads(path.read_text("utf-8"))
            path.write_text(json.dumps([event for event in events if not gone(event)]), "utf-8")

        return cut

    def tail(folder: Path) -> None:
        path = next(folder.rglob("trace_view.json"))
        events = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(events[: len(events) // 2]), "utf-8")

    events = json.loads(next(folder.rglob("trace_view.json")).read_text("utf-8"))
    for kind in sorted({lane(event) for event in events if event["ph"] != "M"}):
        chance = random.Random(7)  # noqa: S311
        yield f"trace_view.json: no {kind}", without(lambda event, kind=kind: lane(event) == kind)
        yield (
            f"trace_view.json: half of {kind}",
            without(lambda event, kind=kind, chance=chance: lane(event) == kind and chance.random() < 0.5),
        )
    chance = random.Random(7)  # noqa: S311
    yield "trace_view.json: half", without(lambda event: event["ph"] != "M" and chance.random() < 0.5)
    yield "trace_view.json: tail gone", tail


def text_ways(folder: Path) -> Iterator[tuple[str, Cut]]:
    for path in sorted(next(folder.rglob("ASCEND_PROFILER_OUTPUT")).iterdir()):
        if path.suffix == ".csv":
            yield from ways_for_csv(path.name)
        elif path.name == "trace_view.json":
            yield from ways_for_trace(folder)
        else:
            yield from ways_for_json(path.name)


EVENT_TABLES = (
    "AICORE_FREQ",
    "CANN_API",
    "COMMUNICATION_OP",
    "COMPUTE_TASK_INFO",
    "CONNECTION_IDS",
    "CommAnalyzerBandwidth",
    "CommAnalyzerMatrix",
    "MEMORY_RECORD",
    "NPU_MODULE_MEM",
    "OP_MEMORY",
    "PYTORCH_API",
    "STEP_TIME",
    "STRING_IDS",
    "StepTraceTime",
    "TASK",
)


def database_ways(folder: Path) -> Iterator[tuple[str, Cut]]:
    def run(statement: str, table: str) -> Cut:
        def cut(folder: Path) -> None:
            for file in folder.rglob("*.db"):
                with sqlite3.connect(file) as database:
                    rows = f"select name from sqlite_master where name = '{table}'"
                    if database.execute(rows).fetchone():
                        database.execute(statement.format(f'"{table}"'))
                database.close()

        return cut

    for table in EVENT_TABLES:
        yield f"{table}: gone", run("drop table {}", table)
        yield f"{table}: empty", run("delete from {}", table)
        yield f"{table}: half", run("delete from {} where (rowid * 7919) % 2", table)
        middle = f'(select (min(rowid) + max(rowid)) / 2 from "{table}")'
        yield f"{table}: tail gone", run(f"delete from {{}} where rowid > {middle}", table)


# rules that tell whether a fact is there

RULE = """
id: every/{name}
since: 0.1.0
title: {{en: "{{held}}"}}
why: {{en: Rows are there.}}
params: {{kept: {{value: {kept}, basis: {{en: Counted.}}}}}}
in: {table}
for_each: [rank]
let: {{held: count()}}
when: held > kept
severity: info
evidence: [{{show: held, en: Rows, as: count}}]
fix: [{{do: {{en: Nothing.}}}}]
"""


def counting_rules(capture: Path, folder: Path) -> Catalog:
    """A rule for each fact that the capture holds, which fires while it is there, and what is said of captures."""
    profile = open_profile(capture)
    for fact in OBSERVED:
        try:
            rows = len(profile.table(fact))
        except FactMissing:
            continue
        if rows and fact.table not in ("damages", "rank_captures"):
            name = fact.table.replace("_", "-")
            path = folder / "every" / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(RULE.format(name=name, table=fact.table, kept=KEPT * rows), "utf-8")
    return Catalog.load([shipped_folder("rules"), folder]).select(["capture/*", "every/*"])


def fired(diagnosis: Diagnosis) -> set[str]:
    return {one.rule for one in diagnosis.outcomes if one.outcome == "fired" and one.rule.startswith("every/")}


def told(diagnosis: Diagnosis) -> set[tuple[str, str]]:
    """What is said of the capture itself."""
    return {(one.rule, str(one.subject)) for one in diagnosis.findings if one.rule.startswith("capture/")} | {
        (one.file, str(one.what)) for one in diagnosis.unread
    }


@pytest.mark.parametrize(("export", "ways"), [("text", text_ways), ("database", database_ways)])
def test_rows_of_no_fact_are_gone_in_silence_but_of_those_that_are_listed(
    export: str, ways: Callable[[Path], Iterator[tuple[str, Cut]]], tmp_path: Path
) -> None:
    written = corpus.write(corpus.job("host-bound-2-ranks"), tmp_path / "job", export, level=2)
    whole = next(path for path in sorted(written.iterdir()) if path.name.endswith("_ascend_pt"))
    catalog = counting_rules(whole, tmp_path / "rules")
    before = diagnose(open_profile(whole), catalog)
    assert len(fired(before)) >= len({fact.table for fact in OBSERVED} - OF_MINDSPORE) - 5
    silent: dict[str, list[str]] = {}
    for way, cut in ways(whole):
        damaged = shutil.copytree(whole, tmp_path / "damaged" / whole.name)
        cut(damaged)
        try:
            after = diagnose(open_profile(damaged), catalog)
        except AdvisorError:
            continue  # told by ending
        finally:
            shutil.rmtree(damaged)
        outcomes = {one.rule: one for one in after.outcomes}
        assert not [rule for rule, one in outcomes.items() if one.outcome == "failed"], way
        if told(after) <= told(before):
            for rule in fired(before):
                if outcomes[rule].outcome == "quiet" and not outcomes[rule].without_ranks:
                    silent.setdefault(rule.removeprefix("every/").replace("-", "_"), []).append(way)
    listed = {fact for fact, (exports, _) in NOT_KNOWN.items() if export in exports}
    assert silent.keys() <= listed, silent
    assert listed - silent.keys() <= FEW
