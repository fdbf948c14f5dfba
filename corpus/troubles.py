# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a job whatever its model, and the instructions that make it so.

A workload calls `at_head` when a step begins and `in_layer` in each layer (or block) and pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from corpus import program as do
from corpus.operators import cast, convert_format, vector

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
"""How torch_npu names the wait for the next batch."""
_STACK = ";\n".join((
    "/usr/local/lib/python3.11/site-packages/torch/nn/modules/module.py(1553): _call_impl",
    "model.py({line}): forward",
    "train.py(61): train_step",
    "train.py(88): <module>",
))  # fmt: skip
"""Frames as torch_npu writes them: innermost first, libraries among them."""
_READ_LINE = 20
"""Where a layer reads values back: all layers run the same code."""
_SIDE_STREAM = 3
_COPIED_BYTES = 1 << 20
_COPY_US = 55.0
_COMPILED_ROWS = 256
_READ_BYTES, _READ_US = 4096, 2.4
_CHURNED_BYTES = 320 * 2**20


@dataclass(frozen=True, slots=True)
class Troubles:
    """The faults any workload may have. Times in µs; what is counted per layer strikes each pass, and a fraction
    strikes some layers only."""

    python_us: float = 0.0
    """Python between the operators of a layer, half of it before a synchronisation where there is one."""
    growing_us: float = 0.0
    """Python between the operators of a layer that takes as much longer in every step, and nothing in the first."""
    loader_stall_us: dict[int, float] = field(default_factory=dict)
    """Further time of the data loader, by rank; -1 stands for all."""
    syncs_per_layer: float = 0.0
    blocking_copies: float = 0.0
    """Copies from the host per layer for which the main thread waits."""
    waits_us: float = 0.0
    """Python without a name behind two reads from the device in the forward pass, half of it behind each."""
    collection_us: float = 0.0
    """One garbage collection per step."""
    collection_offset: bool = False
    """Ranks collect in different layers, for half of that time."""
    compile_us: float = 0.0
    """Compilation of one operator per layer, because its shape is new."""
    dynamic: bool = False
    """Each step has another sequence length or resolution; the workload sees to it."""
    casts: float = 0.0
    conversions: float = 0.0
    """Needless Cast and TransData per layer."""
    aicpu_us: float = 0.0
    """An operator per layer that runs on the AI CPU, and that the next one waits for."""
    aicpu_hidden_us: float = 0.0
    """The same on another stream, behind the layer's own operators."""
    churn_us: float = 0.0
    """The allocator returns and takes segments, per layer."""
    ragged: float = 0.0
    """Share of the layers whose feed-forward network is no multiple of a tile wide; the workload sees to it."""
    late_gradients: float = 0.0
    """Share of the gradients that is reduced after the backward pass; the workload sees to it."""
    awaited_gradients: float = 0.0
    """Share of the layers for whose reduced gradients the backward pass waits; the workload sees to it."""
    late_gathers: float = 0.0
    """Share of the layers whose parameters are gathered only when they are needed; the workload sees to it."""
    uneven_data: float = 0.0
    """By what share the tokens of a rank are more or less than the mean, at most; another rank has most in each step.
    The workload sees to it."""
    more_data: dict[int, float] = field(default_factory=dict)
    """By what share the tokens or samples of a rank are more than usual, or less; the workload sees to it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a workload is: rank, layer of how many, and what its operators cost the host."""

    rank: int
    layer: int
    layers: int
    activation: tuple[int, int]
    """Shape of what flows between the layers."""
    host_us: float
    backward: bool = False
    step: int = 0
    """Which of the recorded steps, counted from 0."""


def at_head(
    troubles: Troubles, rank: int, loader_us: float, batch_bytes: int, *, copy_us: float = 9.0, ahead: bool = False
) -> Iterator[do.Instruction]:
    """The data loader and the copy of the batch to the device, beside the computation if it is made `ahead`."""
    stall = troubles.loader_stall_us
    yield do.Host(LOADER, loader_us + stall.get(-1, 0) + stall.get(rank, 0))
    yield do.Copy("aten::to", "host to device", batch_bytes, copy_us, ahead=ahead)
    if troubles.collection_us and not troubles.collection_offset:
        yield do.Host("GC", troubles.collection_us, "gc")


