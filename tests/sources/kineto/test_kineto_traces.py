# SPDX-License-Identifier: Apache-2.0
"""Traces of the PyTorch profiler on GPUs: every fact of a small one by hand, and what may be wrong with a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.facts.derived import Overlap
from advisor.facts.observed import (
    Collective,
    Damage,
    Device,
    DeviceTask,
    Group,
    HostCall,
    Kernel,
    Launch,
    MemoryUse,
    RankCapture,
    StepWindow,
)
from advisor.messages.errors import FactMissing, InputError
from advisor.model.leading_findings import first_findings
from advisor.pipeline import diagnose, measured_run, open_profile
from advisor.sources import archive_limits, open_input
from advisor.sources.files import packed
from advisor.sources.kineto.collectives import bus_factor, op_of
from advisor.sources.kineto.detect import MOST_FOREIGN
from advisor.sources.kineto.host_calls import activity_of_call
from advisor.sources.kineto.kernel_names import direct_collective, function_name, is_communication
from advisor.sources.kineto.kernels import shapes_as_text, types_as_text
from advisor.sources.kineto.reading import Trace
from advisor.sources.shared.pytorch_words import activity_of_range
from corpus.gpu_traces import KERNELS, Event, copied, host, launched, trace, training, write
from tests.input_notes import note

NAME = "worker0.1700000000000.pt.trace.json"


def opened(path: Path) -> Trace:
    """The only trace at a path."""
    (source,) = open_input(path)[1]
    assert isinstance(source, Trace)
    return source


def test_the_grid_of_a_product_of_tensile_counts_threads_which_its_name_puts_in_blocks(tmp_path: Path) -> None:
    """As `hipExtModuleLaunchKernel` is told it."""
    names = (
        "Cijk_Alik_Bljk_BBS_BH_MT256x256x64_WS64_WG16_16_1",
        "Cijk_Alik_Bljk_BBS_WG0_0_0",
        "void other_WG16_16_1()",
    )
    events = [
        event
        for number, name in enumerate(names)
        for event in launched(number, 5000 + 200 * number, 10, 80, name=name, grid=[491520, 1, 1])
    ]
    kernels = opened(write(tmp_path / NAME, trace(events))).read(Kernel)
    assert kernels["blocks"].tolist() == [1920, 491520, 491520]
    (tmp_path / "few").mkdir()
    few = launched(1, 5000, 10, 80, name=names[0], grid=[304, 1, 1])
    assert opened(write(tmp_path / "few" / NAME, trace(few))).read(Kernel)["blocks"].tolist() == [304]


@pytest.fixture
def small(tmp_path: Path) -> Trace:
    return opened(write(tmp_path / NAME, trace(training())))


def test_kernels_have_the_operator_that_asked_for_them_its_inputs_and_the_step_of_their_launch(small: Trace) -> None:
    kernels = small.read(Kernel)
    assert len(kernels) == 2 * KERNELS
    assert set(kernels["step"].tolist()) == {3, 4}
    first = kernels.rows(1)[0]
    assert first["op_type"] == "aten::mm"
    assert first["op_name"] == "at::native::gemm_kernel"
    assert (first["input_shapes"], first["input_dtypes"]) == ("64,32;32,16", "DT_BF16;DT_BF16")
    assert (first["blocks"], first["stream"]) == (8, 7)
    assert (first["start_ns"], first["duration_us"]) == (5040_250, 80)


def test_what_converts_layouts_for_a_convolution_is_told_apart_from_it(tmp_path: Path) -> None:
    conversion = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(int)"
    convolution = {"operator": "aten::cudnn_convolution", "name": "sm80_xmma_fprop_implicit_gemm_nhwckrsc_nchw_tile"}
    events = [
        *launched(1, 10, 20, 10, operator="aten::cudnn_convolution", name=conversion),
        *launched(2, 50, 20, 10, **convolution),
    ]
    kernels = opened(write(tmp_path / NAME, trace(events))).read(Kernel)
    assert kernels.texts("op_type").values() == ["cudnn::ops::nchwToNhwcKernel", "aten::cudnn_convolution"]
    assert kernels.texts("effect").values() == ["move", "other"]


def test_a_copy_without_types_casts_where_a_conversion_called_it_whatever_ranges_stand_around(tmp_path: Path) -> None:
    events = [
        host("ProfilerStep#3", 0, 900, "user_annotation"),
        host("my range", 5, 890, "user_annotation"),
        host("aten::to", 8, 50),
        host("aten::_to_copy", 9, 48),
        *launched(1, 10, 20, 10, operator="aten::copy_"),
        host("aten::contiguous", 108, 50),
        host("aten::clone", 109, 48),
        *launched(2, 110, 20, 10, operator="aten::copy_"),
        *launched(3, 210, 20, 10),
    ]
    for event in events:
        event.get("args", {}).pop("Input type", None)
    kernels = opened(write(tmp_path / NAME, trace(events))).read(Kernel)
    assert kernels.texts("op_type").values() == ["aten::copy_", "aten::copy_", "aten::mm"]
    assert kernels.texts("effect").values() == ["cast", "move", "other"]


def test_steps_that_old_traces_write_as_operators_call_none(tmp_path: Path) -> None:
    old = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel"}
    events = [host("ProfilerStep#3", 0, 900, "Operator"), *launched(1, 10, 20, 10)]
    events = [{**event, "cat": old.get(event["cat"], event["cat"])} for event in events]
    kernels = opened(write(tmp_path / NAME, trace(events))).read(Kernel)
    assert (kernels.texts("op_type").values(), kernels.texts("effect").values()) == (["aten::mm"], ["other"])


def _counts_from(tmp_path: Path, *before: Event) -> list[object]:
    """Of two marked steps, each with a kernel launched after 110 µs: from when on they count, ns."""
    marks = [host(f"ProfilerStep#{step}", at, 400, "user_annotation") for step, at in ((3, 0), (4, 400))]
    events = [*marks, *before, *launched(1, 100, 20, 10), *launched(2, 500, 20, 10)]
    windows = opened(write(tmp_path / NAME, trace(events))).read(StepWindow)
    return [row["counts_from_ns"] for row in windows.rows()]


def test_the_time_before_the_first_work_of_a_first_step_counts_where_the_program_was_recorded_in_it(
    tmp_path: Path,
) -> None:
    loading = host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 80, "user_annotation")
    assert _counts_from(tmp_path, loading) == [0, 400_000]


def test_calls_into_the_driver_before_the_first_work_set_up_the_profiler(tmp_path: Path) -> None:
    moving = host("aten::copy_", 5, 100), host("cudaMemcpyAsync", 10, 30, "cuda_runtime")
    assert _counts_from(tmp_path, *moving) == [30_000, 400_000]
    moving = host("aten::copy_", 5, 100), host("cudaMemcpyAsync", 10, 80, "cuda_runtime")
    assert _counts_from(tmp_path, *moving) == [None, 400_000]


def test_where_nothing_was_recorded_before_the_first_work_that_time_is_nobodys(tmp_path: Path) -> None:
    assert _counts_from(tmp_path, host("train.py(9): main", -50, 900, "python_function")) == [None, 400_000]


def test_a_marked_step_that_launches_nothing_has_no_time_before_its_work(tmp_path: Path) -> None:
    events = [*launched(1, 10, 20, 10), host("ProfilerStep#3", 100, 400, "user_annotation"), host("aten::mm", 110, 300)]
    (window,) = opened(write(tmp_path / NAME, trace(events))).read(StepWindow).rows()
    assert window["counts_from_ns"] is None


def _with_other_numbers(events: list[Event], *, correlated: bool) -> list[Event]:
    """Operators numbered by themselves, work and calls by what they share; under `External id` alone, or twice."""
    for event in events:
        about = event.get("args", {})
        if event.get("cat") == "cpu_op":
            about["External id"] += 1000
        elif "correlation" in about:
            about["External id"] = about["correlation"] if correlated else about.pop("correlation")
    return events


@pytest.mark.parametrize("correlated", [True, False])
def test_where_work_and_operators_are_numbered_apart_the_operator_is_the_one_that_runs_as_the_call_is_made(
    correlated: bool, tmp_path: Path
) -> None:
    events = _with_other_numbers(launched(5, 100, 20, 80) + launched(6, 200, 20, 80), correlated=correlated)
    later = host("aten::clamp_min_", 900, 30, **{"External id": 5})
    around = host("aten::linear", 90, 60, **{"External id": 77})
    read = opened(write(tmp_path / NAME, trace([around, *events, later])))
    kernels = read.read(Kernel)
    assert kernels.texts("op_type").values() == ["aten::mm", "aten::mm"]
    assert kernels.texts("input_shapes").values() == ["64,32;32,16"] * 2
    assert read.read(Launch)["host_start_ns"].tolist() == [110_000, 210_000]


def test_an_operator_that_begins_after_its_work_did_not_ask_for_it(tmp_path: Path) -> None:
    *_, kernel = launched(5, 100, 20, 80)
    events = [kernel, host("aten::clamp_min_", 900, 30, **{"External id": 5})]
    kernels = opened(write(tmp_path / NAME, trace(events))).read(Kernel)
    assert kernels.texts("op_type").values() == ["at::native::gemm_kernel"]


def test_launches_are_the_calls_of_the_same_correlation(small: Trace) -> None:
    launches = small.read(Launch)
    assert len(launches) == 2 * (KERNELS + 2)
    first = launches.rows(1)[0]
    assert (first["host_start_ns"], first["host_end_ns"], first["device_start_ns"]) == (5020_250, 5028_250, 5040_250)


def test_collectives_are_no_kernels_and_say_what_they_carry(small: Trace) -> None:
    (row, _) = small.read(Collective).rows()
    assert (row["op"], row["group"], row["group_kind"], row["dtype"]) == ("allReduce", "0", "world", "FP32")
    assert (row["size_bytes"], row["elapse_us"], row["p2p"], row["step"]) == (4000, 100, False, 3)
    assert [row["group_kind"] for row in small.read(Group).rows()] == ["world"]


@pytest.mark.parametrize(
    ("op", "members", "factor"),
    [("allReduce", 4, 1.5), ("allGather", 4, 3.0), ("reduceScatter", 4, 0.75), ("broadcast", 4, 1.0)],
)
def test_bus_bytes_are_those_of_nccl_tests_for_what_each_rank_puts_in(op: str, members: int, factor: float) -> None:
    assert bus_factor(op, members) == factor
    assert np.isnan([bus_factor(op, 1), bus_factor(op, 0), bus_factor("allToAllV", members)]).all()


def test_what_a_collective_moves_follows_from_its_size_and_the_ranks_of_its_group(tmp_path: Path) -> None:
    alone, of_two = (
        opened(write(tmp_path / f"{world}" / NAME, trace(training(1), world=world))).read(Collective).rows()
        for world in (1, 2)
    )
    assert [row["bus_bytes"] for row in (*alone, *of_two)] == [None, 4000.0]


@pytest.mark.parametrize(
    ("about", "op", "p2p"),
    [
        ({"operator": "aten::mm"}, "batchSendRecv", False),
        ({"operator": "c10d::alltoall_base_"}, "allToAllV", False),
        ({"operator": "nccl:send 0->1"}, "send", True),
        ({"operator": "nccl:coalesced"}, "batchSendRecv", True),
        ({"Collective name": "all_to_allv"}, "allToAllV", False),
        ({"Collective name": "send"}, "send", True),
    ],
)
def test_sends_of_nccl_are_those_of_a_pipeline_only_where_something_besides_their_kernel_says_so(
    tmp_path: Path, about: dict[str, str], op: str, p2p: bool
) -> None:
    """NCCL runs an all-to-all by the same kernel."""
    events = launched(1, 5000, 10, 80, name="ncclDevKernel_SendRecv(x)", **about)
    (row,) = opened(write(tmp_path / NAME, trace(events))).read(Collective).rows()
    assert (row["op"], row["p2p"]) == (op, p2p)


def test_tasks_of_the_device_are_told_apart_and_copies_have_size_and_direction(small: Trace) -> None:
    tasks = small.read(DeviceTask)
    kinds = tasks.texts("kind").values()
    assert [kinds.count(kind) for kind in ("kernel", "comm", "copy")] == [2 * KERNELS, 2, 2]
    copy = tasks.rows()[kinds.index("copy")]
    assert (copy["direction"], copy["size_bytes"]) == ("h2d", 4096)


def test_calls_on_the_host_have_the_neutral_kinds(tmp_path: Path) -> None:
    events = [
        *launched(1, 100, 5, 10),
        host("Optimizer.step#SGD.step", 200, 9, "user_annotation"),
        host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 300, 9),
        host("model.py(3): forward", 400, 9, "python_function"),
        host("<built-in function collect>", 420, 9, "python_function"),
        host("Python GC", 440, 9, "python_function"),
        host("cudaGraphLaunch", 500, 9, "cuda_runtime", correlation=5),
        host("hipDeviceSynchronize", 600, 9, "cuda_runtime", correlation=6),
        host("aten::item", 700, 9),
    ]
    calls = opened(write(tmp_path / NAME, trace(events))).read(HostCall)
    found = {row["name"]: (row["kind"], row["activity"]) for row in calls.rows()}
    assert found["aten::mm"] == ("operator", None)
    assert found["cudaLaunchKernel"] == ("api", None)
    assert found["Optimizer.step#SGD.step"][0] == "optimizer"
    assert found["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"][0] == "data_loader"
    assert found["model.py(3): forward"][0] == "python"
    assert found["<built-in function collect>"] == found["Python GC"] == ("gc", None)
    assert found["cudaGraphLaunch"][0] == "graph"
    assert found["hipDeviceSynchronize"] == ("api", "synchronise")
    assert found["aten::item"] == ("operator", "read")


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "blocking_copy"),
        ("Memcpy DtoH (Device -> Pageable)", "blocking_copy"),
        ("Memcpy HtoD (Pinned -> Device)", "copy"),
        ("Memcpy DtoD (Device -> Device)", "copy"),
    ],
)
def test_the_host_waits_for_copies_of_memory_that_is_not_pinned(name: str, activity: str, tmp_path: Path) -> None:
    events = [*launched(1, 10, 20, 10), *copied(2, 100, name, 4096)]
    calls = opened(write(tmp_path / NAME, trace(events))).read(HostCall)
    assert dict(zip(calls.texts("name").values(), calls.texts("activity").values(), strict=True)) == {
        "aten::mm": None,
        "cudaLaunchKernel": "launch",
        "cudaMemcpyAsync": activity,
    }


def test_what_the_file_says_of_itself(small: Trace) -> None:
    assert small.read(Device).rows()[0]["chip"] == "NVIDIA H100 80GB HBM3"
    assert small.read(Device)["memory_bytes"].tolist() == [80 << 30]
    (capture,) = small.read(RankCapture).rows()
    assert (capture["source"], capture["has_steps"]) == ("trace", True)
    assert small.read(MemoryUse)["reserved_bytes"].tolist() == [2 << 30] * 2
    assert small.read(StepWindow)["step"].tolist() == [3, 4]


def test_times_are_exact_and_count_from_the_base_of_the_file(tmp_path: Path) -> None:
    base = 1_751_410_836_000_000_000
    path = write(tmp_path / NAME, trace(training()), after={"baseTimeNanoseconds": base, "traceName": "}],[{"})
    assert opened(path).read(Kernel)["start_ns"][0] == base + 5_040_250


def test_what_stands_behind_the_events_is_read_as_what_stands_before_them(tmp_path: Path) -> None:
    content = trace(training(), rank=3, world=4)
    behind = {key: content.pop(key) for key in ("deviceProperties", "distributedInfo")}
    run, _ = open_input(write(tmp_path / "any.json", {**content, "with_stack": 1}, after=behind))
    assert (run.ranks, run.world_size, run.chip) == ((3,), 4, "NVIDIA H100 80GB HBM3")
    assert run.captures[0].with_stack is True


def test_a_packed_trace_reads_as_the_plain_one_and_leaves_nothing_behind(tmp_path: Path) -> None:
    content = trace(training())
    plain, packed_one = write(tmp_path / "a" / NAME, content), write(tmp_path / "b" / f"{NAME}.gz", content)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.*json*")}
    one, two = (opened(path) for path in (plain, packed_one))
    for fact in (Kernel, Launch, HostCall, DeviceTask):
        assert one.read(fact).rows() == two.read(fact).rows()
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.*json*")} == before


@pytest.mark.parametrize(
    "behind", [b"\0" * 512, b"\0" * 512 + b"#end", b"signature", b"\x1f", b"\x1f" * 9, b"\0" * (1 << 20) + b"x"]
)
def test_what_follows_a_whole_packed_trace_is_no_loss(behind: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / f"{NAME}.gz", trace(training()))
    path.write_bytes(path.read_bytes() + behind)
    source = opened(tmp_path)
    assert len(source.read(Kernel)) == 2 * KERNELS
    assert len(source.read(Damage)) == 0


def test_a_packed_trace_in_several_members_is_one(tmp_path: Path) -> None:
    text = json.dumps(trace(training())).encode()
    parts = (gzip.compress(text[at : at + 999]) for at in range(0, len(text), 999))
    (tmp_path / f"{NAME}.gz").write_bytes(b"".join(parts) + b"tail")
    source = opened(tmp_path)
    assert len(source.read(Kernel)) == 2 * KERNELS
    assert len(source.read(Damage)) == 0


@pytest.mark.parametrize("after", [None, {"baseTimeNanoseconds": 5}])
def test_a_line_of_text_behind_a_whole_trace_is_no_loss(after: dict[str, object] | None, tmp_path: Path) -> None:
    path = write(tmp_path / NAME, trace(training(), rank=3, world=4), after=after)
    path.write_bytes(path.read_bytes() + b"\n# exported by a tool\n")
    run, (source,) = open_input(path)
    assert (run.ranks, len(source.read(Kernel)), len(source.read(Damage))) == ((3,), 2 * KERNELS, 0)


def test_a_second_trace_behind_the_first_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    path = write(tmp_path / NAME, trace(training()))
    path.write_bytes(path.read_bytes() * 2)
    source = opened(tmp_path)
    source.read(Kernel)
    assert len(source.read(Damage)) > 0


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are unpacked from now on."""
    names: list[str] = []
    inflate = packed.inflate_blocks
    monkeypatch.setattr(packed, "inflate_blocks", lambda file: names.append(file.name) or inflate(file))
    return names


