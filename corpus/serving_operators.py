# SPDX-License-Identifier: Apache-2.0
"""The operators of a decoder that serves requests: names, types, shapes and device times.

Types and times of decoding follow the operator table of a published comparison: vllm-ascend serving Qwen2.5-3B with 8
requests in BF16 (the note of the vllm-infini project on what its graph mode lacks). Per call it has MatMulV2
67 µs, FusedInferAttentionScore 24.3, ArgMaxV2 147, SwiGlu 8.5, AtbRopeKernel 5.1, AddRmsNorm 3.3,
ReshapeAndCacheNdKernel 3.0 and Slice 2.6. Its 145 products read 6.2 GB of weights in 9.7 ms: 0.64 TB/s.
"""

from __future__ import annotations

from math import prod

from corpus.events import KernelInfo
from corpus.operators import BF16, tensors
from corpus.program import Kernel, Launch

_WEIGHT_BYTES_PER_US = 0.64e6
_FLOPS_PER_US = 0.72 * 270e6
_ATTENTION_FLOPS_PER_US = 0.45 * 270e6
_CACHE_BYTES_PER_US = 0.8e6
_BYTES_PER_US = 1.0e6
_ATTENTION_START_US = 18.0
_SEARCHED_PER_US = 151_936 / 147
"""ArgMaxV2 takes 147 µs for 8 rows of 151 936 values, one row on each core."""
_VECTOR_CORES = 40
_LARGE_ROWS = 128
"""CANN takes MatMulV3 for products with many rows, MatMulV2 for those of decoding."""
_MAIN_STREAM = 2
"""Where the model computes."""
_BLOCK = 128
"""Tokens of one block of the cache, vllm-ascend's default."""
_CUBE = (("mac", 0.18), ("scalar", 0.12), ("mte1", 0.35), ("mte2", 0.91), ("fixpipe", 0.04))
_CUBE_BUSY = (("mac", 0.78), ("scalar", 0.12), ("mte1", 0.55), ("mte2", 0.62), ("fixpipe", 0.08))
_VECTOR = (("vec", 0.24), ("scalar", 0.21), ("mte2", 0.38), ("mte3", 0.27))


def linear(rows: int, inputs: int, outputs: int, host_us: float, stack: str = "") -> Launch:
    """A product with a weight: as long as reading the weight takes, or as the cube units take."""
    large = rows >= _LARGE_ROWS
    kind, middle = ("MatMulV3", "MatMulV3Common") if large else ("MatMulV2", "MatMulCommon")
    us = 1.6 + max(2 * inputs * outputs / _WEIGHT_BYTES_PER_US, 2.0 * rows * inputs * outputs / _FLOPS_PER_US)
    sides = tensors((rows, inputs), (inputs, outputs)), tensors((rows, outputs))
    info = KernelInfo(kind, "AI_CORE", 20, 0, *sides, shares=_CUBE_BUSY if large else _CUBE)
    kernel = Kernel(f"aclnnMatmul_{middle}_{kind}", us, info)
    return _launch(
        "aten::linear", "aclnnMatmul", kernel, host_us, of=(rows, inputs), gives=(rows, outputs), stack=stack
    )


