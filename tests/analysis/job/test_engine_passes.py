# SPDX-License-Identifier: Apache-2.0
"""Passes of a model that serves are found by what repeats only where something else says that they are passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from advisor import load_rules
from advisor.analysis.job.engine_borders import EngineTables, FoundSteps, find_generating_passes
from advisor.analysis.job.engine_passes import Passes, choices_of_tokens, find_passes
from advisor.analysis.job.engine_phases import DECODE, work_of_passes
from advisor.analysis.job.engine_steps import engine_steps
from advisor.facts import Table, Texts, read_table
from advisor.facts.derived import EngineStep, Gap, JobSign
from advisor.facts.observed import DeviceTask, Kernel, StepWindow
from advisor.messages.errors import FactMissing
from advisor.model.findings import Confidence
from advisor.model.job import told_job
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.pipeline import diagnose, judge_profile, open_profile
from corpus.cases import setup_of
from corpus.inference import Decoder
from tests.repeated_traces import write_repeated
from tests.shared_captures import SharedCaptures

LAYER = ("MatMulV2 8,64;64,192", "ReshapeAndCacheNdKernel 8,64", "FusedInferAttentionScore -", "MatMulV2 8,64;64,64")
INPUT, HEAD, CHOICE = "copy", "MatMulV2 8,64;64,9999", "ArgMaxV2 8,9999"
SERVING = (
    ("b200_eager", 1, 888),
    ("sglang_qwen3-8b_prefilldecode", 15, 15360),
    ("vllm_piecewise_graph_execution", 46, 8192),
)
TRAINED = (
    "gpu_hta/df_index_resolver",
    "gpu_hta/nccl_parser_config",
    "gpu_hta/ns_resolution_trace",
    "gpu_hta/trace_filter",
    "gpu_kineto_tb_samples/plugin/samples/resnet50_num_workers_0",
    "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz",
    "gpu_kineto_models/mi300_qwen1.5-0.5b.json.gz",
    "mindinsight_legacy/profiler/PROF_000001_20230818142704322_COJGGGCANRMICFBC",
    "msinsight_pytorch_matrix/text/level1/rank0_ascend_pt",
)


def one_pass(layers: int, *, ends: Sequence[str] = (HEAD, CHOICE)) -> list[str]:
    return [INPUT, *LAYER * layers, *ends]


def passes_in(events: Sequence[str]) -> Passes | None:
    """What is found in these events, which begin 10 µs after each other and last 4."""
    kernels = [(at * 10_000, one) for at, one in enumerate(events) if one != INPUT]
    text = "op_type input_shapes start_ns duration_us\n" + "\n".join(f"{one} {at} 4" for at, one in kernels)
    table = read_table(Kernel, text)
    exchanges = np.array([at * 10_000 for at, one in enumerate(events) if one == INPUT], np.int64)
    start = table["start_ns"]
    return find_passes(start, start + 4_000, work_of_passes(table), choices_of_tokens(table), exchanges)


def borders_of(events: Sequence[str], last: str) -> list[int]:
    return [at * 10_000 + 4_000 for at, one in enumerate(events) if one == last]


@given(st.integers(3, 6), st.integers(4, 6), st.integers(1, 4), st.integers(0, 2))
def test_a_pass_that_verifies_drafts_ends_with_the_last_draft(layers: int, passes: int, drafts: int, cut: int) -> None:
    """Each draft passes one layer and chooses a token, too; the first pass may have been recorded in part."""
    whole = [*one_pass(layers), *one_pass(1)[1:] * drafts]
    found = passes_in([*whole[cut * len(LAYER) + 1 :], *whole * passes])
    assert found is not None
    ends = borders_of([*whole[cut * len(LAYER) + 1 :], *whole * passes], CHOICE)
    assert found.border_ns.tolist() == ends[drafts :: drafts + 1]


def test_two_models_of_like_size_in_turn_are_no_drafts_and_what_verifies_them() -> None:
    assert passes_in([*one_pass(4), *one_pass(3)] * 8) is None


@given(st.integers(2, 6), st.integers(4, 9), st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_whole_passes_lie_from_one_choice_of_tokens_to_the_next(
    layers: int, passes: int, missing: int, more: int, chooses: bool
) -> None:
    """However much of a first and of a last pass was recorded."""
    ends = (HEAD, CHOICE) if chooses else (HEAD,)
    events = [
        *one_pass(layers, ends=ends)[min(missing, layers) * len(LAYER) :],
        *chain.from_iterable(one_pass(layers, ends=ends) for _ in range(passes - 1)),
        *(INPUT, *LAYER * min(more, layers - 1)),
    ]
    found = passes_in(events)
    assert found is not None
    assert found.border_ns.tolist() == borders_of(events, ends[-1])
    assert len(found) == passes - 1


@given(st.integers(1, 40), st.integers(1, 4), st.booleans())
def test_layers_are_no_passes(layers: int, every: int, told: bool) -> None:
    """One pass, some layers of which have a product of their own, or choose by the largest value as gates do."""
    special = "ArgMaxV2 8,16" if told else "MatMulV2 8,64;64,512"
    body = chain.from_iterable((*LAYER, special) if at % every == 0 else LAYER for at in range(layers))
    assert passes_in([INPUT, *body, HEAD, CHOICE]) is None


@given(st.integers(4, 60), st.integers(1, 4))
def test_a_part_of_one_pass_is_no_passes(layers: int, every: int) -> None:
    special = "MatMulV2 8,64;64,512"
    events = [*chain.from_iterable((*LAYER, special) if at % every == 0 else LAYER for at in range(layers))]
    assert passes_in(events) is None
    assert passes_in([INPUT, *events]) is None


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_a_few_passes_are_no_repetition(passes: int) -> None:
    assert passes_in(one_pass(4) * passes) is None


def test_passes_of_different_length_in_no_order_are_not_told_apart() -> None:
    assert passes_in([*one_pass(8), *one_pass(1), *one_pass(8), *one_pass(8), *one_pass(1)] * 6 + one_pass(8)) is None


def test_a_pass_that_chooses_no_token_is_not_two() -> None:
    assert passes_in([*one_pass(4) * 3, *one_pass(4, ends=()), *one_pass(4) * 3]) is None


def test_without_layers_that_keep_a_cache_there_are_no_passes() -> None:
    assert passes_in([INPUT, "MatMulV2 8,64;64,64", HEAD, CHOICE] * 9) is None


def test_nothing_recorded_is_nothing_found() -> None:
    assert passes_in([]) is None


TRAINING = ("MatMulV2 64,64;64,192", "FlashAttentionScore -", "MatMulV2 64,64;64,64") * 3
BACKWARD = ("FlashAttentionScoreGrad -", "MatMulV2 64,64;64,64", "ArgMaxV2 8,9999")


def generating(steps: Sequence[Sequence[str]], told: str = "") -> FoundSteps | None:
    """What generates in recorded steps of these events, which begin 10 µs after each other and last 4."""
    events = [(number, one) for number, step in enumerate(steps) for one in step]
    rows = [f"{step} {one} {at * 10_000} 4" for at, (step, one) in enumerate(events) if one != INPUT]
    copies = [f"copy h2d {at * 10_000}" for at, (_, one) in enumerate(events) if one == INPUT]
    kernels = read_table(Kernel, "step op_type input_shapes start_ns duration_us\n" + "\n".join(rows))
    tasks = read_table(DeviceTask, "kind direction start_ns\n" + "\n".join(copies))
    windows = read_table(StepWindow, "step start_ns end_ns\n0 0 1")
    signs = read_table(JobSign, "tells\nbackward")
    run = Run(steps=tuple(range(len(steps))), job=told_job(told, ""))
    found = find_generating_passes(run_of_ranks(run), EngineTables(kernels, None, tasks, windows, signs), None)
    return found.get(0)


def test_what_generates_beside_a_training_has_its_passes_in_each_step() -> None:
    step = [*one_pass(2) * 5, *TRAINING, *BACKWARD]
    found = generating([step] * 2)
    assert found is not None
    assert found.beside_others
    choices = borders_of([*step, *step], CHOICE)
    of_passes = [*choices[:5], *choices[6:11]]  # the sixth is of the training
    assert found.border_ns.tolist() == of_passes
    assert found.sizes.phase.tolist() == [DECODE] * 4 + [-1] + [DECODE] * 4


def test_a_training_that_chooses_by_the_largest_value_generates_nothing() -> None:
    assert generating([[*TRAINING, *BACKWARD] * 5]) is None


def test_steps_of_one_pass_each_hold_no_passes() -> None:
    assert generating([one_pass(2)] * 9) is None


def test_where_the_user_says_that_it_trains_nothing_generates() -> None:
    assert generating([[*one_pass(2) * 5, *TRAINING, *BACKWARD]] * 2, "training") is None


def steps_of(path: Path) -> list[dict[str, object]]:
    return open_profile(path, jobs=1).table(EngineStep).rows()


@pytest.mark.parametrize("export", ["text", "database"])
@pytest.mark.parametrize("level", [0, 1])
def test_passes_that_are_found_are_the_steps_of_the_same_job(shared: SharedCaptures, export: str, level: int) -> None:
    """Of the kernels of one pass all are of one recorded step."""
    told = open_profile(shared.written("healthy", workload="inference", export=export, level=level), jobs=1)
    kernels, tasks = told.table(Kernel), told.table(DeviceTask)
    copies = tasks.texts("kind").isin(["copy"])
    for rank in np.unique(kernels["rank"]).tolist():
        mine = kernels.take(kernels["rank"] == rank).sorted_by("start_ns")
        start = mine["start_ns"]
        end = start + np.rint(mine["duration_us"] * 1e3).astype(np.int64)
        exchanges = tasks["start_ns"][copies & (tasks["rank"] == rank)]
        found = find_passes(start, end, work_of_passes(mine), choices_of_tokens(mine), exchanges)
        assert found is not None
        inside = np.searchsorted(found.border_ns, start, side="right") - 1
        steps = [np.unique(mine["step"][inside == one]).tolist() for one in range(len(found))]
        assert [len(one) for one in steps] == [1] * len(found)
        assert [one[0] for one in steps] == np.unique(mine["step"])[1:].tolist()


@pytest.mark.parametrize("export", ["text", "database"])
def test_an_engine_that_marks_nothing_has_its_steps_told(shared: SharedCaptures, export: str) -> None:
    rows = steps_of(shared.written("healthy", workload="inference", export=export, steps=False))
    assert [(row["rank"], row["engine_phase"], row["by"], row["steps"]) for row in rows] == [
        (0, "decode", "repetition", 5), (1, "decode", "repetition", 5)
    ]  # fmt: skip
    assert all(row["requests"] == row["tokens"] == 32 for row in rows)


@pytest.mark.parametrize("workload", ["inference", "dense"])
def test_recorded_steps_are_never_replaced(shared: SharedCaptures, workload: str) -> None:
    assert steps_of(shared.written("healthy", workload=workload)) == []


def test_a_training_has_no_engine(shared: SharedCaptures) -> None:
    assert steps_of(shared.written("healthy", workload="dense", steps=False)) == []


@pytest.mark.parametrize("name", TRAINED)
def test_real_steps_are_never_replaced(real_data: Path, name: str) -> None:
    if not (real_data / name).exists():
        pytest.skip("this capture is not in the folder of real data")
    profile = open_profile(real_data / name, jobs=1)
    assert profile.run.steps
    assert profile.table(EngineStep).rows() == []


@pytest.mark.parametrize(("name", "requests", "tokens"), SERVING)
def test_the_layers_of_one_real_pass_are_no_passes(
    real_data: Path, tmp_path: Path, name: str, requests: int, tokens: int
) -> None:
    trace = real_data / "gpu_kineto_models" / f"{name}.json.gz"
    if not trace.is_file():
        pytest.skip("this capture is not in the folder of real data")
    for times in (1, 2):
        with pytest.raises(FactMissing):
            steps_of(write_repeated(trace, tmp_path, times))


def serving(folder: Path, **changes: Any) -> Path:
    """The server of the corpus, changed, as a capture without steps."""
    setup = setup_of("healthy", "inference")
    workload = replace(cast("Decoder", setup.workload), **changes)
    return corpus.write(corpus.job("healthy", 1, setup=replace(setup, workload=workload)), folder, steps=False)


def test_a_capture_whose_steps_nothing_tells_is_not_called_fine(tmp_path: Path) -> None:
    """With two passes what repeats is not clear: the rule did not look, and says what to record."""
    outcomes = diagnose(open_profile(serving(tmp_path, steps=2), jobs=1), load_rules()).outcomes
    (outcome,) = (one for one in outcomes if one.rule == "host/engine-gaps")
    assert outcome.outcome == "skipped"
    assert outcome.reason is not None
    assert "record five engine steps or more" in outcome.reason.en


def test_prompts_among_tokens_are_told_apart(tmp_path: Path) -> None:
    rows = steps_of(serving(tmp_path, steps=9, prefill_every=3))
    told = [(row["engine_phase"], row["steps"], row["requests"], row["tokens"]) for row in rows if row["rank"] == 0]
    assert told == [("prefill", 2, 1, 512), ("decode", 6, 32, 32)]


@pytest.mark.parametrize(("name", "requests", "tokens"), SERVING)
def test_real_passes_that_repeat_are_found_with_their_sizes(
    real_data: Path, tmp_path: Path, name: str, requests: int, tokens: int
) -> None:
    """Sizes are those that the marks of the engine name, which were taken away."""
    trace = real_data / "gpu_kineto_models" / f"{name}.json.gz"
    if not trace.is_file():
        pytest.skip("this capture is not in the folder of real data")
    (row,) = steps_of(write_repeated(trace, tmp_path, 6))
    assert (row["by"], row["steps"], row["requests"], row["tokens"]) == ("repetition", 5, requests, tokens)
    assert row["engine_phase"] == "prefill"


def test_a_capture_without_kernels_says_nothing() -> None:
    empty = Table.empty(Kernel)
    assert not len(work_of_passes(empty).rows)
    assert not len(choices_of_tokens(empty))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*LAYER, HEAD, CHOICE, "aten::addmm 4;8,64;64,9", "MatMulV2 -"]),
            st.integers(-(2**62), 2**62) | st.integers(0, 50),
            st.floats(allow_nan=True, allow_infinity=True),
        ),
        max_size=40,
    ),
    st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 50), max_size=5),
)
def test_no_kernels_end_it(kernels: list[tuple[str, int, float]], copies: list[int]) -> None:
    """Nor do moments and lengths that no device has; what is found are never more passes than choices of tokens."""
    names, starts, lengths = zip(*kernels, strict=True) if kernels else ((), (), ())
    types, shapes = zip(*(one.split() for one in names), strict=True) if names else ((), ())
    given_shapes = Texts.of(None if one == "-" else one for one in shapes)
    table = Table.build(
        Kernel, op_type=Texts.of(types), input_shapes=given_shapes,
        start_ns=np.array(starts, np.int64), duration_us=np.array(lengths, float),
    )  # fmt: skip
    tasks = Table.build(DeviceTask, kind=Texts.constant("copy", len(copies)), start_ns=np.array(copies, np.int64))
    try:
        told = EngineTables(table, None, tasks, None, None)
        rows = engine_steps(run_of_ranks(Run()), Table.empty(Gap), told, None).rows()
    except FactMissing:
        return
    assert 3 <= sum(cast("float", row["steps"]) for row in rows) < len(kernels) or not rows


def test_a_server_that_schedules_step_after_step_is_told_so(tmp_path: Path) -> None:
    """Without a single mark; its twin, which schedules while the device is busy, is told nothing."""
    found, rules = {}, load_rules().select(["host/engine-gaps", "capture/*"])
    for name, us in (("ahead", 300.0), ("behind", 30_000.0)):
        folder = serving(tmp_path / name, steps=9, schedule_us=us)
        findings = judge_profile(open_profile(folder, jobs=1), rules, shown=()).findings
        found[name] = [one for one in findings if one.rule == "host/engine-gaps"]
    assert found["ahead"] == []
    (behind,) = found["behind"]
    assert (behind.subject["engine_phase"], behind.confidence) == ("decode", Confidence.low)
    assert 0.4 * 30_000 < next(one.value for one in behind.evidence if one.name == "typical_idle_us") < 31_000