def test_a_packed_trace_is_unpacked_once_and_again_only_after_it_was_let_go_of(
    tmp_path: Path, unpacked: list[str]
) -> None:
    source = opened(write(tmp_path / f"{NAME}.gz", trace(training())))
    before = source.read(Kernel).rows()
    source.read(DeviceTask)
    assert len(unpacked) == 1
    source.release()
    assert source.read(Kernel).rows() == before
    assert len(unpacked) == 2


def test_ranks_are_those_of_the_process_group(tmp_path: Path) -> None:
    for rank in (1, 0):
        write(tmp_path / f"host_{rank}.170000000000{rank}.pt.trace.json", trace(training(), rank, 2))
    run, sources = open_input(tmp_path)
    assert (run.ranks, run.world_size, len(sources)) == ((0, 1), 2, 2)
    assert run.device_family == "gpu"
    assert [len(source.read(Kernel)) for source in sources] == [2 * KERNELS] * 2


B200 = [{"id": 0, "name": "NVIDIA B200"}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a/rank0.pt.trace.json", trace(training(), 0, 2)), ("a/rank1.pt.trace.json", trace(training(), 1, 4))),
        (("a/rank0.pt.trace.json", trace(training(), 0, 1)), ("a/rank1.pt.trace.json", trace(training(), None))),
        (
            ("a/h100.pt.trace.json", trace(training(), None)),
            ("a/b200.pt.trace.json", trace(training(), None, deviceProperties=B200)),
        ),
        ((f"workers_0/{NAME}", trace(training(), None)), (f"workers_4/{NAME}", trace(training(), None))),
        (("a/rank3.pt.trace.json", trace(training(), 3, 4)), ("b/alone.pt.trace.json", trace(training(), None))),
        (("a/rank0.pt.trace.json", trace(training(), 0, 4)), ("b/alone.pt.trace.json", trace(training(), None))),
    ],
    ids=[
        "other worlds",
        "a world of its own",
        "other devices",
        "the same process",
        "none of several ranks",
        "none of several ranks, and none beside it",
    ],
)
def test_traces_of_several_jobs_are_no_ranks_of_one(one, other, tmp_path: Path) -> None:
    for name, content in (one, other):
        write(tmp_path / name, content)
    with pytest.raises(InputError) as refused:
        open_input(tmp_path)
    assert refused.value.what.code == "traces_of_several_jobs"
    assert all(name in str(refused.value) for name, _ in (one, other))
    said = f"{refused.value}\n"
    assert any(f"give one job at a time, such as {tmp_path / name}\n" in said for name, _ in (one, other))


