# SPDX-License-Identifier: Apache-2.0
"""The operators of an image network: names, types, shapes, formats and device times.

Names, formats and the order of kernels inside one call follow the msinsight AlexNet DDP capture (kernel_details.csv,
CANN 8) and the aclnn calls of CANN's public operator sources; in FP16 the blocked layout holds 16 channels where the
capture, in FP32, has 8. Times are work over speed. In the capture a 3 x 3 convolution of 7.2 GFLOP takes 78 µs, its
filter gradient 79 and its input gradient 109, at a peak half as high as that of FP16: 68 %, 68 % and 49 % of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from corpus.events import KernelInfo, Tensors
from corpus.operators import tensors
from corpus.program import Kernel, Launch

_PEAK_FLOPS_PER_US = 270e6
_FORWARD, _INPUT_GRADIENT, _FILTER_GRADIENT = 0.68, 0.49, 0.68
_BYTES_PER_US = 1.0e6
_FOREACH_BYTES_PER_US = 1.17e6
"""ForeachAddList of the capture: three times 61 million floats in 628 µs."""
_CONVERTED_BYTES_PER_US = 0.25e6
"""TransData of the weights in the capture: 884 736 floats, padded and permuted, in 29 to 52 µs."""
_START_US = 1.6
_CHANNELS = 16
"""Channels of one block of NC1HWC0 in FP16."""
_HALF = "FLOAT16"
_BYTES = {"UINT8": 1, "FLOAT16": 2, "FLOAT": 4}
Tensor = tuple[tuple[int, ...], str, str]
"""Shape, type and format."""
_CUBE = (("mac", 0.74), ("scalar", 0.1), ("mte1", 0.4), ("mte2", 0.66), ("fixpipe", 0.12))
_VECTOR = (("vec", 0.21), ("scalar", 0.08), ("mte2", 0.55), ("mte3", 0.42))
_FILL_US = 12.0
"""A MemSet before a kernel that adds up in memory; 10 to 15 µs in the capture."""


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution without bias over square images, `size` pixels wide at its input."""

    batch: int
    channels: int
    filters: int
    kernel: int
    stride: int
    size: int

    @property
    def parameters(self) -> int:
        """Elements of the weight."""
        return self.filters * self.channels * self.kernel**2

    @property
    def weight(self) -> tuple[int, ...]:
        """Shape of the weight."""
        return self.filters, self.channels, self.kernel, self.kernel

    @property
    def image(self) -> tuple[int, ...]:
        """Shape of the input, NCHW."""
        return self.batch, self.channels, self.size, self.size

    @property
    def result(self) -> tuple[int, ...]:
        """Shape of the output, NCHW."""
        return self.batch, self.filters, self.size // self.stride, self.size // self.stride

    def us(self, efficiency: float) -> float:
        """Time of one pass: bound by the cube units or by memory."""
        flops = 2.0 * self.parameters * self.batch * self.result[2] ** 2
        moved = 2 * (prod(self.image) + prod(self.result) + self.parameters)
        return _START_US + max(flops / (efficiency * _PEAK_FLOPS_PER_US), moved / _BYTES_PER_US)


