# SPDX-License-Identifier: Apache-2.0
"""Of every fact that can be recorded, in every export: rows that are taken out of any file are told with its name, or
they are listed here with the reason why nothing can tell of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from advisor.facts.observed import OBSERVED
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import AdvisorError, FactMissing
from advisor.model.findings import Diagnosis
from advisor.pipeline import judge_profile, open_profile
from advisor.rules.catalog import Catalog
from tests.cut_captures import CAPTURES
from tests.shared_captures import digest_of_files
from tests.told_files import names, told

KEPT = 0.9
"""Part of its rows by which a fact is there: every cut takes more."""
ASCEND = ("text", "database", "msprof", "msprof database")
NOT_KNOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "frequencies": (ASCEND, "the clock is written when it changes, and nothing says how often it did"),
    "host_calls": (
        ("text", "msprof", "GPU trace"),
        "some versions count calls of the runtime and write none of them, as if they were gone; of GPUs "
        "operators of the framework and calls into CUDA are recorded each without the other",
    ),
    "api_totals": (("msprof",), "which calls on the host were recorded is chosen, and nothing says how"),
    "l2_cache": (("text", "msprof"), "kernels without a row are usual"),
    "links": (ASCEND, "which ranks exchange something is known by these rows alone"),
    "memory_uses": ((*ASCEND, "GPU trace"), "memory is sampled when it changes, and nothing says how often it did"),
    "module_memory": (ASCEND, "as memory_uses"),
    "aicpu_tasks": (("text", "msprof"), "which tasks of AI CPUs are written is the choice of the version"),
    "module_ranges": (
        ("database", "msprof", "msprof database"),
        "a program marks what it wants to; in the timeline other events that are gone with them tell",
    ),
    "program_marks": (("database", "msprof", "msprof database"), "as module_ranges"),
    "attention_marks": (("database", "msprof", "msprof database"), "as module_ranges"),
    "kernel_counters": (("msprof database",), "as device_tasks"),
    "traffic_samples": (ASCEND, "as port_counters"),
    "port_counters": (ASCEND, "nothing says how many ports there are, nor how often they were looked at"),
    "operator_links": (ASCEND, "they tell of other tables, and nothing tells of them; no rule reads them"),
    "operator_memory": (ASCEND, "operators that allocate nothing are usual"),
    "peer_waits": (
        ("msprof",),
        "who is there already is not waited for, and algorithms differ in who waits for whom",
    ),
    "transfers": (ASCEND, "collectives that moved nothing between ranks are usual: with all rows gone none is missed"),
    "operator_totals": (
        ("text", "msprof", "msprof database", "MindSpore Insight"),
        "versions leave whole cores out of the totals, as if they were gone; calls on the AI CPU are numbered, so that "
        "only those at the end are not missed",
    ),
    "device_tasks": (
        ("GPU trace", "msprof database"),
        "calls into CUDA that copy or set nothing leave no work, as if it were gone; a task in the database whose "
        "kernel is not listed is as one around the parts of a kernel, and msprof sums up no steps that would tell",
    ),
    "kernels": (("msprof database",), "as device_tasks"),
    "launches": (("GPU trace", "msprof database"), "as device_tasks"),
    "batch_queues": (("MindSpore Insight",), "the device numbers no look at its queue"),
    "data_fetches": (
        ("MindSpore Insight",),
        "calls on the AI CPU are numbered, so that only those at the end are not missed",
    ),
}
"""Facts of which rows can be gone without anything that tells, in which exports, and why."""
FEW = {"frequencies", "links", "transfers"}
"""Of these a capture as small as this one has so few rows that some cuts leave all or none."""
FACTS = {"text": 28, "database": 27, "msprof": 25, "msprof database": 27, "GPU trace": 9, "MindSpore Insight": 8}
"""So many facts a capture of each export has at least."""
SHORTER = {"GPU trace": "a trace without its last events, and whole, is one that was recorded for less time"}
"""Exports of which a file can lose its tail in silence, and why."""


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


@pytest.mark.parametrize("export", CAPTURES)
def test_rows_of_no_fact_are_gone_in_silence_but_of_those_that_are_listed(export: str, tmp_path: Path) -> None:
    write, ways = CAPTURES[export]
    whole = write(tmp_path)
    catalog = counting_rules(whole, tmp_path / "rules")
    before = judge_profile(open_profile(whole), catalog, shown=())
    assert len(fired(before)) >= FACTS[export]
    judged = {digest_of_files(whole): before}
    silent: dict[str, list[str]] = {}
    for way, cut in ways(whole):
        if export in SHORTER and way.endswith("tail gone"):
            continue
        damaged = shutil.copytree(whole, tmp_path / "damaged" / whole.name)
        cut(damaged)
        try:
            held = digest_of_files(damaged)
            if held not in judged:  # some cuts find nothing to take, or leave what others leave
                judged[held] = judge_profile(open_profile(damaged), catalog, shown=())
            after = judged[held]
        except AdvisorError:
            continue  # told by ending
        finally:
            shutil.rmtree(damaged)
        outcomes = {one.rule: one for one in after.outcomes}
        assert not [rule for rule, one in outcomes.items() if one.outcome == "failed"], way
        if not names(told(after) - told(before), way.partition(":")[0], export):
            for rule in fired(before):
                if outcomes[rule].outcome == "quiet" and not outcomes[rule].without_ranks:
                    silent.setdefault(rule.removeprefix("every/").replace("-", "_"), []).append(way)
    listed = {fact for fact, (exports, _) in NOT_KNOWN.items() if export in exports}
    assert silent.keys() <= listed, str({fact: ways for fact, ways in silent.items() if fact not in listed})
    assert listed - silent.keys() <= FEW