def test_a_folder_may_name_the_rank(tmp_path: Path) -> None:
    for rank in (0, 3):
        write(tmp_path / f"rank{rank}" / NAME, trace(training(), None))
    assert open_input(tmp_path)[0].ranks == (0, 3)


def test_traces_that_tell_no_rank_are_numbered_by_the_processes_that_wrote_them(tmp_path: Path) -> None:
    for place, name in enumerate(("b_2.1700000000001", "a_1.1700000000000", "a_1.1700000000009")):
        write(tmp_path / f"{name}.pt.trace.json", trace(training(start_us=5000 + place), rank=None))
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1)
    assert note("other_captures=1") in run.notes
    assert [source.path.name[:3] for source in sources if isinstance(source, Trace)] == ["a_1", "b_2"]
    assert "1700000000009" in run.notes[1].names[0]
    assert note("traces_by_order=") in run.notes


def test_processes_are_numbered_as_people_count_them(tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path / f"worker{number}.pt.trace.json", trace(training(start_us=5000 + number), rank=None))
    run, sources = open_input(tmp_path)
    assert run.ranks == tuple(range(12))
    names = [source.path.name for source in sources if isinstance(source, Trace)]
    assert names == [f"worker{number}.pt.trace.json" for number in range(12)]


@pytest.mark.parametrize("rank", [None, 0])
@pytest.mark.parametrize("name", ["step_{}/rank0.pt.trace.json", "trace_step_{}.json.gz", "host_7.17000000000{}.json"])
def test_files_that_one_process_wrote_one_after_another_are_captures_of_one_rank(
    name: str, rank: int | None, tmp_path: Path
) -> None:
    for step in (9, 10, 11):
        write(tmp_path / name.format(f"{step:02}" if "17" in name else step), trace(training(1, step * 1000), rank))
    run, (source,) = open_input(tmp_path)
    assert isinstance(source, Trace)
    assert "11" in str(source.path.relative_to(tmp_path))
    assert run.notes[0] == note("other_captures=2") and not any("at_once" in note.about for note in run.notes)


def test_the_newest_trace_of_a_rank_is_the_one_that_began_last_whatever_its_name(tmp_path: Path) -> None:
    for name, start_us in (("z.json", 5000), ("a.json", 90_000), ("k.json", 40_000)):
        write(tmp_path / name, trace(training(start_us=start_us)))
    (source,) = open_input(tmp_path)[1]
    assert isinstance(source, Trace) and source.path.name == "a.json"


