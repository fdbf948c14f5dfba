# SPDX-License-Identifier: Apache-2.0
"""The operators of a transformer on an Ascend 910B: names, types, shapes and device times.

Device times follow from work over speed. A 910B with 20 cores at 1650 MHz peaks at 270 TFLOPS in BF16
(cores x Hz x 8192) and a MatMulV3 of 4096 x 1024 x 4096 has been seen at 75 % of it; vector operators are bound by
memory. Operator names, cores and formats are those CANN 8 writes (msinsight AlexNet DDP capture, kernel_details.csv).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from corpus.events import KernelInfo, Tensors
from corpus.program import Kernel, Launch

_MATMUL_FLOPS_PER_US = 0.72 * 270e6
_GROUPED_SHARE = 0.8
_ATTENTION_FLOPS_PER_US = 0.45 * 270e6
_VECTOR_BYTES_PER_US = 1.0e6
_ADAM_BYTES_PER_US = 0.9e6
_ADAM_BYTES = 28
"""Per parameter: FP32 weight, two moments and gradient are read, all but the gradient written. The ten large ApplyAdamW
of the msprof-analyze test capture of a training step have these inputs and outputs, and move such bytes at 0.92 of the
pace of its large Mul and Cast (1.17 and 1.27 TB/s in the median)."""
_START_US = 1.6
"""The shortest kernels of the AlexNet capture take 1.3 to 1.8 µs."""
_CUBE = (("mac", 0.78), ("scalar", 0.12), ("mte1", 0.55), ("mte2", 0.62), ("fixpipe", 0.08))
_VECTOR = (("vec", 0.21), ("scalar", 0.08), ("mte2", 0.55), ("mte3", 0.42))
BF16 = "DT_BF16"


@lru_cache(maxsize=4096)
def tensors(*shapes: tuple[int, ...], dtype: str = BF16, form: str = "ND") -> Tensors:
    """Tensors of one type and format, as kernel_details spells them."""
    text = ";".join(",".join(map(str, shape)) for shape in shapes)
    return Tensors(text, ";".join([dtype] * len(shapes)), ";".join([form] * len(shapes)))


@lru_cache(maxsize=4096)
def matmul(
    m: int, k: int, n: int, host_us: float, *, op: str = "aten::matmul", stack: str = "", slower: float = 1.0
) -> Launch:
    """A product of an m x k and a k x n matrix, that many times slower than one whose sides are whole tiles."""
    shares = tuple((pipe, round(busy / slower, 3) if pipe == "mac" else busy) for pipe, busy in _CUBE)
    info = KernelInfo("MatMulV3", "AI_CORE", 20, 0, tensors((m, k), (k, n)), tensors((m, n)), shares=shares)
    kernel = Kernel("aclnnMatmul_MatMulV3Common_MatMulV3", _start_us(round(m * k * n * slower)), info)
    return Launch(
        op, "aclnnMatmul", (kernel,), host_us, 0, 2 * m * n, f"{m},{k};{k},{n}", "c10::BFloat16;c10::BFloat16", stack
    )


def batched_matmul(batch: int, m: int, k: int, n: int, host_us: float) -> Launch:
    """Products of `batch` pairs of matrices."""
    info = KernelInfo("BatchMatMulV3", "AI_CORE", 20, 0, tensors((batch, m, k), (batch, k, n)), tensors((batch, m, n)),
                      shares=_CUBE)  # fmt: skip
    kernel = Kernel("aclnnBatchMatMul_BatchMatMulV3_BatchMatMulV3", _start_us(batch * m * k * n), info)
    return Launch("aten::bmm", "aclnnBatchMatMul", (kernel,), host_us, 0, 2 * batch * m * n)


def grouped_matmul(rows: int, k: int, n: int, experts: int, host_us: float) -> Launch:
    """The products of all experts of a rank with the tokens they were sent, at less of the peak than one product."""
    inputs, outputs = tensors((rows, k), (experts, k, n)), tensors((rows, n))
    info = KernelInfo("GroupedMatmul", "MIX_AIC", 20, 40, inputs, outputs, shares=_CUBE)
    us = _start_us(round(rows * k * n / _GROUPED_SHARE))
    kernel = Kernel("aclnnGroupedMatmulV4_GroupedMatmul_GroupedMatmul", us, info)
    return Launch("npu::npu_grouped_matmul", "aclnnGroupedMatmulV4", (kernel,), host_us * 1.6, 0, 2 * rows * n)


def _start_us(products: int) -> float:
    return _START_US + 2.0 * products / _MATMUL_FLOPS_PER_US


def matmul_all_reduce(m: int, k: int, n: int, host_us: float) -> Launch:
    """A product in the kernel that sums its results over ranks as well."""
    info = KernelInfo("MatmulAllReduce", "MIX_AIC", 20, 40, tensors((m, k), (k, n)), tensors((m, n)), shares=_CUBE)
    kernel = Kernel("aclnnMatmulAllReduce_MatmulAllReduce_MatmulAllReduce", _start_us(m * k * n), info)
    return Launch("npu::npu_mm_all_reduce_base", "aclnnMatmulAllReduce", (kernel,), host_us * 1.6, 0, 2 * m * n)


@lru_cache(maxsize=4096)
def attention(batch: int, sequence: int, hidden: int, host_us: float, backward: bool = False) -> Launch:
    """Fused causal attention with heads of 128, forward or backward."""
    flops = 4.0 * batch * sequence * sequence * hidden / 2 * (2.5 if backward else 1)
    shape = (batch, sequence, hidden)
    name = "FlashAttentionScoreGrad" if backward else "FlashAttentionScore"
    info = KernelInfo(name, "MIX_AIC", 20, 40, tensors(shape, shape, shape), tensors(shape), shares=_CUBE)
    kernel = Kernel(f"aclnn{name}_{name}_{name}", _START_US + flops / _ATTENTION_FLOPS_PER_US, info)
    op = "npu::npu_fusion_attention_grad" if backward else "npu::npu_fusion_attention"
    return Launch(op, f"aclnn{name}", (kernel,), host_us * 1.6, 0, 2 * batch * sequence * hidden)


@lru_cache(maxsize=4096)
def vector(
    op: str, kind: str, shape: tuple[int, ...], host_us: float, *, inputs: int = 1, dtype: str = BF16, core: str = "",
    form: str = "ND", us: float = 0.0, suffix: str = "AiCore", state: str = "dynamic",
) -> Launch:  # fmt: skip
    """An operator bound by memory: it reads its inputs and writes one output of the same shape."""
    size = 2 if dtype in (BF16, "FLOAT16") else 4
    count = size
    for extent in shape:
        count *= extent
    took = us or _START_US + (inputs + 1) * count / _VECTOR_BYTES_PER_US
    blocks = 1 if core == "AI_CPU" else min(40, 1 + count // 65536)
    info = KernelInfo(
        kind, core or "AI_VECTOR_CORE", blocks, 0, tensors(*[shape] * inputs, dtype=dtype, form=form),
        tensors(shape, dtype=dtype, form=form), state, () if core == "AI_CPU" else _VECTOR,
    )  # fmt: skip
    api = f"aclnn{op.rsplit('::', maxsplit=1)[-1].rstrip('_').title().replace('_', '')}"
    kernel = Kernel(f"{api}_{kind}{suffix}_{kind}", took, info)
    text = ",".join(map(str, shape))
    return Launch(op, api, (kernel,), host_us, 0, count, ";".join([text] * inputs))


def fused_adam(parameters: int, host_us: float) -> Launch:
    """The update of one parameter tensor in FP32 by one kernel, in place."""
    us = _ADAM_BYTES * parameters / _ADAM_BYTES_PER_US
    plain = vector("npu::npu_apply_adam_w", "ApplyAdamWV2", (parameters,), host_us, dtype="FLOAT", us=us, suffix="")
    (kernel,) = plain.kernels
    large = (parameters,)
    inputs, outputs = tensors(*[large] * 4, (1,), dtype="FLOAT"), tensors(*[large] * 3, dtype="FLOAT")
    return replace(plain, kernels=(replace(kernel, info=replace(kernel.info, inputs=inputs, outputs=outputs)),))


def cast(shape: tuple[int, ...], host_us: float) -> Launch:
    """A conversion of data type that the surrounding operators do not need."""
    return vector("npu::npu_dtype_cast", "Cast", shape, host_us, dtype="FLOAT")


def convert_format(shape: tuple[int, ...], host_us: float) -> Launch:
    """A conversion of memory format. They take 7 to 71 µs in the AlexNet capture."""
    return vector("npu::npu_format_cast", "TransData", shape, host_us, dtype="FLOAT", form="NCHW", suffix="")
