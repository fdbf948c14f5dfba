# SPDX-License-Identifier: Apache-2.0
"""Rows taken out of a file never make a problem look solved in silence: what was found stays found, or is told as not
looked for, or the file is named. `test_lost_rows_of_every_fact` takes out parts of every kind of row."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import advisor
from advisor.facts.base import Fact
from advisor.facts.observed import Collective, PeerWait
from advisor.model.findings import Diagnosis
from advisor.pipeline import judge_profile, open_profile
from tests.shared_captures import SharedCaptures
from tests.told_files import names, told

CASE = Path(__file__).parents[1] / "corpus" / "host-bound-2-ranks"
CATALOG = advisor.load_rules()
Damage = Callable[[], object]


def writable_copy(source: Path, to: Path) -> Path:
    shutil.copytree(source, to, symlinks=False)
    for path in [to, *to.rglob("*")]:
        os.chmod(path, 0o755 if path.is_dir() else 0o644)
    return to


def outputs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("ASCEND_PROFILER_OUTPUT"))


def ways_to_cut_a_table(name: str) -> Iterator[tuple[str, Callable[[Path], None]]]:
    def keep(lines: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
        def cut(folder: Path) -> None:
            text = (folder / name).read_text("utf-8").splitlines(keepends=True)
            (folder / name).write_text("".join([text[0], *lines(text[1:])]), "utf-8")

        return cut

    yield f"{name} without rows", keep(lambda rows: [])
    yield f"{name} with its first half", keep(lambda rows: rows[: len(rows) // 2])
    yield f"{name} with every second row", keep(lambda rows: rows[::2])


def ways_to_cut_the_timeline(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    def without(gone: Callable[[dict[str, object], random.Random], bool]) -> Callable[[Path], None]:
        def cut(folder: Path) -> None:
            chance, path = random.Random(7), folder / "trace_view.json"  # noqa: S311
            events = json.loads(path.read_text("utf-8"))
            path.write_text(json.dumps([one for one in events if not gone(one, chance)]), "utf-8")

        return cut

    kinds = {
        (str(one.get("ph")), str(one.get("cat", "")))
        for one in json.loads((folder / "trace_view.json").read_text("utf-8"))
        if one.get("ph") != "M"
    }
    for ph, cat in sorted(kinds):

        def alike(one: dict[str, object], ph: str = ph, cat: str = cat) -> bool:
            return (one.get("ph"), one.get("cat", "")) == (ph, cat)

        yield f"no {ph} {cat}", without(lambda one, _, alike=alike: alike(one))
    yield "half of everything", without(lambda one, chance: one.get("ph") != "M" and chance.random() < 0.5)


def fired(diagnosis: Diagnosis) -> set[str]:
    return {one.rule for one in diagnosis.outcomes if one.outcome == "fired"}


def judged_again(before: Diagnosis, folder: Path) -> Diagnosis:
    """What the rules that found something before, and those of captures, say of a capture; no charts are drawn."""
    return judge_profile(open_profile(folder), CATALOG.select(["capture/*", *fired(before)]), shown=())


def assert_nothing_is_silently_fine(before: Diagnosis, after: Diagnosis, way: str, cut: str) -> None:
    outcomes = {one.rule: one for one in after.outcomes}
    silent = {rule for rule in fired(before) if outcomes[rule].outcome == "quiet" and not outcomes[rule].without_ranks}
    assert not silent or names(told(after) - told(before), cut), (way, silent)


@pytest.fixture(scope="module")
def whole() -> Diagnosis:
    return advisor.diagnose(CASE)


def test_names_that_are_gone_from_a_database_are_told_and_no_other_table_is_blamed(
    shared: SharedCaptures, tmp_path: Path
) -> None:
    folder = writable_copy(shared.written("slow-link", export="database", small=True), tmp_path / "prof")
    before = advisor.diagnose(folder)
    for path in folder.rglob("ascend_pytorch_profiler*.db"):
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM STRING_IDS WHERE id % 3 = 0")
        connection.close()
    after = advisor.diagnose(folder)
    assert {one.place for one in after.unread} == {"STRING_IDS"}
    assert fired(after) >= {"capture/damaged-input"}
    assert "capture/lost-rows" not in fired(after)
    worst = {"critical", "high"}
    assert {f.rule for f in after.findings if f.severity in worst} <= {f.rule for f in before.findings}


@pytest.mark.parametrize("fact", [Collective, PeerWait], ids=lambda fact: fact.table)
def test_names_of_collectives_are_known_by_what_was_analysed(fact: type[Fact], real_data: Path, tmp_path: Path) -> None:
    folder = writable_copy(
        real_data / "msinsight_pytorch_matrix/db/level1/rank1_ascend_pt", tmp_path / "rank1_ascend_pt"
    )
    before = list(open_profile(folder).table(fact).rows())
    (path,) = folder.rglob("ascend_pytorch_profiler*.db")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM STRING_IDS WHERE id IN (SELECT opName FROM COMMUNICATION_OP)")
    connection.close()
    after = list(open_profile(folder).table(fact).rows())
    assert str(after) == str(before)
    assert before


TEXT_WAYS = (
    *(way for name in ("kernel_details.csv", "step_trace_time.csv") for way in ways_to_cut_a_table(name)),
    *ways_to_cut_the_timeline(outputs(CASE)[0]),
)


@pytest.mark.parametrize(("way", "cut"), TEXT_WAYS, ids=[name for name, _ in TEXT_WAYS])
def test_rows_lost_on_every_rank_are_never_taken_for_health(
    way: str, cut: Callable[[Path], None], whole: Diagnosis, tmp_path: Path
) -> None:
    folder = writable_copy(CASE, tmp_path / "prof")
    for one in outputs(folder):
        cut(one)
    cut_file = way.split(maxsplit=1)[0] if ".csv" in way else "trace_view.json"
    assert_nothing_is_silently_fine(whole, judged_again(whole, folder), way, cut_file)


def test_launches_lost_on_one_rank_are_named_with_file_and_rank(whole: Diagnosis, tmp_path: Path) -> None:
    folder = writable_copy(CASE, tmp_path / "prof")
    dict(ways_to_cut_the_timeline(outputs(folder)[0]))["no f HostToDevice"](outputs(folder)[1])
    after = judged_again(whole, folder)
    (found,) = [one for one in after.findings if one.rule == "capture/lost-rows"]
    assert (found.subject["file"], {place.rank for place in found.seen}) == ("trace_view.json", {1})
    assert_nothing_is_silently_fine(whole, after, "one rank", "trace_view.json")


def test_a_whole_capture_has_lost_nothing(whole: Diagnosis) -> None:
    assert {one.rule: one.outcome for one in whole.outcomes}["capture/lost-rows"] == "quiet"


def test_a_list_of_steps_that_ends_early_leaves_the_order_of_findings_as_it_was(
    real_data: Path, shared: SharedCaptures, tmp_path: Path
) -> None:
    source = real_data / "msinsight_pytorch_matrix/text/level1/rank0_ascend_pt"
    before = [one.rule for one in shared.diagnosis(source).findings if not one.rule.startswith("capture/")]
    folder = writable_copy(source, tmp_path / source.name)
    (output,) = outputs(folder)
    text = (output / "step_trace_time.csv").read_text("utf-8")
    (output / "step_trace_time.csv").write_text(text[: len(text) // 2], "utf-8")
    lines = (output / "kernel_details.csv").read_text("utf-8").splitlines(keepends=True)
    (output / "kernel_details.csv").write_text("".join([*lines, *lines[1:41]]), "utf-8")
    after = [one.rule for one in advisor.diagnose(folder).findings]
    assert {"capture/damaged-input", "capture/lost-rows"} <= set(after)
    assert [one for one in after if not one.startswith("capture/")] == before


def test_rows_lost_in_a_database_are_never_taken_for_health(
    real_data: Path, shared: SharedCaptures, tmp_path: Path
) -> None:
    source = real_data / "msinsight_pytorch_matrix/db/level1"
    before = shared.diagnosis(source)
    for table in ("STEP_TIME", "StepTraceTime", "CANN_API", "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_OP"):
        for statement in ("delete from {}", "drop table {}"):
            folder = writable_copy(source, tmp_path / "prof")
            for file in folder.rglob("*.db"):
                with sqlite3.connect(file) as database:
                    held = {name for (name,) in database.execute("select name from sqlite_master")}
                    if table in held:
                        database.execute(statement.format(table))
                database.close()
            assert_nothing_is_silently_fine(before, judged_again(before, folder), statement.format(table), table)
            shutil.rmtree(folder)


def test_a_hole_in_the_middle_of_a_long_timeline_is_told_however_small_a_part_of_it_is_gone(
    tmp_path: Path, shared: SharedCaptures
) -> None:
    whole = shared.written("host-bound")
    capture = writable_copy(whole, tmp_path / whole.name)
    path = outputs(capture)[0] / "trace_view.json"
    events = json.loads(path.read_text("utf-8"))
    begun = sorted(
        (float(one["ts"]), one["id"]) for one in events if one["ph"] == "f" and one.get("cat") == "HostToDevice"
    )
    middle = len(begun) // 2
    gone = {arrow for _, arrow in begun[middle : middle + 25]}
    assert len(gone) < 0.05 * len(begun)
    kept = [one for one in events if one.get("cat") != "HostToDevice" or one["id"] not in gone]
    path.write_text(json.dumps(kept), "utf-8")
    rules = CATALOG.select(["capture/*"])
    assert not told(judge_profile(open_profile(whole), rules, shown=()))
    assert names(told(judge_profile(open_profile(capture), rules, shown=())), path.name)
