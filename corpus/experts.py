# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts in training: tokens travel to the ranks of their experts and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus import program as do
from corpus.events import Layout
from corpus.links import noise
from corpus.operators import grouped_matmul, matmul, vector
from corpus.transformer import Step, Transformer

_Doing = Iterator[do.Instruction]
_UNEVEN = 0.02
"""How far the tokens of a rank stray from the mean in a balanced job."""


@dataclass(frozen=True, slots=True)
class MixtureOfExperts(Transformer):
    """A transformer whose feed-forward is one shared expert and many routed ones, spread over the ranks of `ep`.

    The shared expert computes while tokens travel, as in Megatron with `--moe-shared-expert-overlap`.
    """

    experts: int = 32
    top_k: int = 2
    expert_width: int = 2048
    awaits_counts: bool = True
    """Whether the host waits for how many tokens each expert is sent, before it launches their exchange, as Megatron's
    dispatcher does. It costs nothing while the host is ahead."""
    crowded: dict[int, float] = field(default_factory=dict)
    """Share of further tokens that the experts of a rank are sent; the others are sent as many less."""

    def step(self, layout: Layout, rank: int, number: int) -> _Doing:
        """What one rank does in one step."""
        return _ExpertStep(self, layout, rank, number).instructions()


class _ExpertStep(Step):
    """The instructions of one step of one rank."""

    w: MixtureOfExperts

    def feed_forward(self, layer: int) -> _Doing:
        """Router, dispatch beside the shared expert's first half, experts, combine beside its second half."""
        w, received = self.w, self._received(layer)
        inner, routed = 5 * w.hidden // 2, self.tokens * w.top_k
        yield from self._route()
        yield self._exchange_tokens()
        yield matmul(self.tokens, w.hidden, 2 * inner, self.host)
        yield vector("npu::npu_swiglu", "SwiGlu", (self.tokens, inner), self.host, inputs=2, suffix="")
        yield do.AwaitCommunication(self.members)
        yield self._grouped(received, w.hidden, 2 * w.expert_width)
        yield vector("npu::npu_swiglu", "SwiGlu", (received, w.expert_width), self.host, inputs=2, suffix="")
        yield self._grouped(received, w.expert_width, w.hidden)
        yield self._exchange_tokens()
        yield matmul(self.tokens, inner, w.hidden, self.host)
        yield do.AwaitCommunication(self.members)
        yield vector("npu::npu_moe_token_unpermute", "MoeTokenUnpermute", (routed, w.hidden), self.host, suffix="")

    def feed_forward_backward(self, layer: int) -> _Doing:
        """The same backward; gradients of weights compute while those of tokens travel."""
        w, received = self.w, self._received(layer)
        inner, routed = 5 * w.hidden // 2, (self.tokens * w.top_k, w.hidden)
        yield vector("npu::npu_moe_token_unpermute_grad", "MoeTokenUnpermuteGrad", routed, self.host, suffix="")
        yield self._exchange_tokens()
        yield from self._matmul_backward(self.tokens, inner, w.hidden)
        yield do.AwaitCommunication(self.members)
        for k, n in ((w.expert_width, w.hidden), (w.hidden, 2 * w.expert_width)):
            yield self._grouped(received, n, k)
            yield self._grouped(received, k, n)
        yield vector(
            "npu::npu_swiglu_backward", "SwiGluGrad", (received, w.expert_width), self.host, inputs=3, suffix=""
        )
        yield self._exchange_tokens()
        yield from self._matmul_backward(self.tokens, w.hidden, 2 * inner)
        yield do.AwaitCommunication(self.members)
        yield vector("npu::npu_moe_token_permute_grad", "MoeTokenPermuteGrad", routed, self.host, suffix="")

    @property
    def members(self) -> tuple[int, ...]:
        """The ranks that share all experts."""
        return self.layout.group("ep", self.rank)

    def parameters(self) -> int:
        """Parameters of one layer on one rank, its experts among them."""
        own = self.w.experts // len(self.members)
        return self.shared_parameters() + 3 * own * self.w.hidden * self.w.expert_width

    def _route(self) -> _Doing:
        """Choose experts, count their tokens (the host reads the counts) and sort the tokens by expert."""
        w = self.w
        chosen, routed = (self.tokens, w.experts), (self.tokens * w.top_k, w.hidden)
        yield matmul(self.tokens, w.hidden, w.experts, self.host)
        yield vector(
            "npu::npu_moe_gating_top_k_softmax", "MoeGatingTopKSoftmax", chosen, self.host, dtype="FLOAT", suffix=""
        )
        yield vector("aten::bincount", "Bincount", (self.tokens * w.top_k,), self.host, dtype="INT32")
        yield do.Copy("aten::to", "device to host", 4 * w.experts, 2.0, blocking=w.awaits_counts)
        yield vector("npu::npu_moe_token_permute", "MoeTokenPermute", routed, self.host, suffix="")

    def _exchange_tokens(self) -> do.Communicate:
        busiest = max((1 + self.w.crowded.get(rank, 0.0) for rank in self.members), default=1.0)
        size = round(2 * self.tokens * self.w.top_k * self.w.hidden * busiest)
        return do.Communicate("c10d::alltoall_base_", "alltoallv", self.members, size, "ep", "BFP16")

    def _grouped(self, rows: int, k: int, n: int) -> do.Launch:
        return grouped_matmul(rows, k, n, self.w.experts // len(self.members), self.host)

    def _received(self, layer: int) -> int:
        """How many tokens the experts of this rank are sent."""
        crowded, others = self.w.crowded, max(1, len(self.members) - 1)
        more = crowded.get(self.rank, -sum(crowded.get(rank, 0.0) for rank in self.members) / others)
        stray = _UNEVEN * noise(0, "tokens", self.rank, self.number, layer)
        return max(1, round(self.tokens * self.w.top_k * (1 + more + stray)))
