# SPDX-License-Identifier: Apache-2.0
"""The line of the user's program behind a finding."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import advisor
from advisor.analysis.modules.operator_stacks import operator_stacks
from advisor.engine.module_places import Named
from advisor.engine.user_line import user_line, with_lines
from advisor.facts.derived import OperatorStack, PatternOperator, TypeOperator
from advisor.facts.observed import OperatorCall
from advisor.facts.profile import Profile
from advisor.facts.table import Table, read_table
from advisor.model.findings import CodeLine, Confidence, Finding, Head, Place, Rows, Severity
from tests.shared_captures import SharedCaptures

LIBRARY = (
    "/usr/local/lib/python3.11/site-packages/torch/_ops.py(692): __call__",
    "/opt/conda/lib/python3.9/multiprocessing/process.py(108): run",
    "C:\\Python311\\lib\\site-packages\\torch\\nn\\modules\\module.py(1): _call_impl",
    "/usr/lib/python3/dist-packages/numpy/core.py(3): f",
    "torch/nn/modules/module.py(1553): _call_impl",
    "threading.py(973): _bootstrap",
    "<string>(1): <module>",
    "<frozen runpy>(88): _run_code",
    "<built-in method run_backward of torch._C._EngineBase object at 0xfffd>",
    "",
)
CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"


def finding(*calls: str | None, rank: int = 0, column: str = "call") -> Finding:
    """A finding whose rows name these host calls."""
    return Finding(
        rule="host/x",
        fingerprint="0" * 16,
        severity=Severity.high,
        confidence=Confidence.high,
        seen=(Place(rank=rank),),
        excerpt=Rows(columns=(Head(name="step"), Head(name=column)), rows=tuple((1, call) for call in calls)),
    )


def operators(*rows: tuple[int, str, str | None, float]) -> Table[OperatorStack]:
    """What is known of calls, given as rank, name, stack and host time."""
    rank, name, stack, us = zip(*rows, strict=True)
    return operator_stacks(Table.build(OperatorCall, rank=rank, name=name, call_stack=stack, host_total_us=us))


def line_of(one: Finding, table: Table[OperatorStack] | None) -> CodeLine | None:
    """The line, from the calls themselves and from what is known of operators."""
    return with_lines([one], table)[0].source


def test_the_innermost_frame_that_is_no_library_is_the_users() -> None:
    frames = [*LIBRARY, "/job/pkg/model.py(40): forward", "/job/train.py(61): train_step"]
    assert user_line(frames) == CodeLine(file="/job/pkg/model.py", line=40, function="forward")


@pytest.mark.parametrize("frame", LIBRARY)
def test_a_library_is_never_the_user(frame: str) -> None:
    assert user_line([frame]) is None


@pytest.mark.parametrize("frame", ["torch_model.py(3): f", "my/torch_ext/a.py(3): f", "/home/u/libpython/a.py(3): f"])
def test_what_is_called_like_a_library_is_still_the_users(frame: str) -> None:
    assert user_line([frame]) is not None


def test_of_an_operator_it_is_the_line_that_takes_most_host_time() -> None:
    table = operators(
        (0, "aten::item", "a.py(1): f;train.py(9): g", 5.0),
        (0, "aten::item", "b.py(2): f;train.py(9): g", 4.0),
        (0, "aten::item", "torch/x.py(1): y;b.py(2): f", 4.0),
        (0, "aten::add", "c.py(3): f", 100.0),
        (0, "aten::item", None, 900.0),
    )
    assert line_of(finding("aten::item"), table) == CodeLine(file="b.py", line=2, function="f")


def test_the_worst_rank_is_asked_first_and_others_where_it_was_not_recorded() -> None:
    table = operators((0, "aten::item", "a.py(1): f", 1.0), (1, "aten::item", "b.py(2): f", 50.0))
    assert line_of(finding("aten::item", rank=0), table) == CodeLine(file="a.py", line=1, function="f")
    assert line_of(finding("aten::item", rank=7), table) == CodeLine(file="b.py", line=2, function="f")


def test_a_python_frame_is_its_own_line_without_any_stack() -> None:
    assert line_of(finding(None, "model.py(50): build_mask"), None) == CodeLine(
        file="model.py", line=50, function="build_mask"
    )


def test_the_first_call_with_a_line_of_the_user_counts() -> None:
    table = operators((0, "aten::mul", "torch/a.py(1): f", 9.0), (0, "aten::item", "a.py(1): f", 1.0))
    assert line_of(finding("aclrtMemcpy", "aten::mul", "aten::item"), table) == CodeLine(
        file="a.py", line=1, function="f"
    )


def costing(*rows: tuple[str | None, float], column: str = "lost_us") -> Finding:
    """A finding whose rows name these host calls with what they cost."""
    heads = (Head(name="call"), Head(name=column))
    return finding().model_copy(update={"excerpt": Rows(columns=heads, rows=rows)})


UPDATE, EXECUTE = "vllm/v1/engine/detokenizer.py(96): update", "vllm/v1/worker/gpu_model_runner.py(33): execute_model"


@pytest.mark.parametrize("column", ["lost_us", "duration_us", "idle_us"])
def test_a_frame_that_makes_up_little_of_the_finding_is_not_where_it_is_called_from(column: str) -> None:
    def line(*rows: tuple[str | None, float]) -> str | None:
        found = line_of(costing(*rows, column=column), None)
        return found and found.function

    assert line((None, 40.9), (EXECUTE, 1.1)) is None  # the time lies between calls
    assert line((None, 10.0), (UPDATE, 6.0), (EXECUTE, 6.0)) is None
    assert line((UPDATE, 30.0), (None, 10.0), (EXECUTE, 1.0)) == "update"
    assert line(("threading.py(973): run", 90.0), (EXECUTE, 1.0)) is None
    assert line(("threading.py(973): run", 60.0), (EXECUTE, 6.0), (EXECUTE, 5.0)) == "execute_model"  # in two steps
    assert line(("threading.py(973): run", 0.0), (EXECUTE, 0.0)) == "execute_model"  # nothing tells what they cost


def test_without_stacks_or_calls_there_is_no_line() -> None:
    assert line_of(finding("aten::item"), operators((0, "aten::item", None, 1.0))) is None
    assert line_of(finding("aten::item"), None) is None
    assert line_of(finding("aten::item", column="name"), operators((0, "aten::item", "a.py(1): f", 1.0))) is None
    assert line_of(finding("aclrtMemcpy"), operators((0, "aclrtMemcpy", "a.py(1): f", 1.0))) is None


def test_calls_of_one_operator_under_one_stack_are_handed_on_as_one_row() -> None:
    stack = "a.py(1): f"
    table = operators(*[(0, "aten::item", stack, 1.5)] * 40, (0, "aten::mul", stack, 1.0), (0, "aten::item", None, 9.0))
    said = [(row["name"], row["call_stack"], row["calls"], row["host_total_us"]) for row in table.rows()]
    assert said == [("aten::item", stack, 40, 60.0), ("aten::mul", stack, 1, 1.0)]


@settings(max_examples=50)
@given(st.lists(st.text() | st.sampled_from(["x.py(0): f", "x.py(99999999999999): f", "x.py(1)", ";", "a.py(1):"])))
def test_any_frames_give_a_line_or_none(frames: list[str]) -> None:
    line = user_line(frames)
    assert line is None or line.line > 0


def test_a_capture_without_stacks_never_has_its_operators_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Path(shutil.copytree(CASE, tmp_path / "prof"))
    for info in capture.rglob("profiler_info_*.json"):
        info.write_text(info.read_text("utf-8").replace('"with_stack": true', '"with_stack": false'), "utf-8")
    asked = []
    real = Profile.prepare
    monkeypatch.setattr(Profile, "prepare", lambda self, wanted: asked.extend(w := [*wanted]) or real(self, w))
    advisor.diagnose(capture)
    assert asked
    assert OperatorCall not in [one if isinstance(one, type) else one.fact for one in asked]


@pytest.mark.parametrize("export", ["text", "database"])
def test_a_fault_of_the_corpus_is_traced_to_the_line_that_holds_it(export: str, shared: SharedCaptures) -> None:
    found = shared.diagnosed("synchronise-per-layer", export=export)
    lines = {one.rule: one.source for one in found.findings}
    for rule in ("host/device-to-host-reads", "host/synchronising-calls"):
        line = lines[rule]
        assert line is not None
        assert (line.file, line.line, line.function) == ("model.py", 20, "forward")


@pytest.mark.parametrize("kind", ["text", "db"])
def test_both_exports_of_a_real_capture_name_the_same_line(kind: str, real_data: Path, shared: SharedCaptures) -> None:
    found = shared.diagnosis(real_data / "msinsight_pytorch_matrix" / kind / "level1")
    lines = {one.rule: one.source for one in found.findings if one.source}
    assert {(rule, Path(line.file).name, line.function) for rule, line in lines.items()} == {
        ("host/python-bound", "main.py", "train")
    }


TYPES = read_table(
    TypeOperator,
    """
    rank op_type operator     total_us type_share
    0    MatMul  aten::mm     60       0.6
    0    MatMul  aten::linear 35       0.35
    0    MatMul  aten::bmm    5        0.05
    1    MatMul  aten::bmm    9        1
    0    Cast    aten::to     10       1
    """,
)
CALLS = Table.build(
    OperatorStack,
    rank=[0, 0, 0, 0, 1, 0],
    name=["aten::mm", "aten::mm", "aten::linear", "aten::bmm", "aten::bmm", "aten::to"],
    call_stack=["a.py(1): f", "b.py(2): f", "b.py(2): f", "c.py(3): f", "d.py(4): f", "torch/x.py(1): y"],
    host_total_us=[900.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    device_self_us=[30.0, 30.0, 35.0, 900.0, np.nan, 5.0],
)


def line_of_kernels(op_type: str, rank: int = 0, table: Table[OperatorStack] = CALLS) -> CodeLine | None:
    one = finding(rank=rank).model_copy(update={"rule": "compute/x"})
    return with_lines([one], table, TYPES, {"compute/x": Named("op_type", op_type)})[0].source


def test_kernels_are_called_from_the_line_whose_operators_take_most_of_their_device_time() -> None:
    """Half of 60 and all of 35 come from b.py, whatever the host spends in a.py; 5 % are no place to look at."""
    assert line_of_kernels("MatMul") == CodeLine(file="b.py", line=2, function="f")
    assert line_of_kernels("MatMul", rank=1) == CodeLine(file="d.py", line=4, function="f")


def test_where_no_device_time_was_recorded_the_host_time_of_the_operators_counts() -> None:
    found = line_of_kernels("MatMul", table=CALLS.having(device_self_us=np.zeros(len(CALLS))))
    assert found == CodeLine(file="a.py", line=1, function="f")


WITH_INPUTS = read_table(
    TypeOperator,
    """
    rank op_type input_shapes operator  total_us
    0    MatMul  8,8;16,8     aten::mm  60
    0    MatMul  8,8;99,8     aten::mm  40
    0    Conv2D  1,3,8,8      aten::cv  60
    0    Conv2D  2,3,8,8      aten::cv  40
    """,
)
CALLS_WITH_INPUTS = Table.build(
    OperatorStack,
    rank=0,
    name=["aten::mm", "aten::mm", "aten::mm", "aten::cv", "aten::cv"],
    input_shapes=["8,8;8,16", "8,8;8,99;;", None, "1,3,8", "2,3,8"],
    call_stack=["mlp.py(1): f", "head.py(2): f", "x.py(3): f", "a.py(4): f", "b.py(5): f"],
    host_total_us=1.0,
    device_self_us=[60.0, 40.0, 900.0, 60.0, 40.0],
)


def file_of_shapes(op_type: str, *shapes: str, calls: Table[OperatorStack] = CALLS_WITH_INPUTS) -> str | None:
    heads = (Head(name="op_type"), Head(name="input_shapes"))
    told = Rows(columns=heads, rows=tuple((op_type, shape) for shape in shapes))
    (found,) = with_lines([finding().model_copy(update={"rule": "compute/x", "excerpt": told})], calls, WITH_INPUTS)
    return found.source and found.source.file


def test_kernels_of_some_inputs_are_called_from_where_their_operator_was_given_these_transposed_or_not() -> None:
    assert file_of_shapes("MatMul", "8,8;99,8") == "head.py"
    assert file_of_shapes("MatMul", "8,8;16,8") == "mlp.py"


def test_where_nothing_tells_which_calls_had_these_inputs_a_line_is_known_only_if_there_is_one() -> None:
    assert file_of_shapes("Conv2D", "2,3,8,8") is None
    assert file_of_shapes("Conv2D", "1,3,8,8", "2,3,8,8") == "a.py"  # all of the type
    alone = CALLS_WITH_INPUTS.take(CALLS_WITH_INPUTS.texts("call_stack").isin(["b.py(5): f"]))
    assert file_of_shapes("Conv2D", "2,3,8,8", calls=alone) == "b.py"


def test_kernels_that_only_libraries_call_or_nobody_knows_have_no_line() -> None:
    assert line_of_kernels("Cast") is line_of_kernels("Conv2D") is None
    one = finding().model_copy(update={"subject": {"op_type": "MatMul"}})
    assert with_lines([one], CALLS)[0].source is None


PATTERNS = read_table(
    PatternOperator,
    """
    rank pattern operator     total_us operator_share
    0    norm    aten::mm     90       0.89
    0    norm    aten::linear 60       0.9
    0    norm    aten::bmm    50       1
    1    norm    aten::bmm    9        1
    0    rotary  aten::mm     90       0.2
    """,
)


def test_a_chain_is_traced_to_operators_that_hardly_launch_anything_else() -> None:
    """`aten::mm` takes most of the time of these chains, and nobody knows which of its calls are theirs."""

    def line_of_chain(pattern: str, rank: int = 0) -> CodeLine | None:
        one = finding(rank=rank).model_copy(update={"subject": {"pattern": pattern}})
        return with_lines([one], CALLS, TYPES, patterns=PATTERNS)[0].source

    assert line_of_chain("norm") == CodeLine(file="b.py", line=2, function="f")
    assert line_of_chain("norm", rank=1) == CodeLine(file="d.py", line=4, function="f")
    assert line_of_chain("rotary") is line_of_chain("swiglu") is None


def test_a_finding_about_operators_names_the_line_of_a_whole_capture(shared: SharedCaptures) -> None:
    found = {one.rule: one.source for one in shared.diagnosed("cast-excess").findings}
    assert found["compute/top-operators"] == CodeLine(file="model.py", line=43, function="forward")
