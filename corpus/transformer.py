# SPDX-License-Identifier: Apache-2.0
"""A dense transformer in training: what each of its ranks does, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus import program as do
from corpus.events import Layout
from corpus.operators import attention, matmul, vector
from corpus.schedule import Move, one_forward_one_backward
from corpus.troubles import Place, Troubles, at_head, in_layer, stack

_ADAM_BYTES_PER_US = 0.9e6
_FP32_BYTES = 4


@dataclass(frozen=True, slots=True)
class Transformer:
    """A dense decoder trained with mixed precision. Times in µs.

    Without troubles its queue stays deep and its gradients are reduced behind the backward pass.
    """

    layers: int = 4
    steps: int = 3
    first_step: int = 11
    hidden: int = 2048
    sequence: int = 2048
    batch: int = 4
    micro_batches: int = 1
    vocabulary: int = 16384
    host_us: float = 45.0
    """Host time of one operator; framework operators take 61 in the median of the msinsight AlexNet capture,
    which was recorded with stacks."""
    loader_us: float = 120.0
    gradient_bytes: int = 2
    """Per parameter: 2 for BF16 gradients, 4 for FP32."""
    batched_p2p: bool = False

    bucket_bytes: int = 0
    """Gradients go out in buckets of this size; 0 is one per layer."""
    stage_layers: tuple[int, ...] = ()
    """Layers of each pipeline stage; empty shares them evenly."""
    troubles: Troubles = field(default_factory=Troubles)

    def program(self, layout: Layout, rank: int) -> Iterator[do.Instruction]:
        """Everything one rank does."""
        for number in range(self.steps):
            yield do.Step(self.first_step + number)
            yield from _Step(self, layout, rank, number).instructions()
        yield do.Step(-1)


class _Step:
    """The instructions of one step of one rank."""

    def __init__(self, workload: Transformer, layout: Layout, rank: int, number: int) -> None:
        self.w, self.layout, self.rank, self.number = workload, layout, rank, number
        self.stage = layout.stage_of(rank)
        shares = workload.stage_layers or tuple([workload.layers // layout.pp] * layout.pp)
        self.layers = shares[self.stage]
        self.first, self.last = self.stage == 0, self.stage == layout.pp - 1
        self.sequence = _sequence(workload, rank, number)
        self.tokens = workload.batch * self.sequence
        self.host = workload.host_us

    def instructions(self) -> Iterator[do.Instruction]:
        """From the data loader to the loss."""
        yield from at_head(self.w.troubles, self.rank, self.w.loader_us, 8 * self.tokens)
        for move, micro_batch in one_forward_one_backward(self.stage, self.layout.pp, self.w.micro_batches):
            yield from self._move(move, micro_batch == self.w.micro_batches - 1)
        yield from self._optimize()
        if self.last:
            yield do.Synchronize(stack=stack(12))
        else:
            yield do.Synchronize("aten::item")

    def _move(self, move: Move, last: bool) -> Iterator[do.Instruction]:
        if move is Move.FORWARD:
            yield from self._forward()
        elif move is Move.BACKWARD:
            yield from self._backward(reduce=last)
        else:
            yield from self._exchange(move)

    # Pipeline

    def _exchange(self, move: Move) -> Iterator[do.Instruction]:
        ahead = move in (Move.SEND_FORWARD, Move.RECEIVE_BACKWARD, Move.SEND_FORWARD_RECEIVE_BACKWARD)
        plane = self.layout.tp * self.layout.dp
        peer = self.rank + plane if ahead else self.rank - plane
        size = 2 * self.tokens * self.w.hidden
        stages = self.layout.group("pp", self.rank)
        if self.w.batched_p2p:
            pair = (min(self.rank, peer), max(self.rank, peer))
            yield do.Communicate("c10d::batch_isend_irecv", "batchSendRecv", pair, size, "pp", "BFP16", stages)
        else:
            # Data that goes forward is sent first on both sides.
            for kind in sorted(move.kinds(), reverse=ahead):
                pair = (self.rank, peer) if kind == "send" else (peer, self.rank)
                yield do.Communicate(f"c10d::{kind}", kind, pair, size, "pp", "BFP16", stages)
        if "receive" in move.kinds():
            yield do.AwaitCommunication()

    # Compute

    def _forward(self) -> Iterator[do.Instruction]:
        w, hidden = self.w, (self.tokens, self.w.hidden)
        if self.first:
            yield vector("aten::embedding", "GatherV2", hidden, self.host)
        for layer in range(self.layers):
            yield from self._troubles(layer)
            yield from self._attention_forward(hidden)
            yield vector("npu::npu_rms_norm", "RmsNorm", hidden, self.host, suffix="")
            yield matmul(self.tokens, w.hidden, 5 * w.hidden // self.layout.tp, self.host, stack=stack(40 + layer))
            inner = (self.tokens, 5 * w.hidden // 2 // self.layout.tp)
            yield vector("npu::npu_swiglu", "SwiGlu", inner, self.host, inputs=2, suffix="")
            yield matmul(self.tokens, inner[1], w.hidden, self.host)
            yield from self._tensor_parallel(hidden)
            yield vector("aten::add", "Add", hidden, self.host, inputs=2)
        if self.last:
            yield matmul(self.tokens, w.hidden, w.vocabulary, self.host)
            yield vector("aten::log_softmax", "LogSoftmaxV2", (self.tokens, w.vocabulary), self.host)
            yield vector("aten::nll_loss_forward", "NLLLoss", (self.tokens,), self.host, dtype="FLOAT")

    def _attention_forward(self, hidden: tuple[int, int]) -> Iterator[do.Instruction]:
        w, width = self.w, self.w.hidden // self.layout.tp
        yield vector("npu::npu_rms_norm", "RmsNorm", hidden, self.host, suffix="")
        yield matmul(self.tokens, w.hidden, 3 * width, self.host)
        yield vector("npu::npu_rotary_mul", "RotaryMul", (self.tokens, width), self.host, inputs=2, suffix="")
        yield attention(w.batch, self.sequence, width, self.host)
        yield matmul(self.tokens, width, w.hidden, self.host)
        yield from self._tensor_parallel(hidden)
        yield vector("aten::add", "Add", hidden, self.host, inputs=2)

    def _backward(self, reduce: bool) -> Iterator[do.Instruction]:
        w, hidden = self.w, (self.tokens, self.w.hidden)
        if self.last:
            logits = (self.tokens, w.vocabulary)
            yield vector("aten::_log_softmax_backward_data", "LogSoftmaxGrad", logits, self.host, inputs=2, suffix="")
            yield from self._matmul_backward(self.tokens, w.hidden, w.vocabulary)
        for layer in reversed(range(self.layers)):
            yield from self._troubles(layer)
            yield from self._layer_backward(hidden)
            yield do.Free(11)
            if reduce and not w.troubles.late_gradients:
                yield from self._reduce_gradients()
        if reduce and w.troubles.late_gradients:
            for _ in range(self.layers):
                yield from self._reduce_gradients()
        if reduce and self.layout.dp > 1:
            yield do.AwaitCommunication()

    def _layer_backward(self, hidden: tuple[int, int]) -> Iterator[do.Instruction]:
        w, width = self.w, self.w.hidden // self.layout.tp
        inner = (self.tokens, 5 * w.hidden // 2 // self.layout.tp)
        yield from self._matmul_backward(self.tokens, inner[1], w.hidden)
        yield vector("npu::npu_swiglu_backward", "SwiGluGrad", inner, self.host, inputs=3, suffix="")
        yield from self._matmul_backward(self.tokens, w.hidden, 5 * w.hidden // self.layout.tp)
        yield vector("npu::npu_rms_norm_backward", "RmsNormGrad", hidden, self.host, inputs=2, suffix="")
        yield from self._matmul_backward(self.tokens, width, w.hidden)
        yield attention(w.batch, self.sequence, width, self.host, backward=True)
        yield vector(
            "npu::npu_rotary_mul_backward", "RotaryMulGrad", (self.tokens, width), self.host, inputs=2, suffix=""
        )
        yield from self._matmul_backward(self.tokens, w.hidden, 3 * width)
        yield vector("npu::npu_rms_norm_backward", "RmsNormGrad", hidden, self.host, inputs=2, suffix="")
        yield vector("aten::add", "Add", hidden, self.host, inputs=2)

    def _matmul_backward(self, m: int, k: int, n: int) -> Iterator[do.Instruction]:
        yield matmul(m, n, k, self.host, op="aten::mm")
        yield matmul(k, m, n, self.host, op="aten::mm")

    # Communication

    def _tensor_parallel(self, hidden: tuple[int, int]) -> Iterator[do.Instruction]:
        if self.layout.tp > 1:
            members = self.layout.group("tp", self.rank)
            yield do.Communicate("c10d::allreduce_", "allReduce", members, 2 * hidden[0] * hidden[1], "tp", "BFP16")
            yield do.AwaitCommunication()

    def _reduce_gradients(self) -> Iterator[do.Instruction]:
        if self.layout.dp == 1:
            return
        dtype = "FP32" if self.w.gradient_bytes == _FP32_BYTES else "BFP16"
        members, total = self.layout.group("dp", self.rank), self.w.gradient_bytes * self._parameters()
        bucket = self.w.bucket_bytes or total
        for start in range(0, total, bucket):
            size = min(bucket, total - start)
            yield do.Communicate(
                "c10d::allreduce_", "allReduce", members, size - size % (4 * len(members)), "dp", dtype
            )

    def _parameters(self) -> int:
        """Parameters of one layer on one rank: attention 4 h², feed-forward 7.5 h²."""
        return 23 * self.w.hidden**2 // 2 // self.layout.tp

    # Optimizer

    def _optimize(self) -> Iterator[do.Instruction]:
        yield do.Begin("Optimizer.step#AdamW.step")
        for _ in range(self.layers):
            us = 16.0 * self._parameters() / _ADAM_BYTES_PER_US
            shape = (self._parameters(),)
            yield vector("npu::npu_apply_adam_w", "ApplyAdamWV2", shape, self.host, dtype="FLOAT", us=us, suffix="")
        yield do.End()
        yield do.Begin("Optimizer.zero_grad#AdamW.zero_grad")
        yield do.Host("aten::zero_", 30.0)
        yield do.End()
        yield do.Free(1000)

    def _troubles(self, layer: int) -> Iterator[do.Instruction]:
        width = 5 * self.w.hidden // self.layout.tp
        yield from in_layer(self.w.troubles, Place(self.rank, layer, self.layers, (self.tokens, width), self.host))


def _sequence(workload: Transformer, rank: int, number: int) -> int:
    """The sequence length of one rank in one step."""
    changing = 64 * (number * 3 % 7 - 3) if workload.troubles.dynamic else 0
    return round((workload.sequence + changing) * (1 + workload.troubles.more_data.get(rank, 0.0)))
