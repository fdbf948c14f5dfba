# SPDX-License-Identifier: Apache-2.0
"""The fuzzer finds what it looks for, makes an input again from its number, and ends whatever an input does."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.fuzz import promises, targets, workers
from benchmarks.fuzz.captures import Special, folder_state, read_files, write_files
from benchmarks.fuzz.cases import Case, remove_needless
from benchmarks.fuzz.mutations import CONTENT, FILES, Mutation, apply_mutations, only_removes
from benchmarks.fuzz.promises import BrokenPromise, check_finite, check_unchanged, names_around
from benchmarks.fuzz.results import append_batch, write_figures
from benchmarks.fuzz.seeds import SEEDS, seed_files
from benchmarks.fuzz.targets import Plan, plan_input
from benchmarks.fuzz.workers import Batch, Failure, try_range

PLAN = Plan("cluster text", (), "open")
Doing = Callable[[], object]


def outcome(monkeypatch: pytest.MonkeyPatch, does: Doing) -> Batch:
    """What is told of three inputs of which the second does this; little time only to who takes all there is."""
    monkeypatch.setattr(workers, "SECONDS", {"load": 1.0 if does in (work_for_ever, wait_for_ever) else 20.0})
    monkeypatch.setattr(workers, "learn_facts", lambda folder: None)
    monkeypatch.setattr(workers, "RUNS", {"load": lambda plan, files, folder: does() if plan.way == "odd" else None})
    total = Batch("load", 0)
    for batch in try_range("load", range(3), plan=lambda _, number: PLAN._replace(way="odd") if number == 1 else PLAN):
        total.inputs += batch.inputs
        total.failures += batch.failures
    return total


def wait_for_ever() -> None:
    while True:
        time.sleep(0.01)


def work_for_ever() -> None:
    while True:
        sum(range(1000))


def take_memory() -> int:
    return len(b"\1" * (300 << 20))


def take_all_memory() -> int:
    return len(bytearray(3 << 30))


@pytest.mark.parametrize(
    ("does", "kind"),
    [
        ([].pop, "traceback"),
        (lambda: warnings.warn("x", stacklevel=1), "warning on the terminal"),
        (os.abort, "crash"),
        (lambda: os._exit(3), "crash"),
        (work_for_ever, "hang"),
        (take_memory, "memory"),
        (take_all_memory, "traceback"),
    ],
    ids=["traceback", "warning", "abort", "exit", "hang", "memory", "too much memory"],
)
def test_what_one_input_does_is_told_and_ends_no_other(does: Doing, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = outcome(monkeypatch, does)
    assert (batch.inputs, [(one.number, one.kind) for one in batch.failures]) == (3, [(1, kind)])


def test_who_ends_while_it_is_looked_at_was_not_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def processor_seconds_of_the_dead(pid: int) -> float:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return 99.0

    monkeypatch.setattr(workers, "_processor_seconds", processor_seconds_of_the_dead)
    assert [one.kind for one in outcome(monkeypatch, os.abort).failures] == ["crash"]


def test_who_waits_for_nothing_is_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WAITING", 3)
    (failure,) = outcome(monkeypatch, wait_for_ever).failures
    assert failure.kind == "hang"
    assert "wait_for_ever" in failure.trace


def test_a_number_is_the_same_input_every_time() -> None:
    for target in SEEDS:
        for number in range(40):
            plan = plan_input(target, number)
            assert plan == plan_input(target, number)
            files = seed_files(target, plan.seed)
            assert apply_mutations(files, plan.mutations) == apply_mutations(files, plan.mutations)


def test_a_seed_is_not_changed_by_what_befalls_it() -> None:
    before = dict(seed_files("load", "cluster text"))
    for number in range(200):
        apply_mutations(seed_files("load", "cluster text"), plan_input("load", number).mutations)
    assert seed_files("load", "cluster text") == before


GENERATED = [
    (target, name) for target in ("load", "load-others") for name in SEEDS[target] if not name.startswith("real:")
]


@pytest.mark.parametrize("kind", [*CONTENT, *FILES])
def test_every_kind_of_damage_damages(kind: str) -> None:
    every = (files for target, name in GENERATED for files in [seed_files(target, name)])
    assert any(apply_mutations(files, [Mutation(kind, file, 5)]) != files for files in every for file in files)


def test_what_comes_to_lie_beside_a_capture_is_told(tmp_path: Path) -> None:
    before = names_around(tmp_path / "prof")
    (tmp_path / "evil.csv").touch()
    with pytest.raises(BrokenPromise):
        check_unchanged(before, names_around(tmp_path / "prof"))


def test_what_only_takes_rows_away_is_known() -> None:
    assert only_removes([Mutation("csv remove_rows", "a.csv", 1), Mutation("files remove_file", "a.db", 1)])
    assert not only_removes([Mutation("csv remove_rows", "a.csv", 1), Mutation("csv change_cells", "a.csv", 1)])
    assert not only_removes([Mutation("json remove_elements", "profiler_info.json", 1)])


def test_a_changed_input_is_told(tmp_path: Path) -> None:
    write_files({"a/b.csv": b"1", "c": Special.pipe, "d": Special.link_to_itself}, tmp_path / "x")
    before = folder_state(tmp_path / "x")
    check_unchanged(before, folder_state(tmp_path / "x"))
    (tmp_path / "x/a/b.csv-wal").touch()
    with pytest.raises(BrokenPromise, match=r"b[.]csv-wal"):
        check_unchanged(before, folder_state(tmp_path / "x"))


def test_a_figure_that_is_not_finite_is_told() -> None:
    with pytest.raises(BrokenPromise, match="/findings/saving"):
        check_finite({"findings": [{"saving": float("nan")}], "rules": [float("inf")]})


def test_facts_of_files_are_read_without_looking_for_captures(tmp_path: Path) -> None:
    targets.learn_facts(tmp_path / "prof")
    assert {fact.table for fact in targets.facts_in("kernel_details.csv")} >= {"kernels"}
    assert {fact.table for fact in targets.facts_in("ascend_pytorch_profiler_3.db")} >= {"kernels", "host_calls"}


def test_of_a_list_remains_what_it_takes_to_fail() -> None:
    assert list(remove_needless(range(20), lambda part: {3, 17} <= set(part))) == [3, 17]


def test_a_case_is_read_as_it_was_kept(tmp_path: Path) -> None:
    files = {"a.csv": "名".encode(), "b.db": b"\xff\0", "c": Special.folder}
    case = Case("load", Plan("text", (Mutation("csv remove_rows", "a.csv", 7),), "lone"), "hang", files)
    assert Case.from_json(case.to_json()) == case
    write_files(files, tmp_path / "x")
    assert read_files(tmp_path / "x") == {"a.csv": "名".encode(), "b.db": b"\xff\0"}


def test_where_tables_are_asked_for_modules_and_statistics_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str | bytes] = []
    monkeypatch.setattr(promises, "check_text", written.append)
    plan = Plan("further text", (), targets.TABLES)
    targets.RUNS["diagnose-others"](plan, seed_files("diagnose-others", plan.seed), tmp_path / "prof")
    assert any("model/layers.0/mlp" in str(text) for text in written)
    assert any(str(text).startswith("# Statistics of") for text in written)


def test_results_are_added_once_to_the_sum_of_all_runs(tmp_path: Path) -> None:
    page, results, sums = tmp_path / "page.md", tmp_path / "results.jsonl", tmp_path / "sums.json"
    page.write_text("before\n<!-- fuzz -->\nold\n<!-- /fuzz -->\nafter\n", "utf-8")
    sums.write_text('{"targets": {"diagnose": {"inputs": 1000, "next": 5000, "kinds": {"csv": 1000}}}}', "utf-8")
    failure = Failure("diagnose", 5001, "cluster text", "open", [], "hang", "")
    append_batch(Batch("diagnose", 5000, 20, 3600.0, kinds={"csv": 5, "text": 15}, failures=[failure]), results)
    append_batch(Batch("diagnose", 5020, 30, 3600.0, kinds={"csv": 30}), results)
    append_batch(Batch("diagnose", 0, 1, again=True), results)
    write_figures(page, results, sums)
    told = page.read_text("utf-8")
    assert told.startswith("before")
    assert told.endswith("after\n")
    assert "| 1 050 | 1 035 | 15 |" in told
    assert "2.0 hours" in told
    assert "1 inputs broke a promise when they were first tried (hang 1), in 1 places." in told
    assert "1 of them were tried again: 0 break one" in told
    with pytest.raises(ValueError, match="number 5000 was added before; go on from 5050"):
        write_figures(page, results, sums)
    write_figures(page, None, sums)
    assert page.read_text("utf-8") == told
