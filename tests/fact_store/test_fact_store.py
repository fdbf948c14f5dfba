# SPDX-License-Identifier: Apache-2.0
"""A store of facts stands for its capture: the same diagnosis, tables that others read, and damage that is told."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.cli.main import main
from advisor.fact_store.manifest import FILE
from advisor.fact_store.parquet import GROUP_ROWS, group_ends
from advisor.fact_store.writing import StoreWriter
from advisor.facts import FACTS, Table
from advisor.facts.base import LARGEST, MISSING, Column, Fact, Number, unit_of_column
from advisor.facts.observed import DeviceTask, Kernel
from advisor.facts.profile import Profile
from advisor.messages.errors import InputError
from advisor.pipeline import open_profile, write_facts
from benchmarks.questions import CAPTURE, PAGES, with_answers
from tests.every_export import CAPTURES, REAL
from tests.shared_captures import SharedCaptures

_FLOATS = st.none() | st.floats(-LARGEST, LARGEST)
_WHOLE = st.none() | st.integers(MISSING + 1, -MISSING - 1)
_TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_CELLS = {"text": _TEXTS, "int": _WHOLE, "float": _FLOATS, "flag": st.none() | st.integers(0, 1)}


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The facts of the capture that lies in the repository, for reading alone."""
    return written(CAPTURE, tmp_path_factory.mktemp("store") / "facts")


@pytest.fixture
def store(whole_store: Path, tmp_path: Path) -> Path:
    """A copy of them of one's own."""
    return shutil.copytree(whole_store, tmp_path / "facts")


def written(capture: Path, target: Path, jobs: int | None = None) -> Path:
    write_facts(open_profile(capture, jobs=jobs), target)
    return target


def cells_of(column: Column, rows: int) -> st.SearchStrategy[list[object]]:
    return st.lists(_CELLS[column.store], min_size=rows, max_size=rows)


@given(st.data())
def test_a_table_comes_back_from_arrow_as_it_was(data: st.DataObject) -> None:
    fact: type[Fact] = data.draw(st.sampled_from(list(FACTS.values())))
    rows = data.draw(st.integers(0, 4))
    cells = {name: data.draw(cells_of(column, rows)) for name, column in fact.columns().items()}
    table = Table.build(fact, **cells)
    again = Table.from_arrow(fact, table.to_arrow())
    assert again.rows() == table.rows()
    for name, column in fact.columns().items():
        if column.store == "text" and rows:
            assert again.texts(name).names == table.texts(name).names  # in their order


@given(st.lists(st.integers(1, 3 * GROUP_ROWS), min_size=1, max_size=6))
def test_row_groups_end_where_a_step_ends_and_hold_enough(steps: list[int]) -> None:
    table = Table.build(Kernel, step=np.repeat(np.arange(len(steps)), steps))
    ends = group_ends(table)
    assert set(ends) <= set(np.cumsum(steps)[:-1].tolist())
    sizes = np.diff([0, *ends, len(table)])
    assert (sizes[:-1] >= GROUP_ROWS).all()
    assert (sizes > 0).all()


def test_row_groups_of_what_knows_no_step_are_of_one_size() -> None:
    assert group_ends(Table.build(DeviceTask, rank=np.zeros(2 * GROUP_ROWS + 1))) == [GROUP_ROWS, 2 * GROUP_ROWS]


@pytest.mark.parametrize(("case", "how"), CAPTURES)
def test_the_diagnosis_of_facts_is_that_of_the_capture(
    case: str, how: dict[str, object], shared: SharedCaptures, tmp_path: Path
) -> None:
    capture = shared.written(case, small=True, **how)  # type: ignore[arg-type]
    facts = written(capture, tmp_path / "facts", jobs=2)
    assert advisor.diagnose(facts).to_json() == shared.diagnosis(capture).to_json()


@pytest.mark.parametrize("name", REAL)
def test_the_diagnosis_of_facts_is_that_of_a_real_capture(
    name: str, real_data: Path, shared: SharedCaptures, tmp_path: Path
) -> None:
    facts = written(real_data / name, tmp_path / "facts")
    assert advisor.diagnose(facts).to_json() == shared.diagnosis(real_data / name).to_json()


