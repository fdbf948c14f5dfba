# SPDX-License-Identifier: Apache-2.0
"""A dense transformer in training: what each of its ranks does, step by step."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from corpus import program as do
from corpus import unfused
from corpus.events import Layout
from corpus.operators import BF16, attention, cast, convert_format, fused_adam, matmul, matmul_all_reduce, vector
from corpus.schedule import Move, Turn, interleaved, one_forward_one_backward
from corpus.troubles import Place, Troubles, at_head, in_layer, share, stack

_COPIED_BYTES_PER_US = 0.9e6
_FP32_BYTES = 4
_FEED_FORWARD, _ATTENTION = (2.5, 5.0), (1.0, 3.0)
"""Parameters of the weights that all data parallel ranks have, in units of h² and in the order of the backward pass."""
_HEAD = 128
_NORM_LINE = 16
"""Where the model computes a norm by small operators."""
_RAGGED = 3.0
"""How much slower a product is whose sides are no whole tiles: an assumption, and a bad case."""
_Doing = Iterator[do.Instruction]


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
    chunks: int = 1
    """Pieces of the model on each pipeline stage, for the interleaved schedule."""
    vocabulary: int = 16384
    host_us: float = 45.0
    """Host time of one operator; framework operators take 61 in the median of the msinsight AlexNet capture,
    which was recorded with stacks."""
    loader_us: float = 120.0
    gradient_bytes: int = 2
    """Per parameter: 2 for BF16 gradients, 4 for FP32."""
    batched_p2p: bool = False
    bucket_bytes: int = 0
    """Gradients of whole weights fill buckets in the order in which they are ready, and one of this size or more goes
    out, as in DistributedDataParallel; 0 is one per layer."""
    pieces: int = 1
    """Parts in which a tensor parallel product and the sum of its results go on side by side, as with MindSpeed's
    `--use-ascend-coc`."""
    fused_sums: bool = False
    """Whether a product and the sum of its results over tensor parallel ranks are one kernel, as with MindSpeed's
    `--use-ascend-mc2`; of a gradient too, so that nothing of tensor parallelism is a collective."""
    stage_layers: tuple[int, ...] = ()
    """Layers of each pipeline stage; empty shares them evenly."""
    sharded: bool = False
    """Whether each data parallel rank holds a part of the parameters, as with FSDP: those of a layer are gathered while
    the one before it computes, in both passes, and their gradients reduced and scattered one layer later."""
    trimmings: bool = False
    """The small operators of a real job: the mask, copies of weights to BF16, the norm of the gradients. In the
    msprof-analyze test capture of a training step (591 kernels), Cast takes 8 % and LpNormReduceV2 3 % of the device
    time that is no communication; a well-kept job has less."""
    unfused: dict[str, float] = field(default_factory=dict)
    """Which share of the `attention`, `norm`, `rotary` and `optimizer` goes without fused kernels; above 1 it computes
    in FP32 too."""
    troubles: Troubles = field(default_factory=Troubles)

    def step(self, layout: Layout, rank: int, number: int) -> _Doing:
        """What one rank does in one step."""
        return Step(self, layout, rank, number).instructions()


def _counting_blocks(doing: _Doing) -> Generator[do.Instruction, None, tuple[int, int]]:
    """The same instructions; gives how many blocks they take from the allocator, and how many they give back."""
    taken = freed = 0
    for one in doing:
        launch = one.launch if isinstance(one, do.Exchange) else one
        taken += isinstance(launch, do.Launch) and launch.output_bytes > 0
        freed += one.count if isinstance(one, do.Free) else 0
        yield one
    return taken, freed


class Step:
    """The instructions of one step of one rank."""

    def __init__(self, workload: Transformer, layout: Layout, rank: int, number: int) -> None:
        self.w, self.layout, self.rank, self.number = workload, layout, rank, number
        self.stage = layout.stage_of(rank)
        even = workload.layers // (layout.pp * workload.chunks)
        self.layers = workload.stage_layers[self.stage] if workload.stage_layers else even
        self.sequence = _sequence(workload, layout, rank, number)
        self.tokens = workload.batch * self.sequence
        self.hidden = (self.tokens, workload.hidden)
        self.width = workload.hidden // layout.tp
        self.host = workload.host_us
        self._bucket = 0.0
        """Bytes of gradients that wait for their bucket to be full."""
        self._held: defaultdict[int, deque[int]] = defaultdict(deque)
        """Per chunk the blocks that the forward passes took whose backward passes are still to come."""

    def instructions(self) -> _Doing:
        """From the data loader to the loss."""
        yield from at_head(self.w.troubles, self.rank, self.w.loader_us, 8 * self.tokens)
        if self.w.trimmings:
            yield from self._mask()
        if self.w.chunks > 1:
            yield from self._interleaved()
        else:
            for move, micro_batch in one_forward_one_backward(self.stage, self.layout.pp, self.w.micro_batches):
                yield from self._move(move, micro_batch == self.w.micro_batches - 1)
        if self.layout.dp > 1:
            yield do.AwaitCommunication()
        yield from self._optimize()
        last = self.stage == self.layout.pp - 1
        yield do.Synchronize(stack=stack(12)) if last else do.Synchronize("aten::item")

    def _move(self, move: Move, last: bool) -> _Doing:
        if move is Move.FORWARD:
            yield from self._pass_forward(0)
        elif move is Move.BACKWARD:
            yield from self._pass_backward(0, last=last)
        else:
            yield from self._exchange(move)

    # Pipeline

    def _exchange(self, move: Move) -> _Doing:
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

    def _interleaved(self) -> _Doing:
        plane, stages = self.layout.tp * self.layout.dp, self.layout.group("pp", self.rank)
        for turn in interleaved(self.layout.pp, self.w.micro_batches, self.w.chunks)[self.stage]:
            peer = self.rank + plane * (turn.peer - self.stage)
            if turn.kind in ("send", "receive"):
                pair = (self.rank, peer) if turn.kind == "send" else (peer, self.rank)
                size = 2 * self.tokens * self.w.hidden
                yield do.Communicate(f"c10d::{turn.kind}", turn.kind, pair, size, "pp", "BFP16", stages)
            else:
                if turn.peer >= 0:
                    yield do.AwaitCommunication((peer, self.rank))
                yield from self._turn(turn)

    def _turn(self, turn: Turn) -> _Doing:
        if turn.kind == "forward":
            yield from self._pass_forward(turn.chunk)
        else:
            yield from self._pass_backward(turn.chunk, last=turn.micro_batch == self.w.micro_batches - 1)

    # Memory

    def _pass_forward(self, chunk: int) -> _Doing:
        taken, _ = yield from _counting_blocks(self._forward(chunk))
        self._held[chunk].append(taken)

    def _pass_backward(self, chunk: int, last: bool) -> _Doing:
        """A backward pass, after which a micro-batch holds nothing, however many there are: that is what passes in turn
        are for. Of the last one gradients stay until the weights are updated."""
        taken, freed = yield from _counting_blocks(self._backward(chunk, reduce=last))
        held = self._held[chunk].popleft()
        if not last:
            yield do.GiveBack(max(held - freed, 0), taken - max(freed - held, 0))

    # Compute

    def _ends(self, chunk: int) -> tuple[bool, bool]:
        """Whether a chunk holds the embedding, and whether it holds the head."""
        return (
            self.stage == 0 and chunk == 0,
            self.stage == self.layout.pp - 1 and chunk == self.w.chunks - 1,
        )

    def _forward(self, chunk: int) -> _Doing:
        w, (first, last) = self.w, self._ends(chunk)
        yield do.Enter("model")
        if first:
            yield vector("aten::embedding", "GatherV2", self.hidden, self.host)
        yield from self._gather_first(0)
        for layer in range(self.layers):
            yield from self._gather_ahead(layer, layer + 1)
            yield from self._troubles(layer)
            yield do.Enter(f"layers.{layer}")
            yield from _in_module("self_attn", self._attention_forward(layer))
            yield from _in_module("mlp", self._feed_forward_with_norm(layer))
            yield vector("aten::add", "Add", self.hidden, self.host, inputs=2)
            yield do.Leave()
        yield do.Leave()
        if last:
            yield matmul(self.tokens, w.hidden, w.vocabulary, self.host)
            yield vector("aten::log_softmax", "LogSoftmaxV2", (self.tokens, w.vocabulary), self.host)
            yield vector("aten::nll_loss_forward", "NLLLoss", (self.tokens,), self.host, dtype="FLOAT")

    def _feed_forward_with_norm(self, layer: int) -> _Doing:
        yield from self._norm(layer)
        yield from self.feed_forward(layer)

    def feed_forward(self, layer: int) -> _Doing:
        """From the norm before it to the sum after it, forward."""
        inner = (self.tokens, 5 * self.w.hidden // 2 // self.layout.tp)
        wide, slower = self._gated_width(layer)
        yield matmul(self.tokens, self.w.hidden, wide, self.host, stack=stack(40 + layer), slower=slower)
        yield vector("npu::npu_swiglu", "SwiGlu", inner, self.host, inputs=2, suffix="")
        yield from self._summed(inner[1])

    def feed_forward_backward(self, layer: int) -> _Doing:
        """The same backward."""
        inner = (self.tokens, 5 * self.w.hidden // 2 // self.layout.tp)
        yield from self._matmul_backward(self.tokens, inner[1], self.w.hidden)
        yield vector("npu::npu_swiglu_backward", "SwiGluGrad", inner, self.host, inputs=3, suffix="")
        wide, slower = self._gated_width(layer)
        yield from self._matmul_backward(self.tokens, self.w.hidden, wide, reduce=True, slower=slower)

    def _gated_width(self, layer: int) -> tuple[int, float]:
        """Columns of the product that opens the feed-forward network, and how much slower it is for being ragged."""
        wide = 2 * (5 * self.w.hidden // 2 // self.layout.tp)
        return (wide + 1, _RAGGED) if share(min(1.0, self.w.troubles.ragged), layer) else (wide, 1.0)

    def _attention_forward(self, layer: int) -> _Doing:
        w, narrow = self.w, (self.tokens, self.width)
        yield from self._norm(layer)
        yield matmul(self.tokens, w.hidden, 3 * self.width, self.host)
        if self._without("rotary", layer):
            yield from unfused.rotary(narrow, self.host, dtype=self._type("rotary"))
        else:
            yield vector("npu::npu_rotary_mul", "RotaryMul", narrow, self.host, inputs=2, suffix="")
        yield from self._attention()
        yield from self._summed(self.width)
        yield vector("aten::add", "Add", self.hidden, self.host, inputs=2)

    def _backward(self, chunk: int, reduce: bool) -> _Doing:
        w = self.w
        if self._ends(chunk)[1]:
            logits = (self.tokens, w.vocabulary)
            yield vector("aten::_log_softmax_backward_data", "LogSoftmaxGrad", logits, self.host, inputs=2, suffix="")
            yield from self._matmul_backward(self.tokens, w.hidden, w.vocabulary)
        yield from self._gather_first(self.layers - 1)
        for layer in reversed(range(self.layers)):
            yield from self._gather_ahead(layer, layer - 1, reduce=layer + 1 < self.layers)
            yield from self._troubles(layer, backward=True)
            reduced = 1 - w.troubles.late_gradients if reduce and not w.sharded else 0.0
            yield from self._layer_backward(layer, reduced)
            yield do.Free(11)
            if reduce and not w.sharded:
                yield from self._reduce_of_layer(reduced)
                yield from self._await_reductions(layer)
        if w.sharded:
            yield self._shard("reduceScatter", "c10d::_reduce_scatter_base_", w.gradient_bytes)
        elif reduce:
            yield from self._send_bucket()
            for _ in range(self.layers):
                yield from self._fill_buckets(w.troubles.late_gradients, *_FEED_FORWARD, *_ATTENTION)
                yield from self._reduce_of_layer(w.troubles.late_gradients)
            yield from self._send_bucket()

    def _layer_backward(self, layer: int, reduced: float) -> _Doing:
        """The backward pass of a layer, in which this part of its gradients fills buckets."""
        w, narrow = self.w, (self.tokens, self.width)
        yield do.Gradient(f"model/layers.{layer}/mlp")
        yield from self.feed_forward_backward(layer)
        yield from self._fill_buckets(reduced, *_FEED_FORWARD)
        if reduced and w.bucket_bytes:
            yield from self._await_reductions(layer)
        yield from self._norm(layer, backward=True)
        yield do.Gradient(f"model/layers.{layer}/self_attn")
        yield from self._matmul_backward(self.tokens, self.width, w.hidden)
        yield from self._attention(backward=True)
        if self._without("rotary", layer):
            yield from unfused.rotary(narrow, self.host, dtype=self._type("rotary"))
        else:
            yield vector("npu::npu_rotary_mul_backward", "RotaryMulGrad", narrow, self.host, inputs=2, suffix="")
        yield from self._matmul_backward(self.tokens, w.hidden, 3 * self.width, reduce=True)
        yield from self._norm(layer, backward=True)
        yield vector("aten::add", "Add", self.hidden, self.host, inputs=2)
        yield do.Gradient()
        yield from self._fill_buckets(reduced, *_ATTENTION)

    def _matmul_backward(self, m: int, k: int, n: int, reduce: bool = False, slower: float = 1.0) -> _Doing:
        """Gradients of the input and of the weight; tensor parallel ranks add the first beside the second."""
        summed = reduce and self.layout.tp > 1
        if summed and self.w.fused_sums:
            yield self._sum_fused(m, n, k)
            yield matmul(k, m, n, self.host, op="aten::mm", slower=slower)
            return
        yield matmul(m, n, k, self.host, op="aten::mm", slower=slower)
        if summed:
            yield self._sum(self.tokens)
        yield matmul(k, m, n, self.host, op="aten::mm", slower=slower)
        if summed:
            yield do.AwaitCommunication(self.layout.group("tp", self.rank))

    def _norm(self, layer: int, backward: bool = False) -> _Doing:
        if self._without("norm", layer):
            dtype = self._type("norm")
            yield from unfused.norm(self.hidden, self.host, stack=stack(_NORM_LINE), backward=backward, dtype=dtype)
        elif backward:
            yield vector("npu::npu_rms_norm_backward", "RmsNormGrad", self.hidden, self.host, inputs=2, suffix="")
        else:
            yield vector("npu::npu_rms_norm", "RmsNorm", self.hidden, self.host, suffix="")

    def _attention(self, backward: bool = False) -> _Doing:
        """Fused, or for a share of the samples by small operators."""
        apart = min(self.w.batch, round(self.w.batch * self.w.unfused.get("attention", 0.0)))
        heads, dtype = max(1, self.width // _HEAD), self._type("attention")
        if apart < self.w.batch:
            yield attention(self.w.batch - apart, self.sequence, self.width, self.host, backward)
        if apart:
            yield from unfused.attention(apart, heads, self.sequence, self.host, backward=backward, dtype=dtype)

    def _without(self, fused: str, layer: int) -> bool:
        return bool(share(min(1.0, self.w.unfused.get(fused, 0.0)), layer))

    def _type(self, fused: str) -> str:
        return "FLOAT" if self.w.unfused.get(fused, 0.0) > 1 else BF16

    # Communication

    def _summed(self, k: int) -> _Doing:
        """The product that ends a block, summed over the tensor parallel ranks."""
        if self.layout.tp == 1:
            yield matmul(self.tokens, k, self.w.hidden, self.host)
            return
        if self.w.fused_sums:
            yield self._sum_fused(self.tokens, k, self.w.hidden)
            return
        for _ in range(self.w.pieces):
            yield matmul(self.tokens // self.w.pieces, k, self.w.hidden, self.host)
            yield self._sum(self.tokens // self.w.pieces)
        yield do.AwaitCommunication(self.layout.group("tp", self.rank))

    def _sum(self, tokens: int) -> do.Communicate:
        members, size = self.layout.group("tp", self.rank), 2 * tokens * self.w.hidden
        return do.Communicate("c10d::allreduce_", "allReduce", members, size, "tp", "BFP16")

    def _sum_fused(self, m: int, k: int, n: int) -> do.Exchange:
        """A product and its sum over the tensor parallel ranks in one kernel."""
        members = self.layout.group("tp", self.rank)
        return do.Exchange(matmul_all_reduce(m, k, n, self.host), "allReduce", members, 2 * m * n)

    def _gather_first(self, layer: int) -> _Doing:
        """The parameters of the layer that a pass begins with, unless they are gathered when they are needed."""
        if self.w.sharded and not self._gathered_late(layer):
            yield self._gather()

    def _gather_ahead(self, layer: int, following: int, *, reduce: bool = False) -> _Doing:
        """Waits for the parameters of a layer, then sends for those of the next one.

        Gradients of the layer before it in a backward pass go out first, in the same order on all ranks.
        """
        if not self.w.sharded:
            return
        if self._gathered_late(layer):
            yield self._gather()
        yield do.AwaitCommunication()
        if reduce:
            yield self._shard("reduceScatter", "c10d::_reduce_scatter_base_", self.w.gradient_bytes)
        if 0 <= following < self.layers and not self._gathered_late(following):
            yield self._gather()

    def _gathered_late(self, layer: int) -> bool:
        return bool(share(min(1.0, self.w.troubles.late_gathers), layer))

    def _gather(self) -> do.Communicate:
        return self._shard("allGather", "c10d::_allgather_base_", 2)

    def _shard(self, kind: str, op: str, item: int) -> do.Communicate:
        members = self.layout.group("dp", self.rank)
        size = item * self.shared_parameters()
        dtype = "FP32" if item == _FP32_BYTES else "BFP16"
        return do.Communicate(op, kind, members, size - size % (4 * len(members)), self.layout.gradients, dtype)

    def _reduce_of_layer(self, part: float) -> _Doing:
        """This part of the gradients of a layer at once, unless they fill buckets."""
        if not self.w.bucket_bytes:
            yield from self._reduce(round(part * self.w.gradient_bytes * self.shared_parameters()))

    def _await_reductions(self, layer: int) -> _Doing:
        """Waits for the gradients that were sent, if that is what is wrong with the job in this layer."""
        if share(min(1.0, self.w.troubles.awaited_gradients), self.layers - 1 - layer):
            yield do.AwaitCommunication(self.layout.group("dp", self.rank))

    def _fill_buckets(self, part: float, *weights: float) -> _Doing:
        """Puts this part of the gradients of some weights into buckets, and sends those that are full."""
        for squares in weights if self.w.bucket_bytes else ():
            self._bucket += part * self.w.gradient_bytes * squares * self.w.hidden**2 / self.layout.tp
            if self._bucket >= self.w.bucket_bytes:
                yield from self._send_bucket()

    def _send_bucket(self) -> _Doing:
        size, self._bucket = round(self._bucket), 0.0
        yield from self._reduce(size)

    def _reduce(self, size: int) -> _Doing:
        members = self.layout.group("dp", self.rank)
        if len(members) > 1 and size:
            dtype = "FP32" if self.w.gradient_bytes == _FP32_BYTES else "BFP16"
            whole = size - size % (4 * len(members))
            yield do.Communicate("c10d::allreduce_", "allReduce", members, whole, self.layout.gradients, dtype)

    def shared_parameters(self) -> int:
        """Parameters of one layer that all data parallel ranks have."""
        return round(sum(_FEED_FORWARD + _ATTENTION) * self.w.hidden**2) // self.layout.tp

    def parameters(self) -> int:
        """Parameters of one layer that one rank keeps."""
        return self.shared_parameters() // (self.layout.dp if self.w.sharded else 1)

    # Around the passes

    def _mask(self) -> _Doing:
        """The causal mask and the positions, made anew in each step."""
        square = (self.sequence, self.sequence)
        for op, kind in (("aten::ones_like", "OnesLike"), ("aten::tril", "Tril"), ("aten::lt", "Less")):
            yield vector(op, kind, square, self.host, dtype="INT8")
        yield cast((self.sequence, _HEAD), self.host)
        yield convert_format((1, self.w.batch, self.sequence // 64, 64), self.host)

    def _optimize(self) -> _Doing:
        if self.w.trimmings:
            yield from self._clip()
        yield do.Begin("Optimizer.step#AdamW.step")
        for layer in range(self.layers * self.w.chunks):
            yield from self._update(layer)
        yield do.End()
        yield do.Begin("Optimizer.zero_grad#AdamW.zero_grad")
        yield do.Host("aten::zero_", 30.0)
        yield do.End()
        yield do.Free(1000)

    def _clip(self) -> _Doing:
        """The norm of all gradients, and their scaling."""
        for _ in range(self.layers * self.w.chunks):
            shape = (self.parameters(),)
            yield vector("aten::linalg_vector_norm", "LpNormReduceV2", shape, self.host, us=self.parameters() / 5e5)
        yield vector("aten::mul_", "Mul", (1,), self.host, dtype="FLOAT")

    def _update(self, layer: int) -> _Doing:
        parameters = self.parameters()
        if self._without("optimizer", layer):
            for tenths in (3, 1, 4, 2):
                yield from unfused.adam(parameters * tenths // 10, self.host)
        else:
            yield fused_adam(parameters, self.host)
        if self.w.trimmings:
            yield vector("aten::copy_", "Cast", (parameters,), self.host, us=6.0 * parameters / _COPIED_BYTES_PER_US)

    def _troubles(self, layer: int, *, backward: bool = False) -> _Doing:
        flowing = (self.tokens, 5 * self.w.hidden // self.layout.tp)
        place = Place(self.rank, layer, self.layers, flowing, self.host, backward, self.number)
        yield from in_layer(self.w.troubles, place)


def _in_module(name: str, inner: _Doing) -> _Doing:
    """What a module of the model does when it is called."""
    yield do.Enter(name)
    yield from inner
    yield do.Leave()


def _sequence(workload: Transformer, layout: Layout, rank: int, number: int) -> int:
    """The sequence length of one rank in one step."""
    changing = 64 * (number * 3 % 7 - 3) if workload.troubles.dynamic else 0
    more = workload.troubles.more_data.get(rank, 0.0) + workload.troubles.uneven_data * _turn(layout, rank, number)
    return round((workload.sequence + changing) * (1 + more))


def _turn(layout: Layout, rank: int, number: int) -> float:
    """From -1 to 1, evenly over the data parallel ranks, which change places from step to step."""
    place = (layout.group("dp", rank).index(rank) + number) % layout.dp
    return 2 * place / (layout.dp - 1) - 1 if layout.dp > 1 else 0.0