def test_a_copy_that_was_cut_short_stands_behind_the_whole_trace_and_is_no_process_of_its_own(tmp_path: Path) -> None:
    events = training(start_us=5000)
    whole = write(tmp_path / "a.json.gz", trace([*events[5:], *events[:5]], 1, 2)).read_bytes()
    (tmp_path / "b.json.gz").write_bytes(whole[: len(whole) * 2 // 3])
    run, (source,) = open_input(tmp_path)
    assert isinstance(source, Trace) and source.path.name == "a.json.gz"
    assert note("other_captures=1") in run.notes and not any("at_once" in note.about for note in run.notes)


def test_ranks_that_are_told_by_no_trace_are_those_of_the_newest_recording(tmp_path: Path) -> None:
    for start_us, of in ((5000, "old"), (900_000, "new")):
        for number in range(3 if of == "old" else 2):
            write(tmp_path / f"{of}_{number}.json", trace(training(start_us=start_us + number), rank=None))
    run, sources = open_input(tmp_path)
    names = [source.path.name for source in sources if isinstance(source, Trace)]
    assert names == ["new_0.json", "new_1.json"]
    assert note("other_captures=3") in run.notes


def test_ranks_of_an_earlier_recording_are_not_mixed_with_the_newest(tmp_path: Path) -> None:
    for rank, start_us in ((0, 5000), (1, 5001), (0, 90_000_000)):
        write(tmp_path / f"host_{rank}.170{start_us:010}.pt.trace.json", trace(training(start_us=start_us), rank, 2))
    run, (source,) = open_input(tmp_path)
    assert isinstance(source, Trace) and "90000000" in source.path.name
    assert (run.ranks, run.notes[0]) == ((0,), note("other_captures=2"))


def test_of_several_processes_of_one_rank_only_the_first_is_unpacked_again_to_learn_its_time(
    tmp_path: Path, unpacked: list[str]
) -> None:
    for number in range(4):
        write(tmp_path / f"process_{number}.json.gz", trace(training(start_us=5000 + 10 * number)))
    run, _ = open_input(tmp_path)
    assert note("at_once_captures=3") in run.notes
    assert len(unpacked) == 4 + 1


def test_each_device_of_one_process_is_a_rank_with_work_of_its_own(tmp_path: Path) -> None:
    events = [*launched(1, 5000, 10, 80), *launched(2, 5100, 10, 80, device=1), *launched(3, 5200, 10, 80, device=1)]
    run, sources = open_input(write(tmp_path / NAME, trace(events, rank=None)))
    assert run.ranks == (0, 1)
    for source, count in zip(sources, (1, 2), strict=True):
        for fact in (Kernel, DeviceTask, Launch):
            assert len(source.read(fact)) == count
        assert len(source.read(HostCall)) == 6
    assert [source.read(Kernel)["rank"].tolist() for source in sources] == [[0], [1, 1]]


MIXED_HOST = [
    {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 141 << 30},
    {"id": 1, "name": "NVIDIA T4", "totalGlobalMem": 16 << 30},
]


@pytest.mark.parametrize(
    ("devices", "listed", "chip", "memory"),
    [
        ((0,), MIXED_HOST, "NVIDIA H200", 141 << 30),
        ((1,), MIXED_HOST, "NVIDIA T4", 16 << 30),
        ((0, 1), MIXED_HOST, None, None),
        ((7,), MIXED_HOST, None, None),
        ((7,), MIXED_HOST[:1], "NVIDIA H200", 141 << 30),
        ((1,), [{**one, "name": ""} for one in MIXED_HOST], None, 16 << 30),
        ((1,), [MIXED_HOST[0], {**MIXED_HOST[1], "id": 0}, "?", {"id": -5, "totalGlobalMem": -1}], None, None),
        (
            (0,),
            [{"id": 0, "name": "", "numSms": 304, "totalGlobalMem": 206141652992}],
            "AMD Instinct MI300X",
            206141652992,
        ),
        ((0,), [{"id": 0, "name": "", "numSms": 304, "totalGlobalMem": 274877906944}], None, 274877906944),
        ((0,), [{"id": 0, "name": "AMD Instinct MI300X VF"}], "AMD Instinct MI300X", None),
    ],
)
def test_of_a_host_with_several_devices_those_count_that_kernels_ran_on(
    devices: tuple[int, ...], listed: list[object], chip: str | None, memory: int | None, tmp_path: Path
) -> None:
    events = [
        event for number, device in enumerate(devices, 1) for event in launched(number, 5000, 10, 80, device=device)
    ]
    write(tmp_path / NAME, trace(events, rank=3, deviceProperties=listed))
    run, (source,) = open_input(tmp_path)
    assert run.chip == (chip or "")
    if chip is None and memory is None:
        with pytest.raises(FactMissing):
            source.read(Device)
    else:
        (row,) = source.read(Device).rows()
        assert (row["chip"], row["memory_bytes"]) == (chip, memory)


def test_a_rank_whose_kernels_ran_on_two_kinds_of_devices_is_what_it_is_told_to_be(tmp_path: Path) -> None:
    events = [*launched(1, 5000, 10, 80), *launched(2, 5100, 10, 80, device=1)]
    write(tmp_path / NAME, trace(events, rank=3, deviceProperties=MIXED_HOST))
    with pytest.raises(FactMissing):
        advisor.load_profile(tmp_path).table("chip_limits")
    (row,) = advisor.load_profile(tmp_path, chip="H200").table("chip_limits").rows()
    assert row["chip"] == "NVIDIA H200" and row["half_tflops"] == pytest.approx(989.4)


def test_ranks_on_different_devices_of_one_host_have_each_its_own(tmp_path: Path) -> None:
    events = [*launched(1, 5000, 10, 80), *launched(2, 5100, 10, 80, device=1)]
    write(tmp_path / NAME, trace(events, rank=None, deviceProperties=MIXED_HOST))
    run, sources = open_input(tmp_path)
    assert run.chip == ""
    assert [source.read(Device).rows()[0]["chip"] for source in sources] == ["NVIDIA H200", "NVIDIA T4"]


def test_a_trace_that_names_its_rank_is_one_rank(tmp_path: Path) -> None:
    events = [*launched(1, 5000, 10, 80), *launched(2, 5100, 10, 80, device=1)]
    run, (source,) = open_input(write(tmp_path / NAME, trace(events, rank=3)))
    assert run.ranks == (3,)
    assert len(source.read(Kernel)) == 2


def test_a_trace_put_together_of_a_process_for_each_device_is_a_rank_for_each(tmp_path: Path) -> None:
    """It kept what the first of them says of itself."""
    events = []
    for device, process in enumerate((4242, 4243)):
        own = launched(device + 1, 5000 + 100 * device, 10, 80, device=device)
        events += [{**event, "pid": device if event["cat"] == "kernel" else process} for event in own]
    run, sources = open_input(write(tmp_path / NAME, trace(events, rank=2, world=4)))
    assert run.ranks == (0, 1)
    assert [len(source.read(Kernel)) for source in sources] == [1, 1]


def test_memory_is_that_of_the_device(tmp_path: Path) -> None:
    used = {"Device Type": 1, "Total Allocated": 1 << 20, "Total Reserved": 2 << 20}
    events = [*launched(1, 5000, 10, 80), *launched(2, 5100, 10, 80, device=1)]
    for device in (0, 1, 1):
        place = {"ph": "i", "name": "[memory]", "pid": 7, "tid": 7, "ts": 5000 + device}
        events.append({**place, "args": {**used, "Device Id": device}})
    _, sources = open_input(write(tmp_path / NAME, trace(events, rank=None)))
    assert [len(source.read(MemoryUse)) for source in sources] == [1, 2]


def test_the_oldest_spelling_is_read_too(tmp_path: Path) -> None:
    renamed = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel", "gpu_memcpy": "Memcpy"}
    events = [{**event, "cat": renamed.get(event.get("cat", ""), event.get("cat"))} for event in training()]
    text = json.dumps(events).replace('"External id"', '"external id"').replace("Input Dims", "Input dims")
    (tmp_path / NAME).write_text(text)
    kernels = opened(tmp_path).read(Kernel)
    assert len(kernels) == 2 * KERNELS
    assert kernels.texts("op_type").names == ("aten::mm",)
    assert kernels.texts("input_shapes").names == ("64,32;32,16",)


@pytest.mark.parametrize("name", [NAME, f"{NAME}.gz"])
@pytest.mark.parametrize("last", [b'"name": "aten::op1000', b'"args": {}', b'"args": {}}', b'"args": {}}, '])
def test_of_a_trace_that_was_cut_off_before_its_first_kernel_it_is_said_and_not_that_none_was_recorded(
    name: str, last: bytes, tmp_path: Path
) -> None:
    calls = [host(f"aten::op{number}", 5 * number, 5) for number in range(2000)]
    whole = json.dumps(trace([*calls, *training()])).encode()
    rest = whole[: whole.index(last, whole.index(b"aten::op999")) + len(last)]
    (tmp_path / name).write_bytes(gzip.compress(rest) if name.endswith(".gz") else rest)
    with pytest.raises(InputError) as refused:
        open_input(tmp_path)
    assert refused.value.what.code == "trace_unreadable"
    assert "ends early" in str(refused.value)
    assert refused.value.hint is not None
    assert refused.value.hint.code == "record_or_copy_again"


def test_of_a_packed_trace_that_was_cut_off_before_its_first_kernel_it_is_said(tmp_path: Path) -> None:
    calls = [host(f"aten::op{number}", 5 * number, 5) for number in range(2000)]
    path = write(tmp_path / f"{NAME}.gz", trace([*calls, *training()]))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match="ends early"):
        open_input(tmp_path)


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_a_trace_that_was_cut_off_keeps_what_came_before_and_says_so(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"x.pt.trace{ending}", trace(training(steps=40)))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    source = opened(tmp_path)
    assert 0 < len(source.read(Kernel)) < 40 * KERNELS
    assert "shortened" in source.read(Damage).texts("kind").values()


def _as_written(events: list[Event]) -> list[Event]:
    """In the order of the profiler: the program, then the driver and the device side by side, each by time."""
    return sorted(events, key=lambda event: (event.get("cat") not in ("cpu_op", "user_annotation"), event["ts"]))


def _cut(path: Path, events: list[Event], left: float) -> Path:
    """A trace of these events of whose calls and kernels a part is left."""
    text = json.dumps(trace(_as_written(events)))
    begin = text.index("cudaLaunchKernel")
    path.write_text(text[: begin + int(left * (len(text) - begin))])
    return path


def test_of_a_trace_that_ends_early_the_steps_count_that_lie_before_its_end(tmp_path: Path) -> None:
    """The program is known to its last step, the device to the third: a step in part seems to wait for its kernels."""
    _cut(tmp_path / NAME, training(steps=6), 0.6)
    source = opened(tmp_path)
    assert source.read(StepWindow)["cut"].tolist() == [0, 0, 0, 1, 1, 1]
    assert sorted(set(source.read(Kernel)["step"].tolist())) == [3, 4, 5]
    calls = source.read(HostCall)
    assert calls["start_ns"][calls.texts("kind").isin(["operator"])].max() < 8_000_250
    assert source.read(Damage).texts("kind").values() == ["shortened"]
    profile = open_profile(tmp_path)
    assert sorted(set(profile.table(Overlap)["step"].tolist())) == [3, 4, 5]
    assert measured_run(profile).steps == (3, 4, 5)


def test_of_a_trace_without_steps_that_ends_early_all_before_its_end_counts(tmp_path: Path) -> None:
    _cut(tmp_path / NAME, [one for one in training(steps=6) if "ProfilerStep" not in one["name"]], 0.6)
    source = opened(tmp_path)
    calls, launches = source.read(HostCall), source.read(Launch)
    assert calls["start_ns"].max() <= launches["host_start_ns"].max()
    assert source.read(Damage).texts("kind").values() == ["shortened"]


def test_a_trace_of_one_step_that_was_cut_is_to_be_copied_again_and_not_to_be_recorded_longer(tmp_path: Path) -> None:
    _cut(tmp_path / NAME, training(steps=1), 0.6)
    found = diagnose(open_profile(tmp_path), advisor.load_rules())
    kind, (lead, *_) = first_findings(found)
    assert (kind, lead.rule) == ("record", "capture/cut-timeline")
    (little,) = [one for one in found.findings if one.rule == "capture/little-work"]
    assert little.causes == (lead.fingerprint,)


def test_a_packed_trace_that_is_damaged_inside_is_not_told_to_end_early(tmp_path: Path) -> None:
    path = write(tmp_path / f"{NAME}.gz", trace(training(steps=40)))
    packed = bytearray(path.read_bytes())
    packed[len(packed) // 2 : len(packed) // 2 + 64] = bytes(range(192, 256))
    path.write_bytes(packed)
    damages = opened(tmp_path).read(Damage)
    assert [what for what in damages.texts("what").values() if "ends early" in what] == []
    assert set(damages.texts("kind").values()) <= {"row", "shortened"}


def test_a_trace_that_ends_in_its_first_step_is_told_as_cut(tmp_path: Path) -> None:
    _cut(tmp_path / NAME, training(steps=6), 0.1)
    source = opened(tmp_path)
    assert source.read(StepWindow)["cut"].tolist() == [-1] * 6
    assert source.read(Damage).texts("kind").values() == ["truncated"]


def _without_late_work(events: list[Event], since: float) -> list[Event]:
    """What the profiler writes where it had no room for what the device did from then on."""
    return [one for one in events if one.get("cat") not in ("kernel", "gpu_memcpy") or one["ts"] < since]


def test_of_a_trace_whose_device_ends_before_its_program_the_whole_steps_count(tmp_path: Path) -> None:
    """The profiler stops recording the device where its buffers are full; the host seems to wait for nothing then."""
    events = training(steps=6)
    times = sorted(one["ts"] for one in events if one.get("cat") == "kernel")
    write(tmp_path / NAME, trace(_without_late_work(events, times[int(0.6 * len(times))])))
    source = opened(tmp_path)
    assert source.read(StepWindow)["cut"].tolist() == [0, 0, 0, 1, 1, 1]
    assert source.read(Damage).texts("kind").values() == ["outrun"]
    assert measured_run(open_profile(tmp_path)).steps == (3, 4, 5)


def test_a_trace_whose_last_calls_have_no_kernel_yet_counts_as_a_whole(tmp_path: Path) -> None:
    events = training(steps=6)
    last = max(one["ts"] for one in events if one.get("cat") == "kernel")
    write(tmp_path / NAME, trace(_without_late_work(events, last)))
    assert opened(tmp_path).read(StepWindow)["cut"].tolist() == [-1] * 6


def test_calls_that_capture_a_graph_at_the_end_need_no_kernels(tmp_path: Path) -> None:
    events = training(steps=6)
    times = sorted(one["ts"] for one in events if one.get("cat") == "kernel")
    captured = {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamBeginCapture", "pid": 1, "tid": 1, "dur": 1}
    late = _without_late_work(events, times[int(0.6 * len(times))])
    write(tmp_path / NAME, trace([*late, {**captured, "ts": times[int(0.6 * len(times))]}]))
    source = opened(tmp_path)
    assert source.read(StepWindow)["cut"].tolist() == [-1] * 6


def test_a_trace_whose_kernels_are_out_of_order_where_it_ends_counts_as_far_as_none_is_missing(tmp_path: Path) -> None:
    events = _as_written(training(steps=6))
    late = [one for one in events if one.get("args", {}).get("correlation") in range(41, 49)]
    events = [one for one in events if one not in late] + [one for one in late if one["cat"] == "cuda_runtime"]
    (tmp_path / NAME).write_text(json.dumps(trace(events))[:-60])
    assert opened(tmp_path).read(StepWindow)["cut"].tolist() == [0, 0, 1, 1, 1, 1]


def test_a_packed_file_that_unpacks_to_too_much_is_refused_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_limits, "FREE_BYTES", 1 << 20)
    (tmp_path / f"{NAME}.gz").write_bytes(gzip.compress(b'{"traceEvents": [' + b" " * (8 << 20)))
    with pytest.raises(InputError, match="once unpacked"):
        open_input(tmp_path)


def test_damage_inside_leaves_the_other_events(tmp_path: Path) -> None:
    text = json.dumps(trace(training(steps=3)))
    (tmp_path / NAME).write_text(text.replace('"dur": 80', '"dur": -80', 1))
    source = opened(tmp_path)
    assert len(source.read(Kernel)) == 3 * KERNELS - 1
    assert source.read(Damage)["rows"].tolist() == [1]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"traceEvents": 3}', b"\xff\xfe{}", b'{"traceEvents": []}'])
def test_what_is_no_trace_inside_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(InputError) as caught:
        open_input(tmp_path)
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    ("around", "op"),
    [("nccl:all_to_all", "allToAllV"), ("c10d::allreduce_", "allReduce"), ("## backward ##", "batchSendRecv")],
)
def test_a_kernel_of_nccl_is_what_the_range_around_its_launch_says(tmp_path: Path, around: str, op: str) -> None:
    outer = host("DistributedDataParallel.forward", 4000, 2000, "user_annotation")
    events = [outer, host(around, 4990, 40, "user_annotation")]
    events += launched(1, 5000, 10, 80, name="ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)")
    write(tmp_path / NAME, trace(events, world=2))
    _, (source,) = open_input(tmp_path)
    assert [row["op"] for row in source.read(Collective).rows()] == [op]