def test_every_table_that_is_known_is_there_with_all_its_rows(store: Path) -> None:
    profile = open_profile(CAPTURE)
    known = {name: table for name, fact in FACTS.items() if (table := profile.table_if_recorded(fact)) is not None}
    rows = {name: sum(pq.read_metadata(path).num_rows for path in (store / name).glob("*")) for name in known}
    assert rows == {name: len(table) for name, table in known.items()}
    fields = pq.read_schema(store / "kernels" / "rank-0.parquet")
    assert fields.field("duration_us").metadata[b"unit"] == b"us"
    assert fields.metadata[b"meaning"]


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("tflops", "10^12 operations/s"),
        ("peak_tflops", "10^12 operations/s"),
        ("mega_flops", "10^6 operations"),
        ("tera_flops", "10^12 operations"),
        ("mega_elements", "10^6 elements"),
        ("runs", ""),
    ],
)
def test_numbers_of_operations_have_their_unit(name: str, unit: str) -> None:
    facts = [fact for fact in FACTS.values() if name in fact.columns()]
    assert facts or name == "runs"
    assert unit_of_column(name, Number("…")) == unit
    fields = [Table.empty(fact).to_arrow().schema.field(name) for fact in facts if not fact.columns()[name].unit]
    assert {field.metadata[b"unit"].decode() for field in fields} <= {unit}


def test_what_a_killed_run_left_is_removed_by_the_next_one_and_what_is_written_now_stays(tmp_path: Path) -> None:
    target = tmp_path / "facts"
    lines = (
        "import os, pathlib, advisor.fact_store.writing as writing",
        f"begun = writing.StoreWriter(pathlib.Path({str(target)!r}))",
        "os.kill(os.getpid(), 9)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=False)
    [left] = tmp_path.iterdir()
    with StoreWriter(target) as first:
        assert not left.exists()
        with StoreWriter(target):
            assert first.folder.is_dir()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("page", "questions"), [("facts.md", 5), ("patterns.md", 1)])
def test_the_page_shows_what_duckdb_answers(page: str, questions: int, store: Path) -> None:
    (text,) = (path.read_text("utf-8") for path in PAGES if path.name == page)
    assert with_answers(text, store) == text
    assert text.count("```sql") == questions


def test_statistics_of_facts_are_those_of_the_capture(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for path in (CAPTURE, store):
        assert main(["stats", str(path), "-o", "json:-", "-q"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_damage_of_the_capture_is_told_of_its_facts(shared: SharedCaptures, tmp_path: Path) -> None:
    capture = tmp_path / "capture"
    shutil.copytree(shared.written("slow-link", small=True), capture, copy_function=shutil.copyfile)
    for path in capture.rglob("kernel_details.csv"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + b'"')
    facts = written(capture, tmp_path / "facts")
    found = advisor.diagnose(facts)
    assert found.unread
    assert found.to_json() == advisor.diagnose(capture).to_json()


def readable_with_other_values(path: Path) -> Iterator[bytes]:
    """The content of a file with one bit changed, which who does not look at checksums reads as if nothing was."""
    content, true = bytearray(path.read_bytes()), pq.read_table(path)
    for at in range(4, len(content) - 8):
        content[at] ^= 4
        with contextlib.suppress(OSError, pa.ArrowException, UnicodeDecodeError):
            if not pq.read_table(pa.BufferReader(bytes(content))).equals(true):
                yield bytes(content)
        content[at] ^= 4


@pytest.mark.parametrize("harm", ["cut", "garbled", "gone", "another table", "fewer rows", "one bit"])
def test_a_damaged_file_of_a_store_is_told_and_the_rest_is_diagnosed(harm: str, store: Path) -> None:
    path = store / "kernels" / "rank-1.parquet"
    if harm == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif harm == "garbled":
        path.write_bytes(bytes(byte ^ 0x55 for byte in path.read_bytes()))
    elif harm == "gone":
        path.unlink()
    elif harm == "one bit":
        path.write_bytes(next(readable_with_other_values(path)))
    elif harm == "another table":
        shutil.copy(store / "settings" / "all.parquet", path)
    else:
        table = pq.read_table(path)
        pq.write_table(table.slice(1), path)
    found = advisor.diagnose(store)
    assert "kernels/rank-1.parquet" in {one.file for one in found.unread}
    assert not [outcome for outcome in found.outcomes if outcome.outcome == "failed"]
    assert found.findings


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"format": "advisor.facts/1"}',
        b"\xff\xfe",
        b'{"sources": [{"lacking": {"\xbc": {}}}]}',
        b"[" * 100_000,
        b"null",
    ],
)
def test_a_manifest_that_is_none_is_told_in_a_sentence(text: bytes, store: Path) -> None:
    (store / FILE).write_bytes(text)
    with pytest.raises(InputError, match="no manifest of a store of facts"):
        open_profile(store)


