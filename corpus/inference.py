# SPDX-License-Identifier: Apache-2.0
"""A decoder that serves requests: what each rank does, one iteration of the engine after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus import program as do
from corpus import serving_operators as serving
from corpus.events import Layout
from corpus.program import Machine
from corpus.troubles import Place, Troubles, in_layer

_STACK = "qwen2.py({line}): forward;\nmodel_runner_v1.py(2103): execute_model"
_HEAD = 128
_INDEX_BYTES = 8

SERVER = Machine(link_gbps=98.0, setup_us=8.0, packet_overhead_us=2.0, collective_launch_us=40.0)
"""Two dies of one package: 196 GB/s per package are published for the CloudMatrix 384, half of it per die. Small
AllReduces run on the vector cores (HCCL_OP_EXPANSION_MODE=AIV), with less to set up and to launch."""


@dataclass(frozen=True, slots=True)
class Decoder:
    """A grouped-query decoder, tensor parallel, with a paged cache. Times in µs; a step is an iteration of the engine.

    The sizes are those of Qwen2.5-32B, with fewer layers. Prompts are processed in the first step and in every
    `prefill_every`-th one after it; the other steps give each request its next token. Without troubles the host
    launches faster than the device reads weights, and prepares the next step while the device is busy, as
    asynchronous scheduling does; only the tokens are read at the end of each step.
    """

    layers: int = 12
    steps: int = 6
    first_step: int = 11
    hidden: int = 5120
    inner: int = 27648
    heads: int = 40
    cached_heads: int = 8
    vocabulary: int = 152064
    requests: int = 32
    context: int = 1536
    """Tokens a request has in the cache."""
    prompt: int = 512
    """Tokens of the prompts that are processed in one step."""
    prefill_every: int = 0
    host_us: float = 24.0
    """Host time of one operator under inference mode; 45 in training."""
    schedule_us: float = 300.0
    drawn_us: float = 0.0
    """What drawing a number for each word of the vocabulary takes; without it each request gets its likeliest token."""
    troubles: Troubles = field(default_factory=Troubles)

    def step(self, layout: Layout, rank: int, number: int) -> Iterator[do.Instruction]:
        """What one rank does in one iteration."""
        return _Step(self, layout, rank, number).instructions()


class _Step:
    """The instructions of one iteration on one rank."""

    def __init__(self, workload: Decoder, layout: Layout, rank: int, number: int) -> None:
        w = self.w = workload
        self.layout, self.rank, self.host = layout, rank, workload.host_us
        self.prefill = number == 0 or (w.prefill_every > 0 and number % w.prefill_every == 0)
        changed = 4 * (number * 2 % 5 - 2) if w.troubles.dynamic else 0
        self.requests = w.requests + changed
        self.rows = w.prompt if self.prefill else self.requests
        self.prompts = 1 if self.prefill else self.requests
        self.context = self.rows if self.prefill else w.context
        tp = layout.tp
        self.query, self.key = w.heads // tp * _HEAD, w.cached_heads // tp * _HEAD
        self.inner, self.vocabulary = w.inner // tp, w.vocabulary // tp

    def instructions(self) -> Iterator[do.Instruction]:
        """From the inputs of the step to its tokens."""
        yield from self._enter()
        yield serving.embed(self.rows, self.w.hidden, self.host)
        for layer in range(self.w.layers):
            yield from in_layer(self.w.troubles, self._place(layer))
            yield from self._attend(layer)
            yield from self._feed_forward(layer)
        yield from self._sample()
        yield do.Free(400)
        yield do.Host("vllm/v1/core/sched/scheduler.py(152): schedule", self.w.schedule_us, "python")
        yield do.Copy("aten::_to_copy", "device to host", _INDEX_BYTES * self.prompts, 1.8, blocking=True)

    def _enter(self) -> Iterator[do.Instruction]:
        """Token ids, positions and places in the cache."""
        troubles = self.w.troubles
        if troubles.collection_us and not troubles.collection_offset:
            yield do.Host("GC", troubles.collection_us, "gc")
        for width in (1, 1, self.w.context // 128):
            yield do.Copy("aten::copy_", "host to device", _INDEX_BYTES * self.rows * width, 2.4, host_us=8.0)

    def _place(self, layer: int) -> Place:
        """What is needlessly converted in serving are weights."""
        return Place(self.rank, layer, self.w.layers, (self.w.hidden, self.query), self.host)

    def _attend(self, layer: int) -> Iterator[do.Instruction]:
        w, rows, stack = self.w, self.rows, _STACK.format(line=180 + layer)
        yield serving.normalise((rows, w.hidden), self.host, add=layer > 0)
        yield serving.linear(rows, w.hidden, self.query + 2 * self.key, self.host, stack)
        yield serving.cut(rows, self.query + 2 * self.key, self.host)
        yield serving.rotate(rows, self.query + self.key, self.host)
        yield serving.store(rows, self.key // _HEAD, self.host)
        heads = self.query // _HEAD, self.key // _HEAD
        yield serving.attend(self.prompts, rows, self.context, heads, self.host)
        yield serving.linear(rows, self.query, w.hidden, self.host, stack)
        yield from self._add_up()

    def _feed_forward(self, layer: int) -> Iterator[do.Instruction]:
        w, rows, stack = self.w, self.rows, _STACK.format(line=84 + layer)
        yield serving.normalise((rows, w.hidden), self.host)
        yield serving.linear(rows, w.hidden, 2 * self.inner, self.host, stack)
        yield serving.activate(rows, self.inner, self.host)
        yield serving.linear(rows, self.inner, w.hidden, self.host, stack)
        yield from self._add_up()

    def _add_up(self) -> Iterator[do.Instruction]:
        yield from self._communicate("c10d::allreduce_", "allReduce", 2 * self.rows * self.w.hidden)

    def _communicate(self, op: str, kind: str, size: int) -> Iterator[do.Instruction]:
        if self.layout.tp > 1:
            members = self.layout.group("tp", self.rank)
            yield do.Communicate(op, kind, members, size, "tp", "BFP16", host_us=20.0)
            yield do.AwaitCommunication()

    def _sample(self) -> Iterator[do.Instruction]:
        """The scores of every request's last token, and the best of them, or one by chance."""
        w = self.w
        yield serving.normalise((self.rows, w.hidden), self.host)
        yield serving.linear(self.prompts, w.hidden, self.vocabulary, self.host)
        yield from self._communicate("c10d::_allgather_base_", "allGather", 2 * self.prompts * w.vocabulary)
        yield serving.widen((self.prompts, w.vocabulary), self.host)
        if w.drawn_us:
            yield serving.draw((self.prompts, w.vocabulary), w.drawn_us, self.host)
        yield serving.choose((self.prompts, w.vocabulary), self.host)
