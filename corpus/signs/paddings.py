# SPDX-License-Identifier: Apache-2.0
"""Signs of tensors that are padded while a model runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import corpus
from corpus import program as do
from corpus.cases import setup_of
from corpus.events import KernelInfo, Layout
from corpus.operators import tensors
from corpus.program import Instruction, Launch
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered, about
from corpus.transformer import Transformer

_MODEL = Transformer(layers=6, hidden=1280, sequence=1024, host_us=30.0, trimmings=True)
_HEADS = (_MODEL.batch, _MODEL.sequence, _MODEL.hidden // 128, 128)
"""Queries, as attention reads them: heads of 128 values each."""
_US = 60.0


def _moved(op: str, kind: str, given: tuple[int, ...], gives: tuple[int, ...]) -> Launch:
    info = KernelInfo(kind, "AI_VECTOR_CORE", 40, 0, tensors(given), tensors(gives))
    api = f"aclnn{op.rpartition('::')[2].title().replace('_', '')}"
    return Launch(op, api, (do.Kernel(f"{api}_{kind}AiCore_{kind}", _US, info),), _MODEL.host_us)


def _padded(given: tuple[int, ...]) -> Write:
    """Queries, keys and values of each forward attention are padded from this shape, and its result is cut to it."""

    def step(instructions: Iterator[Instruction], number: int) -> Iterator[Instruction]:
        for one in instructions:
            attends = isinstance(one, Launch) and one.op == "npu::npu_fusion_attention"
            if attends:
                yield from (_moved("aten::constant_pad_nd", "PadV3", given, _HEADS),) * 3
            yield one
            if attends:
                yield _moved("aten::slice", "StridedSliceD", _HEADS, given)

    def written(folder: Path) -> None:
        setup = replace(setup_of("healthy", "light"), layout=Layout(), workload=Altered(_MODEL, step))
        corpus.write(corpus.job("healthy", 11, setup=setup), folder)

    return written


SIGNS: Mapping[str, Sign] = {
    "compute/run-time-padding": Sign(  # tokens are padded to a whole number in the twin, as long
        spoiled=_padded((*_HEADS[:-1], 120)),
        twin=_padded((_HEADS[0], _HEADS[1] - 8, *_HEADS[2:])),
        shows={
            "padded_calls": 18,
            "padding_us": about(24 * _US, 0.02),
            "cuts_us": about(6 * _US, 0.02),
            "used": "FlashAttentionScore",
            "narrow": 120,
            "wide": 128,
        },
    ),
}
