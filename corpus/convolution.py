# SPDX-License-Identifier: Apache-2.0
"""A convolutional network in training: what each rank of a ResNet does, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from corpus import image_operators as images
from corpus import program as do
from corpus.events import Layout
from corpus.image_operators import Convolution
from corpus.operators import vector
from corpus.troubles import Place, Troubles, at_head, in_layer, stack

_CLASSES = 1000
_STEM = 64
_EXPANSION = 4
_FLOAT_BYTES = 4
_LATE = 0.5
"""From this share of late gradients on, all of them go out at the end."""
_COPIED_BYTES_PER_US = 23e3
"""From pinned memory over PCIe: the batch of the msinsight AlexNet capture, 19 MB, takes 828 µs."""


@dataclass(frozen=True, slots=True)
class ConvolutionalNetwork:
    """A ResNet of bottleneck blocks (He et al., 2015) trained in FP16 with FP32 weights. Times in µs.

    ResNet-50 has 3, 4, 6 and 3 blocks; this one has fewer, so that captures stay small. Gradients are reduced in
    buckets while the backward pass goes on, as DistributedDataParallel does; the loader prepares and copies the next
    batch meanwhile.
    """

    blocks: tuple[int, ...] = (1, 2, 2, 1)
    steps: int = 3
    first_step: int = 11
    batch: int = 256
    size: int = 224
    """Width and height of an image."""
    host_us: float = 45.0
    """Host time of one operator; framework operators take 61 in the median of the msinsight AlexNet capture,
    which was recorded with stacks."""
    loader_us: float = 120.0
    bucket_bytes: int = 25 * 2**20
    """The default of DistributedDataParallel."""
    troubles: Troubles = field(default_factory=Troubles)

    def step(self, layout: Layout, rank: int, number: int) -> Iterator[do.Instruction]:
        """What one rank does in one step."""
        return _Step(self, layout, rank, number).instructions()


@dataclass(frozen=True, slots=True)
class _Block:
    """Three convolutions, and one beside them where the shape changes."""

    convolutions: tuple[Convolution, ...]
    shortcut: Convolution | None

    @property
    def result(self) -> tuple[int, ...]:
        return self.convolutions[-1].result

    @property
    def weights(self) -> tuple[Convolution, ...]:
        return (*self.convolutions, self.shortcut) if self.shortcut else self.convolutions


def _bottleneck(batch: int, channels: int, width: int, stride: int, size: int) -> _Block:
    wide = _EXPANSION * width
    inner = size // stride
    changed = channels != wide or stride > 1
    return _Block(
        (
            Convolution(batch, channels, width, 1, 1, size),
            Convolution(batch, width, width, 3, stride, size),
            Convolution(batch, width, wide, 1, 1, inner),
        ),
        Convolution(batch, channels, wide, 1, stride, size) if changed else None,
    )


def _network(w: ConvolutionalNetwork, batch: int, size: int) -> tuple[Convolution, list[_Block]]:
    """The first convolution, and the blocks behind the pooling."""
    stem = Convolution(batch, 3, _STEM, 7, 2, size)
    channels, size = _STEM, size // 4
    found = []
    for stage, depth in enumerate(w.blocks):
        for number in range(depth):
            block = _bottleneck(batch, channels, _STEM << stage, 2 if stage and not number else 1, size)
            found.append(block)
            channels, size = block.result[1], block.result[2]
    return stem, found


class _Step:
    """The instructions of one step of one rank."""

    def __init__(self, workload: ConvolutionalNetwork, layout: Layout, rank: int, number: int) -> None:
        self.w, self.layout, self.rank, self.host = workload, layout, rank, workload.host_us
        troubles = workload.troubles
        size = workload.size + (32 * (number % 3 - 1) if troubles.dynamic else 0)
        batch = round(workload.batch * (1 + troubles.more_data.get(rank, 0)))
        self.stem, self.blocks = _network(workload, batch, size)
        self.features = self.blocks[-1].result
        self._waiting = 0

    def instructions(self) -> Iterator[do.Instruction]:
        """From the data loader to the loss."""
        size = prod(self.stem.image)
        copy_us = size / _COPIED_BYTES_PER_US
        yield from at_head(self.w.troubles, self.rank, self.w.loader_us, size, copy_us=copy_us, ahead=True)
        yield from self._forward()
        yield from self._loss()
        yield from self._backward()
        yield from self._optimize()
        yield do.Synchronize(stack=stack(12))

    def _place(self, number: int, shape: tuple[int, ...], *, backward: bool = False) -> Place:
        flat = (shape[0] * shape[2] * shape[3], shape[1])
        return Place(self.rank, number, len(self.blocks), flat, self.host, backward)

    # Compute

    def _forward(self) -> Iterator[do.Instruction]:
        yield do.Begin("DistributedDataParallel.forward")
        yield images.cast(self.stem.image, "UINT8", "FLOAT16", self.host)
        yield images.elementwise("aten::sub_", "aclnnInplaceSub", "Sub", self.stem.image, self.host)
        yield images.elementwise("aten::div_", "aclnnInplaceDiv", "RealDiv", self.stem.image, self.host)
        yield images.enter(self.stem.image, self.host)
        yield from self._convolved(self.stem, 30, relu=True)
        yield images.pool(self.stem.result, self.host)
        for number, block in enumerate(self.blocks):
            yield from in_layer(self.w.troubles, self._place(number, block.result))
            yield from self._block_forward(block, 40 + number)
        yield do.End()

    def _block_forward(self, block: _Block, line: int) -> Iterator[do.Instruction]:
        last = len(block.convolutions) - 1
        for number, conv in enumerate(block.convolutions):
            yield from self._convolved(conv, line, relu=number < last)
        if block.shortcut:
            yield from self._convolved(block.shortcut, line, relu=False)
        yield images.elementwise("aten::add_", "aclnnInplaceAdd", "Add", block.result, self.host, inputs=2)
        yield images.elementwise("aten::relu_", "aclnnInplaceRelu", "Relu", block.result, self.host)

    def _convolved(self, conv: Convolution, line: int, *, relu: bool) -> Iterator[do.Instruction]:
        yield images.cast(conv.weight, "FLOAT", "FLOAT16", self.host)
        yield images.convolve(conv, self.host, stack(line))
        yield images.normalise(conv.result, self.host)
        if relu:
            yield images.elementwise("aten::relu_", "aclnnInplaceRelu", "Relu", conv.result, self.host)

    def _loss(self) -> Iterator[do.Instruction]:
        batch, channels = self.features[:2]
        scores = (batch, _CLASSES)
        yield images.elementwise("aten::mean", "aclnnMean", "ReduceMean", self.features, self.host)
        yield images.classify(batch, channels, _CLASSES, self.host)
        yield vector("aten::_log_softmax", "LogSoftmaxV2", scores, self.host, dtype="FLOAT")
        yield vector("aten::nll_loss_forward", "NLLLoss", (batch,), self.host, dtype="FLOAT")
        yield vector("aten::nll_loss_backward", "NLLLossGrad", scores, self.host, dtype="FLOAT")
        yield vector("aten::_log_softmax_backward_data", "LogSoftmaxGrad", scores, self.host, dtype="FLOAT", suffix="")

    def _backward(self) -> Iterator[do.Instruction]:
        batch, channels = self.features[:2]
        yield images.classify(batch, _CLASSES, channels, self.host, op="aten::mm")
        yield images.classify(_CLASSES, batch, channels, self.host, op="aten::mm")
        yield from self._give(channels * _CLASSES)
        yield images.elementwise("aten::div", "aclnnDivs", "RealDiv", self.features, self.host)
        for number, block in reversed(list(enumerate(self.blocks))):
            yield from in_layer(self.w.troubles, self._place(number, block.result, backward=True))
            yield from self._block_backward(block)
            yield do.Free(4 * len(block.weights) + 8)
        yield images.pool_backward(self.stem.result, self.host)
        yield from self._relu_backward(self.stem.result)
        yield images.normalise_backward(self.stem.result, self.host)
        yield images.convolve_backward(self.stem, self.host, first=True)
        yield from self._give(self.stem.parameters, last=True)
        if self.layout.dp > 1:
            yield do.AwaitCommunication()

    def _block_backward(self, block: _Block) -> Iterator[do.Instruction]:
        yield from self._relu_backward(block.result)
        if block.shortcut:
            yield from self._convolved_backward(block.shortcut)
        for number, conv in reversed(list(enumerate(block.convolutions))):
            if number < len(block.convolutions) - 1:
                yield from self._relu_backward(conv.result)
            yield from self._convolved_backward(conv)
        image = block.convolutions[0].image
        yield images.elementwise("aten::add_", "aclnnInplaceAdd", "Add", image, self.host, inputs=2)

    def _relu_backward(self, shape: tuple[int, ...]) -> Iterator[do.Instruction]:
        api = "aclnnThresholdBackward"
        yield images.elementwise("aten::threshold_backward", api, "ReluGrad", shape, self.host, inputs=2)

    def _convolved_backward(self, conv: Convolution) -> Iterator[do.Instruction]:
        yield images.normalise_backward(conv.result, self.host)
        yield images.convolve_backward(conv, self.host)
        yield images.scale_gradient(conv.weight, self.host)
        yield from self._give(conv.parameters)

    # Gradients

    def _give(self, parameters: int, *, last: bool = False) -> Iterator[do.Instruction]:
        """Put gradients into the bucket, and send it when it is full."""
        self._waiting += _FLOAT_BYTES * parameters
        full = self._waiting >= self.w.bucket_bytes and self.w.troubles.late_gradients < _LATE
        if self.layout.dp > 1 and (full or last):
            members = self.layout.group("dp", self.rank)
            size, self._waiting = self._waiting - self._waiting % (_FLOAT_BYTES * len(members)), 0
            yield do.Communicate("c10d::allreduce_", "allReduce", members, size, self.layout.gradients)

    def _optimize(self) -> Iterator[do.Instruction]:
        parameters = self.stem.parameters + _CLASSES * self.features[1]
        parameters += sum(conv.parameters for block in self.blocks for conv in block.weights)
        yield do.Begin("Optimizer.step#SGD.step")
        yield from images.momentum(parameters, self.host)
        yield do.End()
        yield do.Begin("Optimizer.zero_grad#SGD.zero_grad")
        yield do.Host("aten::zero_", 30.0)
        yield do.End()
        yield do.Free(1000)