@pytest.mark.parametrize(
    ("content", "why", "hint"),
    [
        (b" \n", "is empty", "give traces"),
        (b"hello", "is no JSON", "give traces"),
        (b'{"traceEvents":[{"ph":"X"', "ends early", "copy"),
    ],
)
def test_of_a_file_that_holds_no_event_it_is_said_what_is_wrong_with_it(
    tmp_path: Path, content: bytes, why: str, hint: str
) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(InputError, match=why) as caught:
        open_input(tmp_path)
    assert hint in str(caught.value.hint)


def test_a_trace_of_the_host_alone_says_what_to_record(tmp_path: Path) -> None:
    write(tmp_path / NAME, trace([host("aten::mm", 1, 2)]))
    with pytest.raises(InputError, match="without anything that ran on a device") as caught:
        open_input(tmp_path)
    assert "such as ProfilerActivity.CUDA" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("calls", "what", "next_time"),
    [
        (
            ["cudaGetDeviceCount", "cudaDeviceSynchronize"],
            "launched nothing on the device",
            "record where the model runs",
        ),
        (["cudaLaunchKernel", "cudaDeviceSynchronize"], "without the kernels that it launched", "another profiler"),
        (["hipExtModuleLaunchKernel"], "without the kernels that it launched", "another profiler"),
        (["cuLaunchKernelEx"], "without the kernels that it launched", "another profiler"),
        (["cudaGraphLaunch"], "without the kernels that it launched", "another profiler"),
    ],
)
def test_a_trace_that_recorded_calls_into_the_device_and_no_work_says_why(
    calls: list[str], what: str, next_time: str, tmp_path: Path
) -> None:
    events = [host(name, 100 * place, 9, "cuda_runtime", correlation=place) for place, name in enumerate(calls, 1)]
    write(tmp_path / NAME, trace([host("aten::mm", 1, 2), *events]))
    with pytest.raises(InputError, match=what) as caught:
        open_input(tmp_path)
    assert next_time in str(caught.value.hint)
    assert "ProfilerActivity" not in str(caught.value.hint)


