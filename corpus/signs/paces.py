# SPDX-License-Identifier: Apache-2.0
"""Signs of what takes the time of a step: when kernels are slow, in which module, and which type leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import corpus
from corpus.cases import setup_of
from corpus.events import Job, Layout
from corpus.program import Begin, End, Enter, Instruction, Launch, Leave
from corpus.signs import Sign, Write
from corpus.signs.captures import Row, about, edit_rows, job, write
from corpus.transformer import Transformer


@cache
def _paced(paces: tuple[tuple[int, float], ...]) -> Job:
    """Seven steps of a small model on one device; in the steps of these numbers kernels take so many times as long."""
    setup = setup_of("healthy", "single")
    workload = replace(setup.workload, layers=2, hidden=2048, sequence=1024, steps=7)
    return corpus.job(
        "healthy", 11, setup=replace(setup, workload=workload, machine=replace(setup.machine, paces=dict(paces)))
    )


def _pace(*steps: int, slower: float) -> Write:
    def written(folder: Path) -> None:
        corpus.write(_paced(tuple((step, slower) for step in steps)), folder)

    return written


@cache
def _light(norm: float, rotary: float, host: float) -> Job:
    """Six layers on one device, of which such parts have their norms and rotary embeddings in plain operators; the host
    takes so many times as long."""
    setup = setup_of("healthy", "light")
    workload = replace(setup.workload, unfused={"norm": norm, "rotary": rotary})
    machine = replace(setup.machine, host_scale={0: host})
    return corpus.job("healthy", 11, setup=replace(setup, workload=workload, machine=machine, layout=Layout()))


def _on_one_device(norm: float = 0.0, rotary: float = 0.0, host: float = 1.0) -> Write:
    def written(folder: Path) -> None:
        corpus.write(_light(norm, rotary, host), folder)

    return written


@dataclass(frozen=True, slots=True)
class _Checkpointed(Transformer):
    """A model whose last layer runs again before its backward pass, in a call of torch.utils.checkpoint; of that layer
    only the operators that are named."""

    again: tuple[str, ...] = ()

    def step(self, layout: Layout, rank: int, number: int) -> Iterator[Instruction]:
        layer: list[Instruction] = []
        depth = 0
        for instruction in Transformer.step(self, layout, rank, number):
            if isinstance(instruction, Enter):
                starts = instruction.name.startswith("layers.")
                layer, depth = ([], 1) if starts else (layer, depth + (depth > 0))
            elif isinstance(instruction, Leave):
                depth = max(0, depth - 1)
            elif isinstance(instruction, Launch):
                if layer and instruction.op == "npu::npu_fusion_attention_grad":
                    yield Begin("autograd::engine::evaluate_function: CheckpointFunctionBackward")
                    yield Begin("CheckpointFunctionBackward")
                    yield from layer
                    yield from (End(), End())
                    layer = []
                elif depth and instruction.op in self.again:
                    layer.append(instruction)
            yield instruction


@cache
def _checkpointed(again: tuple[str, ...]) -> Job:
    setup = setup_of("healthy", "light")
    workload = _Checkpointed(layers=2, hidden=1280, sequence=1024, again=again)
    return corpus.job("healthy", 11, setup=replace(setup, workload=workload, layout=Layout()))


def _run_again(*operators: str) -> Write:
    def written(folder: Path) -> None:
        corpus.write(_checkpointed(operators), folder)

    return written


def _with_modules(folder: Path) -> None:
    base = job("healthy-light")
    corpus.write(replace(base, ranks=base.ranks[:1]), folder, modules=True)


def _with_modules_apart(folder: Path) -> None:
    """Each layer is a module by another name, and none holds them all."""
    base = job("healthy-light")
    first = base.ranks[0]
    layers = {f"layers.{number}": name for number, name in enumerate(("stem", "low", "middle", "high", "top", "neck"))}
    modules = [replace(call, name=layers.get(call.name, call.name)) for call in first.modules if call.name != "model"]
    corpus.write(replace(base, ranks=[replace(first, modules=modules)]), folder, modules=True)


def _totals(parts: int) -> Write:
    """Nothing but totals: those of the products as one type, or under so many names."""

    def apart(rows: list[Row]) -> None:
        for row in [row for row in rows if row["OP Type"] == "MatMulV3"]:
            for name in ("Total Time(us)", "Ratio(%)"):
                row[name] = str(round(float(row[name]) / parts, 3))
            rows += [{**row, "OP Type": name} for name in ("MatMulV2", "MatMul", "BatchMatMulV2")[: parts - 1]]

    def written(folder: Path) -> None:
        write(folder, totals=True)
        edit_rows(folder, "op_statistic.csv", apart)

    return written


_TICKS_PER_MS = 100_000
"""Ticks of 10 ns, in which MindSpore Insight counts."""


def _tail(reduced_ms: int) -> Write:
    """Four steps of 100 ms, of which 20 come after the backward pass; so much of that is an AllReduce."""

    def written(folder: Path) -> None:
        names = ["step_num", "start_point", "end_point", "total", "fp_point", "bp_point", "iteration_interval"]
        names += ["fp_and_bp", "tail", *(f"stream_5_parallel_0{end}" for end in ("_start_point", "_end_point", ""))]
        lines: list[list[int]] = []
        for number in range(1, 5):
            points = (0, 100, 100, 1 if number > 1 else 0, 80, 1 if number > 1 else 0, 79 if number > 1 else 80, 20)
            ticks = [place * _TICKS_PER_MS for place in (*points, 81, 81 + reduced_ms, reduced_ms)]
            begin = (1_000 + 100 * number) * _TICKS_PER_MS
            moments = [begin * (at in {0, 1, 3, 4, 8, 9}) + tick for at, tick in enumerate(ticks)]
            lines.append([number, *moments])
        folder.mkdir()
        _, *means = (sum(column) // len(column) for column in zip(*lines[1:], strict=True))
        rows = [names, *([str(value) for value in line] for line in lines), ["-", *(str(mean) for mean in means)]]
        text = "\n".join(",".join(row) for row in rows)
        (folder / "step_trace_raw_0_detail_time.csv").write_text(text + "\n", encoding="utf-8")

    return written


SIGNS: Mapping[str, Sign] = {
    "compute/leading-module": Sign(
        spoiled=_with_modules, twin=_with_modules_apart, shows={"leading": "model/layers.*/mlp", "alike": 6}
    ),
    "compute/leading-operator": Sign(
        spoiled=_totals(1), twin=_totals(4), shows={"top_type": "MatMulV3", "top_share": about(0.633)}
    ),
    "compute/long-tail": Sign(spoiled=_tail(4), twin=_tail(14), shows={"update_part": about(0.16)}),
    "compute/recomputation": Sign(
        spoiled=_run_again("aten::matmul", "npu::npu_rms_norm", "npu::npu_swiglu"),
        twin=_run_again("npu::npu_rms_norm"),
        shows={"seen": "checkpoint", "again": 7, "recompute_us": about(924, 0.02)},
    ),
    "compute/several-chains": Sign(
        spoiled=_on_one_device(norm=0.17, rotary=0.17),
        twin=_on_one_device(norm=0.17),
        shows={"kinds": 2, "top_kind": "norm", "chains_per_step": 8},
    ),
    "compute/top-operators": Sign(
        spoiled=_on_one_device(),
        twin=_on_one_device(host=2.5),
        shows={"top_type": "MatMulV3", "top_share": about(0.617)},
    ),
    "compute/slowed-steps": Sign(
        spoiled=_pace(15, 16, 17, slower=1.25),
        twin=_pace(15, 16, 17, slower=1.08),
        shows={"slow_count": 3, "compared_count": 6, "since_step": 15, "times_as_long": about(1.25, 0.02)},
    ),
}