def attend(prompts: int, rows: int, context: int, heads: tuple[int, int], host_us: float) -> Launch:
    """Attention over the paged cache: `rows` new tokens of `prompts` requests see `context` tokens each.

    `heads` are those of the queries and those of the cache.
    """
    asking, cached = heads
    width = 128 * asking
    flops = 4.0 * rows * context * width * (0.5 if rows > prompts else 1.0)
    read = 4.0 * prompts * context * 128 * cached
    us = _ATTENTION_START_US + max(flops / _ATTENTION_FLOPS_PER_US, read / _CACHE_BYTES_PER_US)
    blocks = (prompts * -(-context // _BLOCK), _BLOCK, 128 * cached)
    sides = tensors((rows, asking, 128), blocks, blocks), tensors((rows, asking, 128))
    kind = "FusedInferAttentionScore"
    info = KernelInfo(kind, "MIX_AIC", 20, 40, *sides, shares=_CUBE)
    kernel = Kernel(f"aclnn{kind}V3_{kind}_{kind}", us, info)
    op, shape = "npu::npu_fused_infer_attention_score", (rows, asking, 128)
    return _launch(op, f"aclnn{kind}V3", kernel, host_us * 1.6, of=shape, gives=shape)


def normalise(shape: tuple[int, int], host_us: float, *, add: bool = True) -> Launch:
    """Root mean square norm, with the addition of the residual before it."""
    kind = "AddRmsNorm" if add else "RmsNorm"
    op = "npu::npu_add_rms_norm" if add else "npu::npu_rms_norm"
    return _simple(op, f"aclnn{kind}", f"aclnn{kind}_{kind}_{kind}", shape, host_us, passes=4 if add else 2)


def activate(rows: int, width: int, host_us: float) -> Launch:
    """The gate of the feed-forward part: two halves in, one out."""
    name = "aclnnSwiGlu_SwiGlu_SwiGlu"
    return _simple("npu::npu_swiglu", "aclnnSwiGlu", name, (rows, width), host_us, passes=3, start=7.0)


def rotate(rows: int, width: int, host_us: float) -> Launch:
    """Rotary position embedding of queries and keys."""
    op = "npu::_npu_rotary_embedding"
    return _simple(op, "RopeOperation", "AtbRopeKernel", (rows, width), host_us, start=4.6)


def cut(rows: int, width: int, host_us: float) -> Launch:
    """Queries, keys and values taken out of their common product."""
    return _simple("aten::split", "aclnnSlice", "aclnnSlice_SliceAiCore_Slice", (rows, width), host_us, start=2.2)


def store(rows: int, cached: int, host_us: float) -> Launch:
    """New keys and values written to their places in the cache."""
    return _simple(
        "npu::_npu_reshape_and_cache",
        "ReshapeAndCacheOperation",
        "ReshapeAndCacheNdKernel",
        (rows, 128 * cached),
        host_us,
        start=2.6,
    )


def embed(rows: int, width: int, host_us: float) -> Launch:
    """The vectors of the tokens."""
    name = "aclnnEmbedding_GatherV2_GatherV2"
    return _simple("aten::embedding", "aclnnEmbedding", name, (rows, width), host_us, start=4.0)


def widen(shape: tuple[int, int], host_us: float) -> Launch:
    """The scores of the tokens in FP32, which sampling works in."""
    us = 1.6 + 6 * prod(shape) / _BYTES_PER_US
    info = KernelInfo("Cast", "AI_VECTOR_CORE", 40, 0, tensors(shape), tensors(shape, dtype="FLOAT"), shares=_VECTOR)
    kernel = Kernel("aclnnCast_CastAiCore_Cast", us, info)
    return _launch("npu::_npu_dtype_cast", "aclnnCast", kernel, host_us, of=shape, gives=shape)


def draw(shape: tuple[int, int], us: float, host_us: float) -> Launch:
    """A random number for each word and request, by the unit that makes nothing else."""
    info = KernelInfo("DSARandomUniform", "DSA_SQE", 1, 0, tensors(shape), tensors(shape, dtype="FLOAT"))
    kernel = Kernel("aclnnInplaceUniform_DSARandomUniformAiCore_DSARandomUniform", us, info, stream=_MAIN_STREAM)
    return _launch("aten::uniform_", "aclnnInplaceUniform", kernel, host_us, of=shape, gives=shape)


def choose(shape: tuple[int, int], host_us: float) -> Launch:
    """The best token of each request."""
    us = -(-shape[0] // _VECTOR_CORES) * shape[1] / _SEARCHED_PER_US
    info = KernelInfo(
        "ArgMaxV2", "AI_VECTOR_CORE", 40, 0, tensors(shape, dtype="FLOAT"), tensors(shape[:1], dtype="INT64"),
        shares=_VECTOR,
    )  # fmt: skip
    kernel = Kernel("aclnnArgMax_ArgMaxV2_ArgMaxV2", us, info)
    return _launch("aten::argmax", "aclnnArgMax", kernel, host_us, of=shape, gives=shape[:1])


def _simple(
    op: str, api: str, name: str, shape: tuple[int, int], host_us: float, *, passes: int = 2, start: float = 2.4
) -> Launch:
    """An operator bound by memory, or by its start; the type of a kernel ends its name."""
    us = start + 2 * passes * prod(shape) / _BYTES_PER_US
    info = KernelInfo(name.rpartition("_")[2], "AI_VECTOR_CORE", 40, 0, tensors(shape), tensors(shape), shares=_VECTOR)
    return _launch(op, api, Kernel(name, us, info), host_us, of=shape, gives=shape)


def _launch(
    op: str, api: str, kernel: Kernel, host_us: float, *, of: tuple[int, ...], gives: tuple[int, ...], stack: str = ""
) -> Launch:
    dtype = "c10::BFloat16" if kernel.info.inputs.dtypes.startswith(BF16) else "float"
    return Launch(op, api, (kernel,), host_us, 0, 2 * prod(gives), ",".join(map(str, of)), dtype, stack)