def blocked(shape: tuple[int, ...]) -> tuple[int, ...]:
    """An NCHW shape in NC1HWC0."""
    return shape[0], -(-shape[1] // _CHANNELS), shape[2], shape[3], _CHANNELS


def fractal(weight: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a weight in FRACTAL_Z."""
    taps = -(-weight[1] // _CHANNELS) * weight[2] * weight[3]
    return taps, -(-weight[0] // _CHANNELS), _CHANNELS, _CHANNELS


def mixed(*parts: Tensor) -> Tensors:
    """Tensors that differ in type and format."""
    shapes = ";".join(",".join(map(str, shape)) for shape, _, _ in parts)
    return Tensors(shapes, ";".join(dtype for _, dtype, _ in parts), ";".join(form for _, _, form in parts))


def convolve(conv: Convolution, host_us: float, stack: str = "") -> Launch:
    """The forward pass: the weight is brought to the layout of the cube unit, then multiplied."""
    filters = (fractal(conv.weight), _HALF, "FRACTAL_Z")
    weight = _converted("aclnnConvolution_TransData_TransData", (conv.weight, _HALF, "NCHW"), filters)
    inputs = mixed((blocked(conv.image), _HALF, "NC1HWC0"), filters)
    name = "aclnnConvolution_Conv2dWithFlag_Conv2D"
    product = _cube(name, "Conv2D", conv.us(_FORWARD), inputs, _image(conv.result))
    return _launch(
        "aten::conv2d",
        "aclnnConvolution",
        weight,
        product,
        host_us=host_us,
        of=conv.image,
        gives=conv.result,
        stack=stack,
    )


def convolve_backward(conv: Convolution, host_us: float, *, first: bool = False) -> Launch:
    """The gradients of input and weight; the first layer of a network needs none of its input."""
    gradient, places = (blocked(conv.result), _HALF, "NC1HWC0"), ((4,), "INT32", "NCHW")
    before = "aclnnConvolutionBackward"
    kernels = []
    if not first:
        filters = (fractal(conv.weight), _HALF, "FRACTAL_Z")
        inputs = mixed(places, filters, gradient)
        name = f"{before}_Conv2DBackpropInputFp162Fp16_Conv2DBackpropInput"
        kernels += [
            _converted(f"{before}_TransData_TransData", (conv.weight, _HALF, "NCHW"), filters),
            _cube(name, "Conv2DBackpropInput", conv.us(_INPUT_GRADIENT), inputs, _image(conv.image)),
        ]
    inputs = mixed((blocked(conv.image), _HALF, "NC1HWC0"), places, gradient)
    changes = (fractal(conv.weight), "FLOAT", "FRACTAL_Z")
    name = f"{before}_Conv2DBackpropFilterFp162Fp32_Conv2DBackpropFilter"
    kernels += [
        _fill(f"{before}_Conv2DBackpropFilterFp162Fp32_MemSet"),
        _cube(name, "Conv2DBackpropFilter", conv.us(_FILTER_GRADIENT), inputs, mixed(changes)),
        _converted(f"{before}_TransData_TransData", changes, (conv.weight, "FLOAT", "NCHW")),
    ]
    return _launch(
        "aten::convolution_backward", before, *kernels, host_us=host_us * 1.6, of=conv.result, gives=conv.image
    )


def normalise(shape: tuple[int, ...], host_us: float) -> Launch:
    """Batch normalisation: one pass for the statistics, one to apply them."""
    image, channels = (blocked(shape), _HALF, "NC1HWC0"), (blocked((1, shape[1], 1, 1)), "FLOAT", "NC1HWC0")
    statistics = mixed(channels, channels)
    inputs = mixed(image, *[channels] * 6)
    name = "aclnnBatchNorm_{0}_{0}".format
    kernels = (
        _fill("aclnnBatchNorm_BNTrainingReduce_MemSet"),
        _vector(name("BNTrainingReduce"), "BNTrainingReduce", _passes(shape, 1), mixed(image), statistics),
        _vector(name("BNTrainingUpdate"), "BNTrainingUpdate", _passes(shape, 2), inputs, mixed(image, *[channels] * 4)),
    )
    return _launch("aten::batch_norm", "aclnnBatchNorm", *kernels, host_us=host_us * 1.4, of=shape, gives=shape)


def normalise_backward(shape: tuple[int, ...], host_us: float) -> Launch:
    """The gradients of scale and offset, then that of the input."""
    image, channels = (blocked(shape), _HALF, "NC1HWC0"), (blocked((1, shape[1], 1, 1)), "FLOAT", "NC1HWC0")
    before = "aclnnBatchNormBackward"
    inputs = mixed(image, image, channels, channels)
    kernels = (
        _fill(f"{before}_BNTrainingUpdateGrad_MemSet"),
        _vector(
            f"{before}_BNTrainingUpdateGrad_BNTrainingUpdateGrad", "BNTrainingUpdateGrad", _passes(shape, 2), inputs,
            mixed(channels, channels),
        ),
        _vector(
            f"{before}_BNTrainingReduceGrad_BNTrainingReduceGrad", "BNTrainingReduceGrad", _passes(shape, 3),
            mixed(image, image, *[channels] * 5), mixed(image),
        ),
    )  # fmt: skip
    return _launch("aten::native_batch_norm_backward", before, *kernels, host_us=host_us * 1.4, of=shape, gives=shape)


def pool(shape: tuple[int, ...], host_us: float) -> Launch:
    """Maximum pooling to half the size, with the places of the maxima."""
    small = (*shape[:2], shape[2] // 2, shape[3] // 2)
    name = "aclnnMaxPool2dWithMask_MaxPoolWithArgmaxV1AiCore_MaxPoolWithArgmaxV1"
    kernel = _vector(name, "MaxPoolWithArgmaxV1", 2 * _passes(shape, 2), _image(shape), _image(small, small))
    return _launch(
        "aten::max_pool2d_with_indices", "aclnnMaxPool2dWithMask", kernel, host_us=host_us * 1.4, of=shape, gives=small
    )


def pool_backward(shape: tuple[int, ...], host_us: float) -> Launch:
    """The gradient of `pool`, whose input had this shape."""
    small = (*shape[:2], shape[2] // 2, shape[3] // 2)
    api = "aclnnMaxPool2dWithMaskBackward"
    name = f"{api}_MaxPoolGradWithArgmaxV1AiCore_MaxPoolGradWithArgmaxV1"
    inputs = _image(shape, small, small)
    kernel = _vector(name, "MaxPoolGradWithArgmaxV1", 1.4 * _passes(shape, 3), inputs, _image(shape))
    return _launch("aten::max_pool2d_with_indices_backward", api, kernel, host_us=host_us * 1.4, of=small, gives=shape)


def elementwise(op: str, api: str, kind: str, shape: tuple[int, ...], host_us: float, *, inputs: int = 1) -> Launch:
    """An operator that reads its inputs once and writes one output; in place when its name ends in `_`."""
    middle = kind if kind in ("Relu", "ReluGrad") else f"{kind}AiCore"
    kernel = _vector(
        f"{api}_{middle}_{kind}", kind, _passes(shape, inputs + 1), _image(*[shape] * inputs), _image(shape)
    )
    return _launch(op, api, kernel, host_us=host_us, of=shape, gives=() if op.endswith("_") else shape)


def enter(images: tuple[int, ...], host_us: float) -> Launch:
    """The batch of images brought from the plain to the blocked layout."""
    elements = 2 * prod(images) + 2 * prod(blocked(images))
    info = KernelInfo(
        "TransData", "AI_VECTOR_CORE", 32, 0, tensors(images, dtype=_HALF, form="NCHW"), _image(images), shares=_VECTOR
    )
    kernel = Kernel("aclnnNpuFormatCast_TransDataSpecial_TransData", _START_US + elements / _BYTES_PER_US, info)
    return _launch("npu::npu_format_cast", "aclnnNpuFormatCast", kernel, host_us=host_us, of=images, gives=images)


def cast(shape: tuple[int, ...], before: str, after: str, host_us: float) -> Launch:
    """A change of data type, such as autocast makes of each weight."""
    us = _START_US + prod(shape) * (_BYTES[before] + _BYTES[after]) / _BYTES_PER_US
    sides = (tensors(shape, dtype=before, form="NCHW"), tensors(shape, dtype=after, form="NCHW"))
    kernel = _vector("aclnnCast_CastAiCore_Cast", "Cast", us, *sides)
    return _launch("npu::_npu_dtype_cast", "aclnnCast", kernel, host_us=host_us, of=shape, gives=shape)


def classify(rows: int, width: int, classes: int, host_us: float, *, op: str = "aten::addmm") -> Launch:
    """A product with the weight of the last layer, or one of its gradients."""
    api = "aclnnAddmm" if op == "aten::addmm" else "aclnnMm"
    us = _START_US + 2.0 * rows * width * classes / (_INPUT_GRADIENT * _PEAK_FLOPS_PER_US)
    sides = tensors((rows, width), (width, classes), dtype=_HALF), tensors((rows, classes), dtype=_HALF)
    kernel = _cube(f"{api}_MatMulCommon_MatMulV2", "MatMulV2", us, *sides)
    return _launch(op, api, kernel, host_us=host_us, of=(rows, width), gives=(rows, classes))


def scale_gradient(shape: tuple[int, ...], host_us: float) -> Launch:
    """A gradient divided by the number of ranks on its way into a bucket."""
    sides = (tensors(shape, dtype="FLOAT", form="NCHW"), tensors(shape, dtype="FLOAT", form="NCHW"))
    kernel = _vector("aclnnMuls_MulAiCore_Mul", "Mul", _START_US + 8 * prod(shape) / _BYTES_PER_US, *sides)
    return _launch("torch::distributed::reducer::mul_out", "aclnnMuls", kernel, host_us=host_us, of=shape)


def momentum(parameters: int, host_us: float) -> tuple[Launch, ...]:
    """Stochastic gradient descent with weight decay and momentum over all parameters, as the capture does it."""
    add = _foreach(
        "aten::_foreach_add_",
        "aclnnForeachAddListV2",
        "ForeachAddList",
        passes=3,
        parameters=parameters,
        host_us=host_us,
    )
    multiply = _foreach(
        "aten::_foreach_mul_",
        "aclnnForeachMulScalarV2",
        "ForeachMulScalar",
        passes=2,
        parameters=parameters,
        host_us=host_us,
    )
    return add, multiply, add, add


def _foreach(op: str, api: str, kind: str, *, passes: int, parameters: int, host_us: float) -> Launch:
    flat = tensors(*[(parameters,)] * (passes - 1), dtype="FLOAT")
    us = _START_US + 4 * passes * parameters / _FOREACH_BYTES_PER_US
    kernel = _vector(f"{api}_{api.removeprefix('aclnn')}_{kind}", kind, us, flat, tensors((parameters,), dtype="FLOAT"))
    return _launch(op, api, kernel, host_us=host_us * 8, of=(parameters,))


def _passes(shape: tuple[int, ...], count: int) -> float:
    return _START_US + 2 * count * prod(shape) / _BYTES_PER_US


def _image(*shapes: tuple[int, ...]) -> Tensors:
    return tensors(*map(blocked, shapes), dtype=_HALF, form="NC1HWC0")


def _fill(name: str) -> Kernel:
    return Kernel(name, _FILL_US, KernelInfo("MemSet", "AI_VECTOR_CORE", 48, shares=_VECTOR))


def _cube(name: str, kind: str, us: float, inputs: Tensors, outputs: Tensors) -> Kernel:
    return Kernel(name, us, KernelInfo(kind, "AI_CORE", 20, 0, inputs, outputs, shares=_CUBE))


def _vector(name: str, kind: str, us: float, inputs: Tensors, outputs: Tensors) -> Kernel:
    return Kernel(name, us, KernelInfo(kind, "AI_VECTOR_CORE", 40, 0, inputs, outputs, shares=_VECTOR))


def _converted(name: str, before: Tensor, after: Tensor) -> Kernel:
    """A weight or its gradient brought to another layout."""
    us = _START_US + 2 * _BYTES[before[1]] * prod(before[0]) / _CONVERTED_BYTES_PER_US
    info = KernelInfo("TransData", "AI_VECTOR_CORE", 43, 0, mixed(before), mixed(after), shares=_VECTOR)
    return Kernel(name, us, info)


def _launch(
    op: str, api: str, *kernels: Kernel, host_us: float, of: tuple[int, ...], gives: tuple[int, ...] = (),
    stack: str = "",
) -> Launch:  # fmt: skip
    size = 2 * prod(gives) if gives else 0
    return Launch(op, api, kernels, host_us, 0, size, ",".join(map(str, of)), "c10::Half", stack)