def in_layer(troubles: Troubles, at: Place) -> Iterator[do.Instruction]:
    """What goes wrong in one layer and pass."""
    yield from _on_host(troubles, at)
    if troubles.waits_us and not at.backward:
        yield from _waits(troubles.waits_us / 2, at)
    yield from _needless_operators(troubles, at)
    if troubles.compile_us:
        yield _compiled(troubles.compile_us, at)
    for _ in range(share(troubles.blocking_copies, at.layer)):
        yield do.Copy("aten::copy_", "host to device", _COPIED_BYTES, _COPY_US, blocking=True)


def stack(line: int) -> str:
    """The Python frames above an operator of the model."""
    return _STACK.format(line=line)


def share(per_layer: float, layer: int) -> int:
    """How many of so many per layer fall on one layer: a fraction strikes some layers only."""
    return int((layer + 1) * per_layer + 1e-9) - int(layer * per_layer + 1e-9)


def _on_host(troubles: Troubles, at: Place) -> Iterator[do.Instruction]:
    if troubles.python_us:
        yield do.Host(f"model.py({50 + at.layer}): build_mask", troubles.python_us / 2, "python")
    for _ in range(share(troubles.syncs_per_layer, at.layer)):
        yield do.Synchronize(stack=stack(_READ_LINE))
    if troubles.python_us:
        yield do.Host(f"model.py({80 + at.layer}): log_norms", troubles.python_us / 2, "python")
    if troubles.growing_us and at.step:
        yield do.Host(f"model.py({95 + at.layer}): compare_with_history", troubles.growing_us * at.step, "python")
    if troubles.collection_us and troubles.collection_offset and at.layer == at.rank % at.layers:
        yield do.Host("GC", troubles.collection_us / 2, "gc")
    if troubles.churn_us:
        yield do.Churn(troubles.churn_us, _CHURNED_BYTES)


def _waits(us: float, at: Place) -> Iterator[do.Instruction]:
    """A third into the pass a tensor is brought to the host, two thirds into it a value is read; Python goes on with
    each, and no frame of it is recorded."""
    if at.layer == at.layers // 3:
        yield do.Copy("aten::to", "device to host", _READ_BYTES, _READ_US, blocking=True)
        yield do.Pause(us)
    if at.layer == 2 * at.layers // 3:
        yield do.Synchronize(stack=stack(_READ_LINE))
        yield do.Pause(us)


def _needless_operators(troubles: Troubles, at: Place) -> Iterator[do.Instruction]:
    for _ in range(share(troubles.casts, at.layer)):
        yield cast(at.activation, at.host_us)
    for _ in range(share(troubles.conversions, at.layer)):
        yield convert_format(_four_dimensional(at.activation), at.host_us)
    if troubles.aicpu_us:
        rows = at.activation[:1]
        yield vector("aten::index", "IndexPut", rows, at.host_us, dtype="INT64", core="AI_CPU", us=troubles.aicpu_us)
    if troubles.aicpu_hidden_us:
        yield _beside(troubles.aicpu_hidden_us, at)


def _beside(us: float, at: Place) -> do.Launch:
    """Work for the AI CPU that nothing waits for."""
    plain = vector("aten::_unique2", "Unique2", at.activation[:1], at.host_us, dtype="INT64", core="AI_CPU", us=us)
    return replace(plain, kernels=tuple(replace(kernel, stream=_SIDE_STREAM) for kernel in plain.kernels))


def _four_dimensional(shape: tuple[int, int]) -> tuple[int, int, int, int]:
    """As many elements in the layout of an image, 64 x 64 of them per channel."""
    return 1, max(1, shape[0] * shape[1] // 4096), 64, 64


def _compiled(compile_us: float, at: Place) -> do.Launch:
    rows, width = at.activation
    plain = vector("aten::mul", "Mul", (min(rows, _COMPILED_ROWS) + at.layer, width), at.host_us, inputs=2)
    return do.Launch(plain.op, plain.api, plain.kernels, plain.host_us, compile_us)