def test_another_format_and_several_stores_are_refused(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "other")
    with pytest.raises(InputError, match="several stores"):
        open_profile(tmp_path)
    manifest = json.loads((store / FILE).read_bytes())
    (store / FILE).write_text(json.dumps({**manifest, "format": "advisor.facts/99"}), "utf-8")
    with pytest.raises(InputError, match=r"advisor\.facts/99"):
        open_profile(store)


@pytest.mark.parametrize("rank", ['"../../secret"', "1.5", "[]"])
def test_a_manifest_leads_nowhere_else(rank: str, store: Path) -> None:
    text = (store / FILE).read_text("utf-8")
    (store / FILE).write_text(text.replace('"rank":1', f'"rank":{rank}'), "utf-8")
    with pytest.raises(InputError, match="no manifest"):
        open_profile(store)


def test_facts_are_replaced_and_anything_else_is_not(store: Path, tmp_path: Path) -> None:
    (store / "settings" / "all.parquet").unlink()
    assert main(["facts", str(CAPTURE), "-o", str(store), "-q"]) == 0
    assert (store / "settings" / "all.parquet").exists()
    assert sorted(os.listdir(tmp_path)) == ["facts"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work", "utf-8")
    assert main(["facts", str(CAPTURE), "-o", str(mine), "-q"]) == 2
    assert os.listdir(mine) == ["thesis.txt"]


def test_facts_are_written_neither_over_their_input_nor_into_a_capture(
    store: Path, shared: SharedCaptures, tmp_path: Path
) -> None:
    assert main(["facts", str(store), "-o", str(store), "-q"]) == 2
    capture = tmp_path / "capture"
    shutil.copytree(shared.written("slow-link", small=True), capture, copy_function=shutil.copyfile)
    rank = next(path for path in capture.iterdir() if path.is_dir())
    assert main(["facts", str(capture), "-o", str(rank / "facts"), "-q"]) == 2
    assert not (rank / "facts").exists()
    assert main(["facts", str(capture), "-o", str(tmp_path / "no" / "facts"), "-q"]) == 2


@pytest.mark.parametrize(
    ("given", "target"),
    [
        *((given, target) for given in (".", "../prof", "../link") for target in ("facts", "../link/facts", "deep/f")),
        ("rank_ascend_pt", "rank_ascend_pt/facts"),
        ("rank_ascend_pt/ASCEND_PROFILER_OUTPUT", "rank_ascend_pt/facts"),
    ],
)
def test_facts_never_lie_in_what_was_given_however_it_is_spelled(
    given: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prof = tmp_path / "prof"
    shutil.copytree(next(CAPTURE.glob("*_ascend_pt")), prof / "rank_ascend_pt", copy_function=os.symlink)
    (tmp_path / "link").symlink_to("prof")
    (prof / "deep").mkdir()
    monkeypatch.chdir(prof)
    before = sorted(prof.rglob("*"))
    assert main(["facts", given, "-o", target]) == 2
    told = capsys.readouterr().err
    assert f"{target} lies inside the input {given}, where facts would be mixed with the captures" in told
    assert f"such as {tmp_path.resolve()}" in told
    assert sorted(prof.rglob("*")) == before


def test_a_report_may_lie_in_a_folder_of_captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(CAPTURE, tmp_path / "prof", copy_function=os.symlink)
    monkeypatch.chdir(tmp_path / "prof")
    assert main(["diagnose", ".", "-q", "-o", "report.json"]) == 0
    assert main(["diagnose", ".", "-q", "-o", "again.json"]) == 0
    assert Path("again.json").read_bytes() == Path("report.json").read_bytes()


def _write_half(capture: Path, target: Path) -> None:
    def stop(self: Profile, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    Profile.anew = stop  # type: ignore[assignment]
    write_facts(open_profile(capture), target)


def test_what_is_half_written_is_never_read(tmp_path: Path) -> None:
    killed = multiprocessing.get_context("fork").Process(target=_write_half, args=(CAPTURE, tmp_path / "facts"))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert not (tmp_path / "facts").exists()
    with pytest.raises(InputError):
        open_profile(tmp_path)


def _write_until(number: int, capture: Path, target: Path) -> None:
    signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore it

    def stop(self: Profile, *_: object) -> None:
        os.kill(os.getpid(), number)

    Profile.anew = stop  # type: ignore[assignment]
    sys.exit(main(["facts", str(capture), "-o", str(target), "-q"]))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_that_is_half_written(number: int, tmp_path: Path) -> None:
    args = (number, CAPTURE, tmp_path / "facts")
    ended = multiprocessing.get_context("fork").Process(target=_write_until, args=args)
    ended.start()
    ended.join()
    assert ended.exitcode == 128 + number
    assert os.listdir(tmp_path) == []


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), StoreWriter(tmp_path / "facts"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []
