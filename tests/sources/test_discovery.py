# SPDX-License-Identifier: Apache-2.0
"""What is found at a path, which rank it is, and what is said about input that cannot be read."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from advisor.facts.base import MISSING
from advisor.facts.observed import Damage, Device, HostCall, Kernel, RankCapture, StepTime
from advisor.machine.regular_files import open_regular
from advisor.messages.errors import FactMissing, InputError
from advisor.messages.message import Message
from advisor.sources import open_input
from advisor.sources.ascend import sending_names
from advisor.sources.ascend.reading import Folder
from advisor.sources.detect import find_candidates
from advisor.sources.families import FAMILIES
from advisor.sources.family import Candidate
from corpus import gpu_traces
from tests.input_notes import note

Capture = Callable[..., Path]
STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n"


SECOND = 1_000_000_000


def make(
    folder: Path, *, rank: int | None = 0, step: int = 1, end_ns: int = 0, took_ns: int | None = None, row: str = ""
) -> Path:
    """A smallest capture: step times, and profiler_info with a rank and an end, and how long it took to record."""
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "step_trace_time.csv").write_text(STEPS + (row or f"{step},5,1,0,1,4\n"))
    info = {"config": {"common_config": {"with_stack": True}}, "end_info": {"collectionTimeEnd": end_ns}}
    if took_ns is not None:
        info["start_info"] = {"start_monotonic": 5}
        info["end_info"]["MonotonicTimeEnd"] = 5 + took_ns
    name = "profiler_info.json" if rank is None else f"profiler_info_{rank}.json"
    (folder / name).write_text(json.dumps(info))
    return folder


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        open_input(path)
    assert "\n" not in caught.value.what.en
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("export", ["text", "database"])
def test_a_capture_is_found_from_above_from_within_and_by_its_files(export: str, capture: Capture) -> None:
    root = capture(export, case="healthy")
    rank = sorted(root.glob("*_ascend_pt"))[0]
    output = rank / "ASCEND_PROFILER_OUTPUT"
    everyone, _ = open_input(root)
    assert everyone.ranks == (0, 1, 2, 3)
    for path in (rank, output, *output.iterdir()):
        run, sources = open_input(path)
        assert run.ranks == (0,), path
        assert run.steps == everyone.steps
        assert len(sources) == 1


def test_captures_are_found_some_folders_below(tmp_path: Path) -> None:
    make(tmp_path / "a" / "b" / "c" / "w_1_20250101000000000_ascend_pt", rank=3)
    assert open_input(tmp_path)[0].ranks == (3,)


def captures(path: Path) -> list[Candidate]:
    return find_candidates(path, FAMILIES).of("Ascend", "capture")


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    make(tmp_path / "deep" / "w_ascend_pt", rank=0)
    (tmp_path / "deep" / "again").symlink_to(tmp_path, target_is_directory=True)
    run, sources = open_input(tmp_path)
    assert (run.ranks, len(sources), run.notes) == ((0,), 1, ())


def test_ranks_that_are_links_are_captures(tmp_path: Path, capture: Capture) -> None:
    (tmp_path / "job").mkdir()
    for rank in sorted(capture("text").glob("*_ascend_pt")):
        (tmp_path / "job" / rank.name).symlink_to(rank, target_is_directory=True)
    assert len(captures(tmp_path / "job")) == len(captures(capture("text"))) > 1


def test_a_link_to_a_folder_above_does_not_lead_to_what_lies_beside(tmp_path: Path) -> None:
    for name in ("given", "beside"):
        made = tmp_path / name / f"{name}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        made.mkdir(parents=True)
        (made / "kernel_details.csv").touch()
    for name, target in (("up", tmp_path), ("top", Path("/"))):
        (tmp_path / "given" / name).symlink_to(target, target_is_directory=True)
    assert [spot.root.name for spot in captures(tmp_path / "given")] == ["given_ascend_pt"]


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="there is no /proc")
def test_what_processes_have_open_is_not_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernel_details.csv").touch()
    monkeypatch.chdir(tmp_path)
    assert not captures(Path(f"/proc/{os.getpid()}"))
    assert len(captures(Path("/proc/self/cwd"))) == 1


def test_a_link_that_leads_nowhere_is_no_capture(tmp_path: Path) -> None:
    (tmp_path / "x_ascend_pt").symlink_to(tmp_path / "gone", target_is_directory=True)
    refusal(tmp_path)


def test_the_newest_of_several_captures_of_a_rank_is_taken_and_the_others_counted(tmp_path: Path) -> None:
    make(tmp_path / "h_7_20250101000000000_ascend_pt", step=1)
    make(tmp_path / "h_7_20250103000000000_ascend_pt", step=3)
    make(tmp_path / "h_7_20250102000000000_ascend_pt", step=2)
    run, (source,) = open_input(tmp_path)
    assert run.steps == (3,)
    assert note("other_captures=2") in run.notes
    assert source.read(RankCapture).rows()[0]["other_captures"] == 2


@pytest.mark.parametrize(("end_s", "at_once"), [(1_000, 0), (1_001, 1), (1_004, 1), (1_006, 0), (2_000, 0)])
def test_captures_of_one_rank_number_that_were_recorded_at_the_same_time_are_told_as_such(
    end_s: int, at_once: int, tmp_path: Path
) -> None:
    make(tmp_path / "h_7_20250101000000000_ascend_pt", rank=0, step=1, end_ns=1_000 * SECOND, took_ns=10 * SECOND)
    make(tmp_path / "h_8_20250101000000000_ascend_pt", rank=0, step=1, end_ns=end_s * SECOND, took_ns=10 * SECOND)
    run, (source,) = open_input(tmp_path)
    row = source.read(RankCapture).rows()[0]
    assert (row["other_captures"], row["at_once_captures"]) == (1, at_once)
    assert (note("at_once_captures=1") in run.notes) == bool(at_once)


def test_a_copy_of_a_capture_is_no_process_that_recorded_at_the_same_time(tmp_path: Path) -> None:
    for place in ("prof", "backup"):
        folder = tmp_path / place / "h_7_20250101000000000_ascend_pt"
        make(folder, rank=0, step=1, end_ns=1_000 * SECOND, took_ns=10 * SECOND)
    _, (source,) = open_input(tmp_path)
    row = source.read(RankCapture).rows()[0]
    assert (row["other_captures"], row["at_once_captures"]) == (1, 0)


def test_without_a_time_in_the_name_the_end_of_recording_decides(tmp_path: Path) -> None:
    make(tmp_path / "a_ascend_pt", step=9, end_ns=2_000)
    make(tmp_path / "z_ascend_pt", step=8, end_ns=1_000)
    assert open_input(tmp_path)[0].steps == (9,)


def test_ranks_of_an_earlier_recording_are_not_mixed_with_the_newest(tmp_path: Path) -> None:
    for rank in (0, 1):
        make(tmp_path / f"old{rank}_ascend_pt", rank=rank, step=1, end_ns=1_000 * SECOND, took_ns=10 * SECOND)
    make(tmp_path / "new_ascend_pt", rank=0, step=2, end_ns=5_000 * SECOND, took_ns=10 * SECOND)
    run, sources = open_input(tmp_path)
    assert run.ranks == (0,)
    assert run.steps == (2,)
    assert len(sources) == 1
    assert run.notes == (note("other_captures=2"), note("chosen=new_ascend_pt"))


@pytest.mark.parametrize("apart", [0, 59 * SECOND], ids=["one clock", "clocks that differ"])
def test_ranks_that_were_recorded_together_stay_together(apart: int, tmp_path: Path) -> None:
    for rank in (0, 1):
        end = 5_000 * SECOND - rank * (apart + 10 * SECOND)
        make(tmp_path / f"new{rank}_ascend_pt", rank=rank, step=2, end_ns=end, took_ns=10 * SECOND)
    make(tmp_path / "old_ascend_pt", rank=0, step=1, end_ns=1_000 * SECOND, took_ns=10 * SECOND)
    assert open_input(tmp_path)[0].ranks == (0, 1)


def test_ranks_of_which_nothing_tells_when_they_were_recorded_stay_together(tmp_path: Path) -> None:
    make(tmp_path / "a_ascend_pt", rank=0, step=1, end_ns=1_000 * SECOND, took_ns=10 * SECOND)
    make(tmp_path / "b_ascend_pt", rank=0, step=2, end_ns=5_000 * SECOND, took_ns=10 * SECOND)
    make(tmp_path / "c_ascend_pt", rank=1, step=2)
    assert open_input(tmp_path)[0].ranks == (0, 1)


def test_processes_without_a_rank_are_numbered_by_name(tmp_path: Path) -> None:
    for worker in ("hostA_12", "hostA_9", "hostB_12"):
        make(tmp_path / f"{worker}_20250101000000000_ascend_pt", rank=None)
    assert open_input(tmp_path)[0].ranks == (0, 1, 2)


def sending(folder: Path, rank: int) -> Path:
    """A capture without a rank, whose messages went out from one."""
    pairs = {f"{rank}-{other}": {} for other in range(4)}
    make(folder, rank=None, step=rank)
    matrix = {"step1": {"collective": {"hcom_allReduce__1_0_1@7": pairs}}}
    (folder / "ASCEND_PROFILER_OUTPUT" / "communication_matrix.json").write_text(json.dumps(matrix))
    return folder


def test_processes_without_a_rank_are_those_that_send_what_they_sent(tmp_path: Path) -> None:
    for process, rank in enumerate((2, 0, 3)):
        sending(tmp_path / f"node_{500 + process}_20250101000000000_ascend_pt", rank)
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 2, 3)
    assert [source.read(StepTime)["step"].tolist() for source in sources] == [[0], [2], [3]]
    assert not any(note.about == "ranks_by_order" for note in run.notes)


def test_places_in_groups_that_two_captures_share_are_no_ranks(tmp_path: Path) -> None:
    for process, place in enumerate((0, 1, 0)):
        sending(tmp_path / f"node_{500 + process}_20250101000000000_ascend_pt", place)
    run, _ = open_input(tmp_path)
    assert run.ranks == (0, 1, 2)
    assert note("ranks_by_order=") in run.notes


def test_folders_whose_names_are_plain_numbers_are_ranks(tmp_path: Path) -> None:
    for rank in (0, 2, 10):
        make(tmp_path / str(rank), rank=None)
    assert open_input(tmp_path)[0].ranks == (0, 2, 10)


def test_one_capture_without_a_rank_is_rank_0(tmp_path: Path) -> None:
    make(tmp_path / "w_ascend_pt", rank=None)
    assert open_input(tmp_path)[0].ranks == (0,)


def test_the_rank_inside_profiler_info_may_be_text(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt", rank=None)
    (folder / "profiler_info.json").write_text(json.dumps({"rank_id": "5"}))
    assert open_input(folder)[0].ranks == (5,)


def test_a_rank_of_minus_one_is_no_rank(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt", rank=None)
    (folder / "profiler_info.json").write_text(json.dumps({"rank_id": -1}))
    assert open_input(folder)[0].ranks == (0,)


def test_the_number_of_the_device_is_no_rank(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt", rank=2)
    sheet = folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    sheet.write_text("Device_id," + STEPS + "6,1,5,1,0,1,4\n")
    run, (source,) = open_input(folder)
    assert run.ranks == (2,)
    assert source.read(StepTime)["rank"].tolist() == [2]


def test_a_job_that_never_called_step_has_no_step_numbers(tmp_path: Path) -> None:
    run, (source,) = open_input(make(tmp_path / "w_ascend_pt", row=",5,1,0,1,4\n"))
    assert run.steps == ()
    assert source.read(StepTime)["step"].tolist() == [MISSING]
    assert source.read(RankCapture).rows()[0]["has_steps"] is False


def test_a_capture_that_was_not_stopped_is_incomplete(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    (folder / "profiler_info_0.json").write_text(json.dumps({"config": {"common_config": {}}}))
    assert open_input(folder)[0].captures[0].complete is False


def test_folders_of_captures_travel_to_other_processes(capture: Capture) -> None:
    _, sources = open_input(capture("text", case="healthy"))
    source = sources[1]
    before = source.read(StepTime).rows()
    again = pickle.loads(pickle.dumps(source))  # noqa: S301 - our own bytes
    assert isinstance(again, Folder)
    assert again.read(StepTime).rows() == before


def test_pytorch_and_mindspore_are_not_mixed(tmp_path: Path) -> None:
    make(tmp_path / "w_1_ascend_pt")
    make(tmp_path / "w_2_ascend_ms", rank=1)
    assert "mixes" in refusal(tmp_path).what.en
    assert "such as w_1_ascend_pt and w_2_ascend_ms" in refusal(tmp_path).what.en


def test_captures_of_several_profilers_are_named_with_where_they_lie(tmp_path: Path) -> None:
    make(tmp_path / "w_1_ascend_pt")
    gpu_traces.write(tmp_path / "gpu" / "x.pt.trace.json", gpu_traces.trace(gpu_traces.training()))
    assert "mixes captures of Ascend and Kineto, such as w_1_ascend_pt and gpu" in refusal(tmp_path).what.en


FRONT_END = (
    [],
    [gpu_traces.host("aten::empty", 5, 2)],
    [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "x", "ts": 1, "dur": 9}],
)


@pytest.mark.parametrize("events", FRONT_END)
@pytest.mark.parametrize("folder", [".", "frontend"])
def test_what_the_front_end_of_a_server_recorded_of_itself_is_no_capture_beside_those_of_its_devices(
    events: list[gpu_traces.Event], folder: str, tmp_path: Path
) -> None:
    """As vLLM writes it for its engine: a trace of the host alone beside the folders of the ranks."""
    make(tmp_path / "rank0_1_ascend_pt")
    front_end = tmp_path / folder / "host_7.async_llm.1767687963353114465.pt.trace.json.gz"
    gpu_traces.write(front_end, gpu_traces.trace(events, rank=None))
    run, sources = open_input(tmp_path)
    assert (run.ranks, len(sources)) == ((0,), 1)
    assert [capture.path for capture in run.captures] == ["rank0_1_ascend_pt"]


@pytest.mark.parametrize(
    "content",
    [b"", b'{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X", "cat": "cpu_op",', b"no JSON"],
)
def test_a_damaged_trace_beside_captures_of_another_profiler_may_have_been_one_of_a_device(
    content: bytes, tmp_path: Path
) -> None:
    make(tmp_path / "w_1_ascend_pt")
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "x.pt.trace.json").write_bytes(content)
    assert "mixes captures of Ascend and Kineto" in refusal(tmp_path).what.en


def test_calls_that_launched_work_show_that_a_device_was_recorded(tmp_path: Path) -> None:
    make(tmp_path / "w_1_ascend_pt")
    calls = [gpu_traces.host("cudaLaunchKernel", 5, 2, "cuda_runtime", correlation=1)]
    gpu_traces.write(tmp_path / "gpu" / "x.pt.trace.json", gpu_traces.trace(calls))
    assert "mixes captures of Ascend and Kineto" in refusal(tmp_path).what.en


def test_mindspore_captures_are_read_like_the_others(tmp_path: Path) -> None:
    run, _ = open_input(make(tmp_path / "w_2_ascend_ms", rank=1))
    assert (run.framework, run.ranks) == ("MindSpore", (1,))


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused = refusal(tmp_path / "prof")
    assert "does not exist" in refused.what.en
    assert refused.hint is not None and refused.hint.en == "check the path"


def test_a_path_the_system_refuses_is_refused(tmp_path: Path) -> None:
    refusal(tmp_path / ("x" * 5000))
    refusal(tmp_path / "file" / "below")


def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "is empty" in refusal(tmp_path).what.en


def test_a_foreign_folder_is_described(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")
    assert "photo.jpg" in refusal(tmp_path).what.en


@pytest.mark.parametrize("of_device", ["PROF_000001_20250101000000000_ABCDEFGHIJKLMNOP", "."])
def test_an_unparsed_capture_says_how_to_parse_it(of_device: str, tmp_path: Path) -> None:
    folder = tmp_path / "w_20250101000000000_ascend_pt"
    (folder / of_device).mkdir(parents=True)
    (folder / "FRAMEWORK").mkdir()
    for path in (folder, tmp_path):
        said = refusal(path)
        assert "has not been parsed" in said.what.en
        assert "from torch_npu.profiler.profiler import analyse" in said.hint.en


def test_an_unparsed_rank_beside_parsed_ones_is_noted(tmp_path: Path) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    (tmp_path / "w_2_20250101000000000_ascend_pt" / "PROF_000001_20250101000000000_ABC").mkdir(parents=True)
    notes = open_input(tmp_path)[0].notes
    assert note("unparsed_captures=1") in notes
    assert note("unparsed_names=w_2_20250101000000000_ascend_pt") in notes


def test_a_capture_that_was_copied_into_the_output_of_another_is_noted_and_not_read(tmp_path: Path) -> None:
    one = make(tmp_path / "w_1_20250101000000000_ascend_pt")
    output = next(path for path in (one, *one.rglob("*")) if path.name == "ASCEND_PROFILER_OUTPUT")
    shutil.copytree(output, output / "ASCEND_PROFILER_OUTPUT")
    run, sources = open_input(tmp_path)
    assert len(sources) == 1
    assert note(f"inner_captures={(output / output.name).relative_to(tmp_path)}") in run.notes


def test_output_of_msprof_is_recognised(tmp_path: Path) -> None:
    output = tmp_path / "PROF_000001_20250101000000000_ABC" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "op_summary_20250101000000.csv").write_text("x")
    assert "op_summary_20250101000000.csv has no column" in refusal(tmp_path).what.en
    (output / "op_summary_20250101000000.csv").write_text("")
    assert "0 bytes" in refusal(output).what.en


def test_a_packed_timeline_is_refused_with_how_to_unpack_it(tmp_path: Path) -> None:
    trace = gzip.compress(
        json.dumps([{"ph": "M", "name": "process_name", "args": {"name": "Ascend Hardware"}}]).encode()
    )
    for path in (tmp_path / "it's" / "trace_view.json.gz", tmp_path / "out" / "ASCEND_PROFILER_OUTPUT" / "a.json.gz"):
        path.parent.mkdir(parents=True)
        path.write_bytes(trace)
        for given in (path, path.parent):
            said = refusal(given)
            assert "packed with gzip" in said.what.en
            assert said.hint.en.startswith("unpack it first: gunzip -k ")
    assert "'\"'\"'" in refusal(tmp_path / "it's").hint.en


def test_a_packed_file_within_a_capture_is_damage_not_absence(tmp_path: Path) -> None:
    output = make(tmp_path / "w_ascend_pt") / "ASCEND_PROFILER_OUTPUT"
    (output / "trace_view.json.gz").write_bytes(gzip.compress(b"[]"))
    (folder,) = open_input(tmp_path)[1]
    with pytest.raises(FactMissing, match=r"trace_view\.json\.gz cannot be read"):
        folder.read(HostCall)
    assert folder.read(Damage).texts("what").values() == ["is packed; unpack it with gunzip"]


def test_a_lone_timeline_is_a_capture_of_one_rank(tmp_path: Path, capture: Capture) -> None:
    trace = next(capture("text", case="healthy").rglob("trace_view.json"))
    shutil.copy(trace, tmp_path / "exported.json")
    run, (source,) = open_input(tmp_path / "exported.json")
    assert run.ranks == (0,)
    assert isinstance(source, Folder)
    assert source.files["trace_view.json"].name == "exported.json"


def test_a_lone_database_is_a_capture_of_one_rank(tmp_path: Path, capture: Capture) -> None:
    database = sorted(capture("database", case="healthy").rglob("ascend_pytorch_profiler_1.db"))[0]
    shutil.copy(database, tmp_path / "copy.db")
    run, _ = open_input(tmp_path / "copy.db")
    assert run.ranks == (1,)
    assert run.chip


def side_by_side(job: Path, folder: Path, name: str) -> list[Path]:
    """The databases of a job in one folder, by names in which `*` is the rank."""
    folder.mkdir()
    found = []
    for database in sorted(job.rglob("ascend_pytorch_profiler_*.db")):
        found.append(folder / name.replace("*", database.stem.rsplit("_", 1)[1]))
        shutil.copy(database, found[-1])
    return found


@pytest.mark.parametrize("name", ["ascend_pytorch_profiler_*.db", "rank*.db", "job-*-copy.db"])
def test_databases_side_by_side_are_the_ranks_of_one_job(name: str, capture: Capture, tmp_path: Path) -> None:
    job = capture("database", case="healthy")
    side_by_side(job, tmp_path / "flat", name)
    run, sources = open_input(tmp_path / "flat")
    assert run.ranks == open_input(job)[0].ranks
    assert len(run.ranks) > 1
    assert not run.notes
    assert [len(source.read(Kernel)) for source in sources] == [
        len(source.read(Kernel)) for source in open_input(job)[1]
    ]


@pytest.mark.parametrize(
    ("names", "ranks"),
    [
        (("trace_view_rank3.json", "trace_view_rank5.json"), (3, 5)),
        (("trace_view_3.json", "trace_view_5.json"), (3, 5)),
        (("rank-3_trace_view.json", "rank-5_trace_view.json"), (3, 5)),
        (("trace_view.first.json", "trace_view.second.json"), (0, 1)),
    ],
)
def test_timelines_side_by_side_are_the_ranks_of_one_job(
    names: tuple[str, str], ranks: tuple[int, int], capture: Capture, tmp_path: Path
) -> None:
    for trace, name in zip(sorted(capture("text", case="healthy").rglob("trace_view.json")), names, strict=False):
        shutil.copy(trace, tmp_path / name)
    run, sources = open_input(tmp_path)
    assert run.ranks == ranks
    assert all(len(source.read(HostCall)) for source in sources)


TOLD = ("kernel_details.csv", "step_trace_time.csv", "op_statistic.csv", "api_statistic.csv", "trace_view.json")


@pytest.mark.parametrize("spelling", ["{}_rank{}.{}", "rank-{1}_{0}.{2}", "{} ({}).{}", "job.{1}.{0}.{2}"])
def test_tables_with_words_of_somebody_around_their_names_are_the_files_of_one_capture_each(
    spelling: str, capture: Capture, tmp_path: Path
) -> None:
    for rank, output in enumerate(sorted(capture("text", case="healthy").rglob("ASCEND_PROFILER_OUTPUT"))[:2]):
        for name in TOLD:
            stem, _, ending = name.partition(".")
            shutil.copy(output / name, tmp_path / spelling.format(stem, rank, ending))
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1)
    for source in sources:
        assert isinstance(source, Folder)
        assert sorted(source.files) == sorted(TOLD)
        assert len({str(source.rank) in path.name for path in source.files.values()}) == 1
    given = spelling.format("kernel_details", 1, "csv")
    (alone,) = open_input(tmp_path / given)[1]
    assert isinstance(alone, Folder)
    assert sorted(alone.files) == sorted(TOLD)
    assert alone.files["kernel_details.csv"].name == given


@pytest.mark.parametrize("name", TOLD)
def test_a_table_under_any_name_is_told_by_its_headings(name: str, capture: Capture, tmp_path: Path) -> None:
    given = tmp_path / f"attached.{name.partition('.')[2]}"
    shutil.copy(next(capture("text", case="healthy").rglob(name)), given)
    (source,) = open_input(given)[1]
    assert isinstance(source, Folder)
    assert source.files == {name: given}


def test_tables_of_something_else_are_no_capture(tmp_path: Path) -> None:
    (tmp_path / "kernel_details_summary.csv").write_text("Name,Share\nMatMul,0.5\n")
    (tmp_path / "kernel_details.backup.csv").write_bytes(b"")
    refusal(tmp_path)
    refusal(tmp_path / "kernel_details_summary.csv")


def test_a_timeline_of_something_else_is_no_capture(tmp_path: Path) -> None:
    (tmp_path / "trace_view_rank0.json").write_text('{"rank": 0}')
    refusal(tmp_path)


def test_of_databases_side_by_side_the_one_that_was_given_is_read(capture: Capture, tmp_path: Path) -> None:
    databases = side_by_side(capture("database", case="healthy"), tmp_path / "flat", "ascend_pytorch_profiler_*.db")
    for rank, database in enumerate(databases):
        run, (source,) = open_input(database)
        assert run.ranks == (rank,)
        assert isinstance(source, Folder)
        assert source.databases["profiler"] == database


def test_databases_side_by_side_are_described_by_the_file_of_their_rank(capture: Capture, tmp_path: Path) -> None:
    job = capture("database", case="healthy")
    side_by_side(job, tmp_path / "flat", "ascend_pytorch_profiler_*.db")
    for info in job.rglob("profiler_info_*.json"):
        shutil.copy(info, tmp_path / "flat")
    for source in open_input(tmp_path / "flat")[1]:
        assert isinstance(source, Folder)
        assert source.files["profiler_info.json"].name == f"profiler_info_{source.rank}.json"


def test_of_databases_side_by_side_one_that_was_cut_off_is_told(capture: Capture, tmp_path: Path) -> None:
    first, second, *_ = side_by_side(capture("database", case="healthy"), tmp_path / "flat", "rank*.db")
    second.write_bytes(second.read_bytes()[: second.stat().st_size // 3])
    run, sources = open_input(tmp_path / "flat")
    assert set(run.ranks) >= {0, 1}
    damaged = [row["file"] for source in sources for row in source.read(Damage).rows()]
    assert damaged == [second.name]
    assert first.name not in damaged


def test_a_number_in_brackets_counts_copies_and_is_no_rank(capture: Capture, tmp_path: Path) -> None:
    for number, table in enumerate(sorted(capture("text", case="healthy").rglob("kernel_details.csv"))[:2], 4):
        shutil.copy(table, tmp_path / f"kernel_details ({number}).csv")
    run, _ = open_input(tmp_path)
    assert run.ranks == (0, 1)
    assert run.notes == (note("ranks_by_order="),)


def test_a_database_of_something_else_is_no_capture(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
        connection.execute("CREATE TABLE STRING_IDS (id INTEGER, value TEXT)")
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\0\1\2"])
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    refusal(path)


def test_names_that_are_no_utf8_do_not_end_the_run(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/w\xff_ascend_pt"
    make(Path(os.fsdecode(folder)))
    run, _ = open_input(tmp_path)
    run.model_dump_json()


def test_stages_follow_from_who_sends_to_whom_when_nothing_else_tells(tmp_path: Path) -> None:
    for rank in range(4):
        folder = make(tmp_path / f"h_{rank}_20250101000000000_ascend_pt", rank=rank)
        sent = {f"hcom_send__1_0_1@{100 + rank % 2}": {}}
        content = {"step1": {"p2p": sent, "collective": {}}}
        (folder / "ASCEND_PROFILER_OUTPUT" / "communication.json").write_text(json.dumps(content))
    run, sources = open_input(tmp_path)
    assert run.parallel.stages == ((0, 1), (2, 3))
    assert (run.parallel.pp, run.parallel.source) == (2, "p2p")
    assert sources[3].read(StepTime)["stage"].tolist() == [1]


NAMES = "Name,Start Time(us),Duration(us)\nKernel::KernelLaunch::Default/Send-op1/hcom_send__{group}_0_1,1.0,2.0\n"


@pytest.mark.parametrize("told", ["by their names", "by their groups"])
def test_without_a_communication_file_the_names_of_what_sends_tell_the_stages(told: str, tmp_path: Path) -> None:
    for rank in range(4):
        folder = make(tmp_path / f"h_{rank}_20250101000000000_ascend_ms", rank=rank)
        pair = rank % 2
        (folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_text(NAMES.format(group=100 + pair))
        groups = {f"5{100 + pair}": {"group_name": "2-77", "global_ranks": [pair, pair + 2], "group_rank": rank // 2}}
        if told == "by their groups":
            (folder / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    run, _ = open_input(tmp_path)
    assert (run.parallel.stages, run.parallel.source) == (((0, 1), (2, 3)), "p2p")


def test_where_a_communication_file_tells_who_sends_no_list_of_kernels_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of all ranks are as large as everything else together, and most jobs send nothing."""
    for rank in range(2):
        folder = make(tmp_path / f"h_{rank}_20250101000000000_ascend_pt", rank=rank) / "ASCEND_PROFILER_OUTPUT"
        (folder / "kernel_details.csv").write_text(NAMES.format(group=100))
        content = {"step1": {"p2p": {}, "collective": {"hcom_allReduce__9_1_1@9": {}}}}
        (folder / "communication.json").write_text(json.dumps(content))
    searched: list[Path] = []
    monkeypatch.setattr(sending_names, "open_regular", lambda path: searched.append(path) or open_regular(path))
    assert open_input(tmp_path)[0].parallel.stages == ()
    assert searched == []


def test_over_a_communicator_of_all_ranks_those_share_a_stage_that_do_not_send_to_each_other(tmp_path: Path) -> None:
    for rank in range(4):
        folder = make(tmp_path / f"h_{rank}_20250101000000000_ascend_ms", rank=rank)
        output = folder / "ASCEND_PROFILER_OUTPUT"
        names = {"hcom_send__9_0_1@9": {}, "hcom_allReduce__9_1_1@9": {}}
        (output / "communication.json").write_text(json.dumps({"step1": {"p2p": {}, "collective": names}}))
        sent = {"send-top1@9": {f"{rank}-{rank + 2}": {}}, "allreduce-top1@9": {f"{rank}-{(rank + 1) % 4}": {}}}
        held = sent if rank < 2 else {"allreduce-top1@9": sent["allreduce-top1@9"]}
        (output / "communication_matrix.json").write_text(json.dumps({"step1": {"p2p": {}, "collective": held}}))
    assert open_input(tmp_path)[0].parallel.stages == ((0, 1), (2, 3))


def test_a_world_without_end_is_no_memory_without_end(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    sizes = {"pipeline_model_parallel_size": 2, "world_size": 1 << 60}
    (folder / "profiler_metadata.json").write_text(json.dumps({"distributed_args": sizes}))
    assert open_input(folder)[0].parallel.stages == ()


def test_the_chip_is_read_from_what_is_left_of_the_raw_data(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    device = folder / "PROF_000001_20250101000000000_ABC" / "device_0"
    device.mkdir(parents=True)
    (device / "info.json.0.done").write_text("")
    (device / "info.json.0").write_text(json.dumps({"platform_version": "5"}))
    assert open_input(folder)[0].chip == "Ascend910B"


def test_clock_and_cores_are_those_of_the_device_of_the_rank(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    for device, rank, mhz in ((0, 4, "1650"), (1, 0, "1800")):
        path = folder / "PROF_000001_20250101000000000_ABC" / f"device_{device}" / f"info.json.{device}"
        path.parent.mkdir(parents=True)
        about = {"aic_frequency": mhz, "ai_core_num": 24, "aiv_num": 48}
        path.write_text(json.dumps({"platform_version": "5", "rank_id": rank, "DeviceInfo": [about]}))
    (row,) = open_input(folder)[1][0].read(Device).rows()
    assert row == {
        **{"rank": 0, "chip": "Ascend910B", "cube_cores": 24, "vector_cores": 48, "nominal_mhz": 1800},
        "memory_bytes": None,
        "number": None,
    }


@pytest.mark.parametrize("content", ['{"DeviceInfo": "none"}', "[]", '{"DeviceInfo": [{"aic_frequency": "-1"}]}', "{"])
def test_a_device_that_says_nothing_is_not_known(tmp_path: Path, content: str) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    path = folder / "PROF_000001_20250101000000000_ABC" / "device_0" / "info.json.0"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    (source,) = open_input(folder)[1]
    try:
        assert np.isnan(source.read(Device)["nominal_mhz"]).all()
    except FactMissing as missing:
        assert missing.tables == ("devices",)


def test_mindspore_writes_0_for_a_job_without_steps(tmp_path: Path) -> None:
    assert open_input(make(tmp_path / "w_ascend_ms", step=0))[0].steps == ()


def test_an_output_without_files_of_results_is_named(tmp_path: Path) -> None:
    output = tmp_path / "x" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "analysis.dat").write_bytes(b"x")
    for path in (tmp_path, tmp_path / "x", output):
        assert "without any file of results; it holds analysis.dat" in refusal(path).what.en


def test_of_several_devices_in_one_rank_the_first_is_read_and_it_is_said(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    sheet = folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    sheet.write_text("Device_id," + STEPS + "3,1,5,1,0,1,4\n2,1,7,1,0,1,4\n")
    _, (source,) = open_input(folder)
    assert source.read(StepTime)["compute_us"].tolist() == [7]
    assert [row["rows"] for row in source.read(Damage).rows()] == [1]


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_ascend_pt")
    os.mkfifo(folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv")
    os.mkfifo(folder / "profiler_metadata.json")
    assert open_input(folder)[0].ranks == (0,)
    assert "neither a folder nor a file" in refusal(folder / "profiler_metadata.json").what.en


def test_who_gives_a_pipe_is_told_what_reads_the_standard_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trace.json")
    assert refusal(tmp_path / "trace.json").hint == Message("give_as_dash")


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="what is open has names on Linux and macOS")
@pytest.mark.parametrize("is_pipe", [True, False])
def test_so_is_who_gives_what_a_process_has_open(is_pipe: bool, capture: Capture) -> None:
    file = next(capture("text", case="healthy").rglob("trace_view.json"))
    ends = os.pipe() if is_pipe else (os.open(file, os.O_RDONLY),)
    try:
        assert refusal(Path(f"/dev/fd/{ends[0]}")).hint == Message("give_as_dash")
    finally:
        for end in ends:
            os.close(end)


@pytest.mark.parametrize("name", ["node0_1_20250109084754000_ascend_pt", "node0_1_20250109084754000_ascend_ms"])
def test_a_capture_whose_output_was_not_copied_is_told_as_one(tmp_path: Path, name: str) -> None:
    capture = tmp_path / name
    capture.mkdir()
    (capture / "profiler_info_0.json").write_text("{}", "utf-8")
    wrong = refusal(capture)
    assert "is a capture without its ASCEND_PROFILER_OUTPUT" in wrong.what.en
    assert wrong.hint is not None
    assert "copy the capture again" in wrong.hint.en


DETAILS = (
    "communication_matrix.json",
    "operator_details.csv",
    "operator_memory.csv",
    "npu_module_mem.csv",
    "l2_cache.csv",
)


def one_file(name: str, capture: Capture, folder: Path, rank: int = 0) -> Path:
    """A file of a rank's capture by itself, as somebody copied it."""
    file = sorted(capture("text", case="host-bound-2-ranks").rglob(name))[rank]
    return Path(shutil.copyfile(file, folder / name))


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", DETAILS)
def test_a_whole_file_that_tells_nothing_alone_is_not_called_damaged(
    name: str, rank: int, capture: Capture, tmp_path: Path
) -> None:
    one_file(name, capture, tmp_path, rank)
    refused = refusal(tmp_path)
    assert refused.what == Message("details_alone", name=str(tmp_path), files=name)
    assert refused.hint == Message("give_whole_capture")


@pytest.mark.parametrize("beside", ["kernel_details.csv", "operator_memory.csv"])
def test_beside_a_file_without_rows_it_is_not_called_alone(beside: str, capture: Capture, tmp_path: Path) -> None:
    one_file("operator_details.csv", capture, tmp_path)
    (tmp_path / beside).write_text(one_file(beside, capture, tmp_path).read_text().splitlines()[0] + "\n")
    assert refusal(tmp_path).what.code == "nothing_measured"


def test_tables_that_are_headings_alone_are_told_to_be_that(capture: Capture, tmp_path: Path) -> None:
    table = one_file("kernel_details.csv", capture, tmp_path)
    table.write_text(table.read_text().splitlines()[0] + "\n")
    assert "no row follows the heading in kernel_details.csv" in refusal(tmp_path).what.en


def test_the_gpu_timeline_of_the_old_profiler_of_mindspore_is_no_timeline_of_an_npu(tmp_path: Path) -> None:
    event = {"name": "Default/Add-op1", "ph": "X", "tid": "17", "ts": 1600695897737724.8, "dur": 5.7, "pid": 0}
    path = tmp_path / "gpu_timeline_display_0.json"
    path.write_text(json.dumps([event]), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        open_input(path)
    assert "no file of a profile that can be read" in refused.value.say("en")


_TRACE = {
    "schemaVersion": 1,
    "deviceProperties": [],
    "traceEvents": [{"ph": "X", "name": "a", "cat": "kernel", "ts": 1, "dur": 1, "pid": 0, "tid": 0}],
}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"// by hand\n" + json.dumps(_TRACE).encode(), "begins_with_comment"),
        (
            b'[{"args": ' + b"[" * 50_000 + b"]" * 50_000 + b"}," + json.dumps(_TRACE).encode() + b"]",
            "nested_too_deeply",
        ),
        (json.dumps(_TRACE).encode("utf-16"), "is_utf16"),
        (json.dumps(_TRACE).encode("utf-16-be"), "is_utf16"),
        (b"a note\n// not a trace {", None),
        (bytes(range(256)) * 9, None),
        (bytes([7, 0]) * 900, None),
    ],
)
def test_of_a_trace_that_does_not_begin_as_one_it_is_said_why(content: bytes, why: str | None, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        open_input(path)
    assert isinstance(refused.value.what, Message)
    said = dict(refused.value.what.values)
    assert refused.value.what.code == ("trace_unreadable" if why else "no_profile_file")
    assert said.get("why") == (Message(why) if why else None)
