# SPDX-License-Identifier: Apache-2.0
"""The healthy jobs: each a workload on a layout of ranks and a machine, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

from corpus.convolution import ConvolutionalNetwork
from corpus.events import Layout
from corpus.experts import MixtureOfExperts
from corpus.inference import SERVER, Decoder
from corpus.program import Instruction, Machine, Step
from corpus.transformer import Transformer
from corpus.troubles import Troubles

_GOOD_ENVIRONMENT = {
    "ASCEND_GLOBAL_LOG_LEVEL": "3",
    "ACLNN_CACHE_LIMIT": "100000",
    "HOST_CACHE_CAPACITY": "20",
    "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
}


class Workload(Protocol):
    """What runs: any frozen dataclass that says what each rank does, and what troubles it."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def steps(self) -> int:
        """How many steps are recorded."""

    @property
    def first_step(self) -> int:
        """The number of the first of them, as the job counts."""

    @property
    def troubles(self) -> Troubles:
        """The faults it has."""

    def step(self, layout: Layout, rank: int, number: int) -> Iterator[Instruction]:
        """What one rank does in one recorded step, counted from 0."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything a simulation needs."""

    workload: Workload = field(default_factory=Transformer)
    layout: Layout = field(default_factory=lambda: Layout(dp=2))
    machine: Machine = field(default_factory=Machine)
    environment: dict[str, str] = field(default_factory=lambda: dict(_GOOD_ENVIRONMENT))
    damage: str = ""
    raw: bool = False
    """Whether what is left of the raw data stays beside the captures."""
    name: str = ""
    """Its name in WORKLOADS."""

    def program(self, rank: int) -> Iterator[Instruction]:
        """Everything one rank does."""
        for number in range(self.workload.steps):
            yield Step(self.workload.first_step + number)
            yield from self.workload.step(self.layout, rank, number)
        yield Step(-1)


_PIPELINE = Transformer(layers=12, batch=2, micro_batches=12, steps=2, vocabulary=1024, trimmings=True)
_INTERLEAVED = Transformer(
    layers=16, chunks=2, hidden=4096, batch=1, micro_batches=16, steps=2, vocabulary=1024, trimmings=True
)
_TENSOR = Transformer(
    layers=2, hidden=8192, batch=2, micro_batches=8, steps=2, vocabulary=8192, pieces=4, trimmings=True
)
_DDP_BUCKET = 25 * 2**20
"""DistributedDataParallel's default for bucket_cap_mb."""
_WORKLOADS: dict[str, Setup] = {
    "dense": Setup(Transformer(trimmings=True), Layout(dp=4)),
    "light": Setup(Transformer(layers=6, hidden=1280, sequence=1024, host_us=60.0, trimmings=True), Layout(dp=4)),
    "tensor": Setup(_TENSOR, Layout(tp=2, dp=2), Machine(link_gbps=28.0)),
    "fused": Setup(replace(_TENSOR, fused_sums=True), Layout(tp=2, dp=2), Machine(link_gbps=28.0)),
    "pipeline": Setup(_PIPELINE, Layout(pp=2, dp=2)),
    "convolution": Setup(ConvolutionalNetwork(), Layout(dp=4)),
    "inference": Setup(Decoder(), Layout(tp=2), SERVER),
    "interleaved": Setup(_INTERLEAVED, Layout(pp=4), Machine(link_gbps=28.0)),
    "experts": Setup(MixtureOfExperts(layers=3, trimmings=True), Layout(dp=4, ep=4)),
    "short": Setup(Transformer(batch=16, sequence=512, trimmings=True), Layout(dp=4)),
    "plain": Setup(Transformer(bucket_bytes=_DDP_BUCKET, trimmings=True), Layout(dp=4, plain=True)),
    "sharded": Setup(Transformer(layers=6, batch=3, sharded=True, trimmings=True), Layout(dp=4, plain=True)),
    "single": Setup(Transformer(trimmings=True), Layout()),
    "cluster": Setup(Transformer(steps=2, trimmings=True), Layout(dp=16, ranks_per_node=8)),
    "large": Setup(Transformer(layers=2, steps=2, vocabulary=4096, trimmings=True), Layout(dp=64, ranks_per_node=8)),
}
WORKLOADS = {name: replace(setup, name=name) for name, setup in _WORKLOADS.items()}
"""The host of `light` is not far ahead of its device; all others launch far ahead."""
