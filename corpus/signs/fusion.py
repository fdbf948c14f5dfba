# SPDX-License-Identifier: Apache-2.0
"""Signs of small operators in the place of a fused one, in the database export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import corpus
from corpus.cases import setup_of
from corpus.events import Job, Layout
from corpus.operators import vector
from corpus.program import Instruction, Launch
from corpus.signs import Sign, Write
from corpus.signs.captures import about
from corpus.transformer import Transformer

Chain = tuple[tuple[str, str, int], ...]
"""Framework operator, operator type and how many tensors it reads."""


@dataclass(frozen=True, slots=True)
class _PlainGate(Transformer):
    """A model that gates its feed-forward networks by these operators, and so for their gradient."""

    forward: Chain = ()
    backward: Chain = ()

    def step(self, layout: Layout, rank: int, number: int) -> Iterator[Instruction]:
        gate = (self.batch * self.sequence, 5 * self.hidden // 2)
        for instruction in Transformer.step(self, layout, rank, number):
            op = instruction.op if isinstance(instruction, Launch) else ""
            if op in {"npu::npu_swiglu", "npu::npu_swiglu_backward"}:
                for name, kind, inputs in self.forward if op == "npu::npu_swiglu" else self.backward:
                    yield vector(name, kind, gate, self.host_us, inputs=inputs)
            else:
                yield instruction


@cache
def _gated(forward: Chain, backward: Chain) -> Job:
    setup = setup_of("healthy", "light")
    workload = _PlainGate(
        layers=6, hidden=1280, sequence=1024, host_us=30.0, trimmings=True, forward=forward, backward=backward
    )
    return corpus.job("healthy", 11, setup=replace(setup, workload=workload, layout=Layout()))


def _gate(forward: Chain, backward: Chain) -> Write:
    def written(folder: Path) -> None:
        corpus.write(_gated(forward, backward), folder, export="database")

    return written


_TIMES = ("aten::mul", "Mul", 2)


def _product(activation: str, kind: str) -> Write:
    """One half of what the first product gives, through an activation, times the other half."""
    gradient = (f"aten::{activation}_backward", f"{kind}Grad", 2)
    return _gate(((f"aten::{activation}", kind, 1), _TIMES), (_TIMES, _TIMES, gradient))


def _polynomial(activation: str, kind: str) -> Write:
    """0.5 x (1 + f(a (x + b x x x))) operator by operator; where f is the hyperbolic tangent, it is GELU."""
    scaled, added = ("aten::mul", "Muls", 1), ("aten::add", "Adds", 1)
    inner: Chain = (scaled, ("aten::pow", "Pow", 1), scaled, ("aten::add", "Add", 2), scaled)
    return _gate((*inner, (f"aten::{activation}", kind, 1), added, _TIMES), ())


SIGNS: Mapping[str, Sign] = {
    "compute/unfused-chain": Sign(
        spoiled=_polynomial("tanh", "Tanh"),
        twin=_polynomial("sin", "Sin"),
        shows={
            "fused_operator": "Gelu",
            "chains_per_step": 6,
            "kernels_per_chain": 8,
            "launches_spared": 42,
            "apart_us": about(6 * (6 * 54 + 2 * 80.2), 0.01),
            "pauses_us": about(42 * 1.1),
        },
    ),
    "compute/unfused-swiglu": Sign(
        spoiled=_product("silu", "Swish"),
        twin=_product("tanh", "Tanh"),
        shows={"chains_per_step": 12, "apart_us": about(6 * (54 + 4 * 80.2), 0.01)},
    ),
}