@pytest.mark.parametrize(
    ("category", "device"),
    [("mtia_ccp_events", "MTIA"), ("privateuse1_driver", "PrivateUse1"), ("privateuse1", "PrivateUse1")],
)
def test_a_trace_of_devices_that_are_not_read_names_them(category: str, device: str, tmp_path: Path) -> None:
    write(tmp_path / NAME, trace([host("aten::mm", 1, 2), {**host("matmul", 3, 2), "cat": category}]))
    with pytest.raises(InputError, match=f"holds traces of work on {device} devices, which are not read"):
        open_input(tmp_path)


def test_a_fact_that_no_trace_holds_is_missing(tmp_path: Path) -> None:
    source = opened(write(tmp_path / NAME, trace(launched(1, 10, 1, 5))))
    for fact in (Collective, MemoryUse, StepWindow):
        with pytest.raises(FactMissing):
            source.read(fact)


def test_work_launched_before_the_recording_has_no_step_and_no_launch(tmp_path: Path) -> None:
    (_, _, early) = launched(99, 4000, 1, 30)
    del early["args"]["External id"]
    source = opened(write(tmp_path / NAME, trace([early, *training()])))
    kernels = source.read(Kernel)
    assert len(kernels) == 2 * KERNELS + 1
    assert kernels["step"][0] < 0
    assert kernels.rows(1)[0]["op_type"] == "at::native::gemm_kernel"
    assert len(source.read(Launch)) == 2 * (KERNELS + 2)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("void at::native::(anonymous namespace)::cat<int, 4>(int*, std::array<char*, 2ul>)", "at::native::cat"),
        ("void gemm<a<b>, (c)3>::run<float>(float const*)", "gemm::run"),
        (
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        ),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        (
            "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(cutlass_80_tensorop::Params)",
            "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4",
        ),
        ("_ZN7ck_tile6kentry.kd", "_ZN7ck_tile6kentry"),
        (
            "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
            "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, float, int)",
            "vllm::fused_add_rms_norm_kernel",
        ),
        ("void scan<(a<b), 2>(int)", "scan"),
        (
            "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
            "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const> >(int)",
            "at::native::direct_copy_kernel_cuda",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
            "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul> >(int)",
            "at::native::direct_copy_kernel_cuda",
        ),
        (
            "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
            "::{lambda()#3}, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)",
            "at::native::unrolled_elementwise_kernel",
        ),
        ("", ""),
        ("<<<>", "<<<>"),
    ],
)
def test_functions_are_called_without_what_fills_their_brackets(name: str, plain: str) -> None:
    assert function_name(name) == plain


@given(st.text(min_size=1).filter(str.strip))
def test_any_function_has_a_name_of_one_line(name: str) -> None:
    found = function_name(name)
    assert len(found) <= len(name)
    assert function_name(found).strip() or not found.strip()


def test_kernels_of_collectives_are_told_by_name() -> None:
    assert is_communication("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)")
    assert is_communication("ncclDevKernel_SendRecv(x)")
    assert not is_communication("at::native::reduce_kernel")


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)", "allReduce"),
        ("void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*)", "allReduce"),
        ("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", "allReduce"),
        ("void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16>(x)", "allReduce"),
        ("void (anonymous namespace)::multimem_one_shot_reduce_kernel<c10::BFloat16>(x)", "allReduce"),
        ("void (anonymous namespace)::multimem_all_gather_kernel<16>(x)", "allGather"),
        (
            "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport"
            "<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8>(x)",
            "allReduce",
        ),
        ("void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, 8>(x)", "allReduce"),
        ("void deep_ep::intranode::dispatch<(int)2, (int)768, (int)8192>(int4 *)", "allToAllV"),
        ("void deep_ep::internode_ll::combine<true>(x)", "allToAllV"),
        ("void deep_ep::internode::cached_notify<true, 4>(int)", "allToAllV"),
        ("void deep_ep::legacy::intranode::cached_notify_combine<8>(void**)", "allToAllV"),
        ("void primus_turbo::deep_ep::legacy::internode::combine<x>(y)", "allToAllV"),
        ("void dpsk::ep::internode::dispatch<false, 8, true, 8>(x)", "allToAllV"),
        ("void dpsk::ep::internode::combine_ll<true, 3, 10, 7168>(x)", "allToAllV"),
        ("void deep_ep::elastic::hybrid_dispatch_impl<true, 24>(x)", "allToAllV"),
        ("void deep_ep::elastic::combine_impl<true, 24>(x)", "allToAllV"),
        ("void deep_ep::elastic::dispatch_copy_epilogue_impl<true>(x)", ""),
        ("void deep_ep::elastic::combine_reduce_epilogue_impl<true>(x)", ""),
        ("void dpsk::ep::cuda::get_dispatch_layout<256>(x)", ""),
        ("void cdpsk::ep::CUB_200::internode::dispatch<x>(y)", ""),
        ("void deep_ep::layout::get_dispatch_layout<256>(x)", ""),
        ("void at::native::reduce_kernel<512, 1>(x)", ""),
        ("void all_reduce_kernel(x)", ""),
    ],
)
def test_kernels_that_communicate_without_a_library_of_collectives_are_collectives(name: str, op: str) -> None:
    assert direct_collective(name) == op
    assert is_communication(name) == (op != "")


@pytest.mark.parametrize(
    ("name", "op"),
    [
        *(("allreduce", "allReduce"), ("_allgather_base", "allGather"), ("ReduceScatter", "reduceScatter")),
        *(("all_to_allv", "allToAllV"), ("send 0->1", "send"), ("recv 0<-1", "receive"), ("SendRecv", "batchSendRecv")),
        *(("broadcast", "broadcast"), ("reduce", "reduce"), ("barrier", "")),
    ],
)
def test_collectives_are_told_in_every_spelling(name: str, op: str) -> None:
    assert op_of(name) == op


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        *(("cudaStreamSynchronize", "synchronise"), ("cuCtxSynchronize", "synchronise")),
        *(("cudaMemcpy", "blocking_copy"), ("cudaMemcpyAsync", "copy"), ("hipMemcpyWithStream", "blocking_copy")),
        *(("cudaMalloc", "allocate"), ("cudaFree", "free"), ("cuMemCreate", "allocate"), ("hipFree", "free")),
        *(("cudaMallocAsync", "allocate"), ("cudaFreeAsync", "allocate"), ("cuMemFree_v2", "free")),
        *(("cudaHostAlloc", "pin"), ("cudaMallocHost", "pin"), ("hipHostMalloc", "pin"), ("cudaFreeHost", "pin")),
        *(("cudaHostRegister", "pin"), ("hipHostFree", "pin"), ("cuMemHostAlloc", "pin"), ("cuMemAllocHost_v2", "pin")),
        *(("cudaLaunchKernel", ""), ("cudaEventRecord", "")),
        *(("urQueueFinish", "synchronise"), ("urEventWait", "synchronise"), ("zeFenceHostSynchronize", "synchronise")),
        *(
            ("urEnqueueUSMMemcpy", "copy"),
            ("urEnqueueMemBufferRead", "copy"),
            ("zeCommandListAppendMemoryCopy", "copy"),
        ),
        *(
            ("urUSMDeviceAlloc", "allocate"),
            ("urUSMFree", "allocate"),
            ("zeMemFree", "allocate"),
            ("urUSMHostAlloc", "pin"),
        ),
        *(("urEnqueueKernelLaunch", ""), ("urEventRelease", ""), ("zeCommandListAppendLaunchKernel", "")),
        *(("cnQueueSync", "synchronise"), ("cnrtQueueSync", "synchronise"), ("cnWaitNotifier", "synchronise")),
        *(("cnMemcpyAsync", "copy"), ("cnInvokeKernel", ""), ("cnQueueWaitNotifier", "")),
    ],
)
def test_calls_do_what_their_names_say(name: str, activity: str) -> None:
    assert activity_of_call(name) == activity


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("torch/_dynamo/convert_frame.py(543): _compile", "compile"),
        ("/usr/lib/python3.11/site-packages/torch/_dynamo/convert_frame.py(1064): _compile_inner", "compile"),
        ("torch/_inductor/compile_fx.py(1552): compile_fx", "compile"),
        ("torch/_inductor/compile_fx.py(700): fx_codegen_and_compile", "compile"),
        ("torch/_inductor/runtime/triton_heuristics.py(900): autotune_to_one_config", "compile"),
        ("triton/compiler/compiler.py(226): compile", "compile"),
        ("triton/runtime/autotuner.py(130): _bench", "compile"),
        ("compile_fx_inner (dynamo_timed)", "compile"),
        ("torch/_dynamo/eval_frame.py(574): compile_wrapper", ""),  # runs what was compiled
        ("torch/_inductor/compile_fx.py(1100): run", ""),
        ("triton/compiler/compiler.py(430): __getattribute__", ""),
        ("triton/runtime/jit.py(574): run", ""),
        ("vllm/compilation/cuda_graph.py(208): __call__", ""),
        ("Torch-Compiled Region: 0/0", ""),
        ("TorchDynamo Cache Lookup", ""),
    ],
)
def test_what_compiles_a_program_is_told_from_what_runs_it(name: str, activity: str) -> None:
    assert activity_of_range(name) == activity


@pytest.mark.parametrize("text", ["", "[", "3", "null", '[["a"], 1]', "[" * 4000])
def test_shapes_that_are_none_are_missing(text: str) -> None:
    assert shapes_as_text(text) is None
    assert types_as_text(text) in (None, "")


def test_a_capture_of_a_gpu_is_diagnosed_and_idle_time_is_its_own(tmp_path: Path) -> None:
    slow = [
        event
        for step in range(4)
        for place in range(40)
        for event in launched(1 + step * 50 + place, step * 9000 + place * 200, 20, 10)
    ]
    marks = [host(f"ProfilerStep#{step}", step * 9000, 8990, "user_annotation") for step in range(4)]
    found = advisor.diagnose(write(tmp_path / NAME, trace([*marks, *slow])))
    assert found.run.device_family == "gpu"
    assert found.run.idle_share == pytest.approx(0.95, abs=0.02)
    assert found.findings[0].rule.startswith("host/")
    assert all(finding.saving is None or finding.saving.us <= found.run.step_us for finding in found.findings)


def _on_other_devices(calls: str, memcpy: str) -> list[Event]:
    """The training of a GPU as another device records it: other categories, and no number of a stream."""
    renamed = {"cuda_runtime": calls, "gpu_memcpy": memcpy}
    events = [{**event, "cat": renamed.get(event.get("cat", ""), event.get("cat"))} for event in training()]
    for event in events:
        stream = event["args"].pop("stream", None)
        if stream is not None and calls.startswith("xpu"):
            event["args"] |= {"l0 queue": "0x000055d08b8fc138", "sycl queue": 64, "device": 0}
    return events


@pytest.mark.parametrize(
    ("calls", "memcpy"),
    [
        *(("xpu_runtime", "gpu_memcpy"), ("xpu_driver", "gpu_memcpy")),
        *(("privateuse1_runtime", "gpu_memcpy"), ("privateuse1_driver", "gpu_memcpy")),
        *(("mlu_runtime", "mlu_memcpy"), ("gcu_runtime", "GCU_MEMCPY"), ("gcu_driver", "gpu_memcpy")),
    ],
)
def test_calls_into_the_software_of_any_device_launch_its_work_and_tell_its_step(
    calls: str, memcpy: str, tmp_path: Path
) -> None:
    source = opened(write(tmp_path / NAME, trace(_on_other_devices(calls, memcpy))))
    assert sorted(set(source.read(Kernel)["step"].tolist())) == [3, 4]
    assert len(source.read(Launch)) == 2 * (KERNELS + 2)
    assert source.read(HostCall).texts("kind").values().count("api") == 2 * (KERNELS + 2)
    assert source.read(DeviceTask).texts("kind").values().count("copy") == 2


@pytest.mark.parametrize(
    ("calls", "device"),
    [("xpu_runtime", "xpu"), ("xpu_driver", "xpu"), ("mlu_runtime", "mlu"), ("gcu_driver", "gcu")],
)
def test_a_device_that_pytorch_calls_otherwise_than_cuda_is_named_where_remedies_say_cuda(
    calls: str, device: str, tmp_path: Path
) -> None:
    run, _ = open_input(write(tmp_path / NAME, trace(_on_other_devices(calls, "gpu_memcpy"))))
    assert note(f"other_device={device}") in run.notes
    (cuda := tmp_path / "cuda").mkdir()
    assert not open_input(write(cuda / NAME, trace(training())))[0].notes


def test_queues_of_sycl_are_streams(tmp_path: Path) -> None:
    source = opened(write(tmp_path / NAME, trace(_on_other_devices("xpu_runtime", "gpu_memcpy"))))
    assert set(source.read(Kernel)["stream"].tolist()) == {64}


