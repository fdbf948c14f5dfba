# SPDX-License-Identifier: Apache-2.0
"""Signs of an engine whose decode steps replay graphs: sizes that none was captured for, pieces, and updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import corpus
from corpus import program as do
from corpus.cases import setup_of
from corpus.events import Layout
from corpus.inference import SERVER, Decoder
from corpus.program import Instruction
from corpus.replayed_steps import PIECES, UPDATED, WHOLE, replay_steps
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered

_LIGHT = Decoder(
    steps=16, hidden=1280, inner=6912, heads=10, cached_heads=2, requests=8, context=512, vocabulary=32000, prompt=64
)
"""A layer of it takes the device some 150 µs."""
_QUICK = replace(SERVER, enqueue_us=0.5, dequeue_us=5.0, launch_us=1.0)
"""Kernels of a graph follow each other without a launch of their own."""
_LARGER = 4
"""Of so many decode steps one has a batch that is larger than all that a graph was captured for."""


def _fits(number: int) -> bool:
    """Whether a graph was captured for the batch of a step; the first one reads prompts."""
    return number > 0 and number % _LARGER != _LARGER - 1


def _replaying(how: str, attention_us: float, eager_us: float = 0.0) -> Write:
    """A decoder that launches its kernels as fast as a graph does, but for attention, which takes the host so long to
    prepare each time, and for steps without a graph, of which launching each kernel does; 0 where all have one."""

    def step(instructions: Iterator[Instruction], number: int) -> Iterator[Instruction]:
        if eager_us and not _fits(number):
            yield from replace(_LIGHT, requests=_LIGHT.requests * 2, host_us=eager_us).step(Layout(), 0, number)
            return
        for instruction in instructions:
            if isinstance(instruction, do.Launch):
                attends = "fused_infer_attention" in instruction.op
                yield replace(instruction, host_us=attention_us if attends else 0.3)
            else:
                yield instruction

    def written(folder: Path) -> None:
        workload = Altered(_LIGHT, step)
        setup = replace(setup_of("healthy", "inference"), layout=Layout(), machine=_QUICK, workload=workload)
        corpus.write(corpus.job("healthy", 1, setup=setup), folder, steps=False)
        replay_steps(folder, _fits if eager_us else lambda number: number > 0, how)

    return written


SIGNS: Mapping[str, Sign] = {
    "host/missed-graph-sizes": Sign(  # in the twin the host keeps ahead without a graph, too
        spoiled=_replaying(WHOLE, 0.3, eager_us=60.0),
        twin=_replaying(WHOLE, 0.3, eager_us=2.0),
        shows={"least_eager": 16, "decode_steps": 15},
    ),
    "host/piecewise-decode": Sign(  # in the twin the host keeps ahead of the pieces
        spoiled=_replaying(PIECES, 300.0),
        twin=_replaying(PIECES, 40.0),
        shows={"graphs_per_step": 13, "replaying_steps": 15},
    ),
    "host/graph-updates": Sign(  # in the twin the host updates a layer before the device gets there
        spoiled=_replaying(UPDATED, 300.0),
        twin=_replaying(UPDATED, 40.0),
        shows={"replaying_steps": 15},
    ),
}
