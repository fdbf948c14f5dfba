# SPDX-License-Identifier: Apache-2.0
"""What follows from the modules of a rank: which of them leads, and the operators of those that were taken together."""

from __future__ import annotations

from advisor.model.modules import ModelPass, ModuleNode, OperatorRow, RankModules


def _node(path: str, total_us: float, *, step_share: float | None = None) -> ModuleNode:
    name = path.rpartition("/")[2]
    return ModuleNode(path, name, path.count("/"), 1, 1.0, total_us, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, step_share)


def _row(kernels: str, total_us: float, mfu: float | None, phase: ModelPass = "forward") -> OperatorRow:
    return OperatorRow("", "layers.0", "layers.*", phase, "linear", kernels, 2, total_us, total_us / 2, mfu)


def _rank(*nodes: ModuleNode, operators: tuple[OperatorRow, ...] = ()) -> RankModules:
    return RankModules(0, "mark", 1, 0, 0, 1.0, 1.0, nodes, operators)


def test_the_innermost_module_with_most_of_the_time_around_it_leads() -> None:
    inner = (_node("model/layers", 60), _node("model/layers/mlp", 20), _node("model/layers/attention", 25))
    leading = _rank(_node("", 500), _node("model", 100), *inner).leading
    assert leading is not None
    assert leading.path == "model/layers"


def test_nothing_leads_where_nothing_lies_in_a_module() -> None:
    assert _rank(_node("", 500)).leading is None


def test_a_share_is_that_of_the_kernel_time_where_no_step_is_known() -> None:
    assert (_node("model", 1, step_share=0.5).share, _node("model", 1).share) == (0.5, 0.25)


def test_rows_with_the_same_kernels_in_the_same_pass_are_one_operator() -> None:
    rows = (_row("MatMul", 30, 0.6), _row("Add", 1, None), _row("MatMul", 10, 0.2), _row("MatMul", 5, None, "backward"))
    merged = _rank(operators=rows).operators_of("layers.*")
    assert [(one.row.kernels, one.calls, one.total_us, one.mfu) for one in merged] == [
        ("MatMul", 4, 40, 0.5),
        ("Add", 2, 1, None),
        ("MatMul", 2, 5, None),
    ]
    assert _rank(operators=rows).operators_of("head") == ()