def test_copies_of_every_direction_are_told_as_level_zero_spells_them(tmp_path: Path) -> None:
    names = ["Memcpy M2D (x)", "Memcpy H2D (x)", "Memcpy D2M (x)", "Memcpy D2H (x)", "Memcpy D2D (x)", "Memcpy M2H (x)"]
    events = [event for place, name in enumerate(names) for event in copied(place + 1, place * 50.0, name, 8)]
    tasks = opened(write(tmp_path / NAME, trace([*events, *launched(9, 900, 1, 5)]))).read(DeviceTask)
    assert tasks.texts("direction").values()[:6] == ["h2d", "h2d", "d2h", "d2h", "d2d", None]


def test_copies_of_every_direction_are_told(tmp_path: Path) -> None:
    names = ["Memcpy HtoD (x)", "Memcpy DtoH (x)", "Memcpy DtoD (x)", "Memcpy PtoP (x)"]
    events = [event for place, name in enumerate(names) for event in copied(place + 1, place * 50.0, name, 8)]
    tasks = opened(write(tmp_path / NAME, trace([*events, *launched(9, 900, 1, 5)]))).read(DeviceTask)
    assert tasks.texts("direction").values()[:4] == ["h2d", "d2h", "d2d", None]
    assert np.isnan(tasks["size_bytes"][4])


def lost_rows(events: list[Event], folder: Path) -> list[tuple[object, object]]:
    found = advisor.diagnose(write(folder / "lost.pt.trace.json", trace(events)))
    return [(one.subject["of"], one.subject["file"]) for one in found.findings if one.rule == "capture/lost-rows"]


@pytest.mark.parametrize(("world", "told"), [(1 << 62, 0), (-3, 0), (1 << 20, 1 << 20)])
def test_a_job_of_more_ranks_than_there_are_is_of_unknown_size(world: int, told: int, tmp_path: Path) -> None:
    content = trace(training())
    content["distributedInfo"]["world_size"] = world
    found = advisor.diagnose(write(tmp_path / "job.pt.trace.json", content))
    assert found.run.world_size == told and found.run.missing_ranks == ("1-1048575" if told else "")


def test_a_whole_trace_has_lost_nothing(tmp_path: Path) -> None:
    assert not lost_rows(training(4), tmp_path)


def test_kernels_that_calls_launched_and_steps_between_others_are_missed(tmp_path: Path) -> None:
    every = training(4)
    kernels = [event for event in every if event.get("cat") == "kernel"]
    assert lost_rows([event for event in every if event not in kernels[::2]], tmp_path) == [("kernels", "trace")]
    assert lost_rows([event for event in every if event["name"] != "ProfilerStep#4"], tmp_path) == [
        ("step_windows", "trace")
    ]


def test_calls_that_are_captured_into_a_graph_start_nothing_and_miss_nothing(tmp_path: Path) -> None:
    every = training(4)
    kernels = [event for event in every if event.get("cat") == "kernel"]
    captured = [*every, host("cudaStreamBeginCapture", 5000.5, 1, "cuda_runtime")]
    assert ("kernels", "trace") not in lost_rows([event for event in captured if event not in kernels[::2]], tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"hello", gzip.compress(json.dumps(trace(training(), 1, 2)).encode())[:200],
        gzip.compress(json.dumps(trace([], 1, 2)).encode()),
        gzip.compress(json.dumps(trace([host("aten::mm", 5, 5)], 1, 2)).encode()),
    ],
    ids=["empty", "text", "cut", "no event", "host alone"],
)  # fmt: skip
def test_a_rank_whose_trace_cannot_be_used_is_told_with_its_file(content: bytes, tmp_path: Path) -> None:
    write(tmp_path / "host_0.1.pt.trace.json.gz", trace(training(), 0, 2))
    (tmp_path / "host_1.1.pt.trace.json.gz").write_bytes(content)
    found = advisor.diagnose(tmp_path)
    assert [one.file for one in found.unread] == ["host_1.1.pt.trace.json.gz"]
    assert "capture/damaged-input" in {one.rule for one in found.findings}


@pytest.mark.parametrize("kept", [0, 12, 40, 120, 400, 1000, 0.5])
@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_of_traces_under_names_of_their_own_one_that_was_cut_off_is_told_with_its_file(
    ending: str, kept: float, tmp_path: Path
) -> None:
    write(tmp_path / f"job_rank-0.{ending}", trace(training(), 0, 2))
    cut = write(tmp_path / f"job_rank-1.{ending}", trace([host(f"op{n}", 5, 5) for n in range(9000)], 1, 2))
    cut.write_bytes(cut.read_bytes()[: int(kept if kept > 1 else kept * cut.stat().st_size)])
    write(tmp_path / f"metrics_1.{ending}", {"loss": 1})
    found = advisor.diagnose(tmp_path)
    assert [one.file for one in found.unread] == [cut.name]


def test_traces_under_names_of_their_own_are_all_read_however_many_there_are(tmp_path: Path) -> None:
    ranks = 2 * MOST_FOREIGN
    for rank in range(ranks):
        write(tmp_path / f"job_rank-{rank}.json", trace(training(), rank, ranks))
    assert open_input(tmp_path)[0].ranks == tuple(range(ranks))


@pytest.mark.parametrize("ending", ["json", "json.gz"])
@pytest.mark.parametrize("groups", [1, 5000])
def test_a_trace_under_any_name_that_was_cut_off_before_its_first_kernel_is_refused_as_that(
    ending: str, groups: int, tmp_path: Path
) -> None:
    pg_config = [{"pg_name": str(number), "ranks": [0, number]} for number in range(groups)]
    job = {"rank": 0, "world_size": 2, "pg_config": pg_config}
    calls = [host(f"aten::op{number}", 5 * number, 5) for number in range(2000)]
    path = write(tmp_path / f"job.{ending}", trace([*calls, *training()], distributedInfo=job))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for asked in (tmp_path, path):
        with pytest.raises(InputError, match="ends early"):
            open_input(asked)


def test_a_step_that_is_marked_and_holds_no_work_is_none_of_those_that_sums_spread_over(tmp_path: Path) -> None:
    marked = host("ProfilerStep#5", 5000.25 + 2 * 1000, 30, "user_annotation")
    runs = []
    for name, events in (("two", training()), ("three", [*training(), marked])):
        path = write(tmp_path / name / "worker0.pt.trace.json", trace(events))
        runs.append(measured_run(open_profile(path)))
    two, three = runs
    assert three.steps == two.steps
    assert (three.step_us, three.step_count) == (two.step_us, 2)


@pytest.mark.parametrize("lost", ["launches", "lengths of the marks"])
def test_work_that_cannot_be_told_to_be_of_a_step_is_that_of_the_window(lost: str, tmp_path: Path) -> None:
    events = training()
    if lost == "launches":
        events = [event for event in events if event.get("cat") != "cuda_runtime"]
    else:
        events = [{**event, "dur": 0} if "ProfilerStep" in str(event["name"]) else event for event in events]
    whole, run = (
        measured_run(open_profile(write(tmp_path / name / "worker0.pt.trace.json", trace(found))))
        for name, found in (("whole", training()), ("lost", events))
    )
    assert whole.times_of == "step" and run.times_of == "window"
    assert run.step_us > 1.5 * whole.step_us and run.step_count == 1


@pytest.mark.parametrize(
    ("other", "start_us", "at_once"),
    [
        ("b_2", 5000, 0),
        ("b_2", 5001, 1),
        ("b_2", 5900, 1),
        ("b_2", 6500, 0),
        ("b_2", 900_000, 0),
        ("a_1", 5500, 0),
        ("copy/a_1", 5000, 0),
    ],
)
def test_traces_of_one_rank_number_that_were_recorded_at_the_same_time_are_told_as_such(
    other: str, start_us: float, at_once: int, tmp_path: Path
) -> None:
    write(tmp_path / "a_1.1700000000009.pt.trace.json", trace(training(start_us=5000)))
    write(tmp_path / f"{other}.1700000000001.pt.trace.json.gz", trace(training(start_us=start_us)))
    run, (source,) = open_input(tmp_path)
    row = source.read(RankCapture).rows()[0]
    assert (row["other_captures"], row["at_once_captures"]) == (1, at_once)
    assert (note("at_once_captures=1") in run.notes) == bool(at_once)
