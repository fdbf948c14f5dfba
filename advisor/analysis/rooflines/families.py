# SPDX-License-Identifier: Apache-2.0
"""What kind of work an operator does, by its type and core: advice about one kind is wrong for another.

CANN spells a type in many versions (MatMulV2, BatchMatMulV3, QuantBatchMatmul), so families are told by patterns, the
first that fits. A type CANN has no name for begins with a small letter: the function of a kernel somebody wrote, such
as Triton's. What fits nothing is `other`; nothing is guessed from the core alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from advisor.facts.table import Array, Texts

AI_CPU_CORE = "AI_CPU"
"""The core of kernels that run on the AI CPU; whatever their type, they are a family of their own."""
AI_CPU = "ai_cpu"
OTHER = "other"

_PATTERNS = (
    ("custom", r"[a-z_]"),
    # but for what only sends data between the devices of attention and those of the experts
    (
        "attention",
        r"(?!AttentionToF|F(FN|fn)ToAttention).*(Attention|FlashMla|LightningIndexer)|(Multi|Sparse)HeadLatent|Mla(Prolog|Preprocess)",
    ),
    ("convolution", r"(Depthwise|Quant|Deformable|Extend)?Conv(olution)?([123]D|Transpose|V\d|$)|Deconvolution"),
    ("matmul", r".*Mat_?[Mm]ul|.*GEMM|Gemm|(Mm|Bmm|FullyConnection|FFN)(V\d)?$"),
    (
        "optimizer",
        r"Foreach|FusedEmaAdam|.*Apply(Ada|RMS|Rms|Momentum|CenteredRMS|Ftrl|GradientDescent|Proximal|PowerSign|"
        r"AddSign|Keras|FusedEma|Came)",
    ),
    (
        "movement",
        r"Cast|Trans(pose|Data)|TensorMove|ViewCopy|AsStrided|Slice|StridedSlice|Strided(Read|Write)|Split|Concat|"
        r"Pack|Unpack|Stack|Unstack|Gather|Scatter|Index|InplaceIndex|Embedding|MaskedSelect|Pad|MirrorPad|ConstantPad|"
        r"Tile|BroadcastTo|Expand|Fill|Zeros|Ones|MemSet|Memset|Repeat|Reverse|Roll|SpaceTo|DepthTo|BatchToSpace|"
        r"Im2col|Col2im|Identity|InplaceCopy|KvCache|ReshapeAndCache|Moe(Token)?(Init|Finalize|Permute|Unpermute|Re?[Rr]outing)",
    ),
    (
        "reduction",
        r"Reduce|.*Norm(?!al)|BNTraining|BNInfer|.*Softmax|LogSumExp|Arg(Max|Min)|TopK|Sort|Cum|Mean|Sum|"
        r".*Pool|NLLLoss|.*CrossEntropy|.*Loss|Histogram|Bincount|Unique|NonZero",
    ),
    (
        "elementwise",
        r"(Inplace)?(Adds?|Addc(mul|div)|Subs?|Muls?|Divs?|RealDiv|Neg|Abs|Exp|Log|Sqrt|Rsqrt|Pows?|Square|(Sin|Cos|Tan)h?|Tri[lu]|Logical(Not|And|Or)|Sigmoid|Relu|LeakyRelu|"
        r"PRelu|Elu|Gelu|FastGelu|Silu|Swish|Swi[Gg]lu|Ge[Gg]lu|Mish|Hard|Softplus|Less(Equal)?|Greater(Equal)?|Equal|NotEqual|"
        r"Bitwise|Select|Where|Maximum|Minimum|Clip|Drop[Oo]ut|Masked|Lerp|Axpy|Reciprocal|Inv|Sign|Erf|Is(Finite|Nan|Inf)|"
        r"Floor|Ceil|Round|Trunc|Mod|Fused(Mul|Add)|Rotary|ApplyRotary|Rope|DeQuant|Dequant|Quant|DynamicQuant|Ascend\w*Quant)"
        r"(?![a-z])",
    ),
)
_FAMILIES = tuple((family, re.compile(pattern)) for family, pattern in _PATTERNS)

_LIBRARY = re.compile(r"\w+::|(volta|turing|ampere|hopper|maxwell|sm\d+)_|cudnn|cublas|nvjet|Cijk_")
PRODUCT_IN_LIBRARIES = r"(?<!fb)gemm|matmul|cijk_|cutlass::kernel|nvjet"
"""In small letters: what the names of kernels that multiply hold in libraries for GPUs."""
_OF_LIBRARIES = (
    ("attention", r"attention|flash|fmha|(?<![a-z])mha"),
    ("convolution", r"conv(?!ert)|[dw]grad|fprop|scudnn|winograd"),
    (
        "matmul",
        PRODUCT_IN_LIBRARIES + r"|::(addmm|baddbmm|bmm|mm|mv|dot|linear|einsum|_(scaled_|int_|(scaled_)?grouped_)mm)$",
    ),
    ("optimizer", r"_foreach_|fused_(adam|sgd)|multi_tensor_apply|adagrad"),
    ("reduction", r"norm|(?<![a-z])bn_|softmax|pool|loss|mean|sum|reduce|sort|topk|scan|arg(max|min)|welford"),
    (
        "movement",
        r"copy|::_?cat|catarray|memset|fill|zero|transpose|permute|gather|scatter|index|(?<!rotary_)embedding|nchw|nhwc|pad(?![a-z])|"
        r"stack|split|slice|_to_copy|store_cache",
    ),
    (
        "elementwise",
        r"elementwise|::_?(add|sub|mul|div|pow|neg|abs|exp|log|sqrt|rsqrt|where|eq|ne|lt|gt|le|ge|addcmul|addcdiv)"
        r"(?![a-z])|threshold|clamp|relu|silu|swiglu|gelu|sigmoid|tanh|dropout|rotary|quantize|bernoulli|masked",
    ),
)
"""What PyTorch's operators and the kernels of libraries for GPUs do, by what is in their names in small letters: those
have a library before ::, or begin as its kernels do. Kernels that somebody wrote stay `custom`.
"""
_IN_LIBRARIES = tuple((family, re.compile(pattern)) for family, pattern in _OF_LIBRARIES)

MULTIPLYING = ("matmul", "convolution", "attention")
"""Families whose kernels use the cube unit."""
FAMILIES = (*(family for family, _ in _PATTERNS), AI_CPU, OTHER)
"""Every family there is."""


_INSIDE = re.compile(
    r"\w*(AllGather|AllReduce|ReduceScatter|All[Tt]o[Aa]ll)|(Cam|Shmem)?Moe\w*(Distribute|(Dispatch|Combine)Normal)|"
    r"(Shmem)?NotifyDispatch|DistributeBarrier|Dispatch(FFN|Ffn|Gmm)Combine|FusedDeepMoe|LinearParallel|"
    r"AttentionToF(FN|fn)|F(FN|fn)ToAttention|aiv_(all_(gather|reduce|to_all)|reduce_scatter|broadcast)"
)
"""Kernels that compute and communicate at once, or only communicate: the `mc2` operators of CANN, such as
MatmulReduceScatter, and those of ATB (LinearParallelOperation); what brings tokens to experts and back
(MoeDistributeDispatch and Combine), also of vLLM and SGLang on Ascend (CamMoeDispatchNormal, NotifyDispatch), with the
experts in between (DispatchFFNCombine, DispatchGmmCombineDecode, FusedDeepMoe), or on devices of their own
(AttentionToFFN); and collectives that HCCL runs on vector cores under their own name (aiv_all_reduce_910b_bfloat16_t,
where HCCL_OP_EXPANSION_MODE is AIV)."""


_BY_INDEX = re.compile(
    r"index(?!er)|gather|scatter|embedding|pool|sort|top_?k|cum(sum|prod|max|min)|scan|unique|nonzero|bincount"
    r"|masked_?select",
    re.IGNORECASE,
)
"""Operators that read or write where indices say, keep the indices they find, or work along an axis one by one."""


def go_by_index(types: Texts) -> Array:
    """Per row: whether operators of this type go by indices; they come to a small part of the bandwidth."""
    return types.passing(_BY_INDEX.search)


def communicate_inside(types: Texts) -> Array:
    """Per row: whether kernels of this type wait for other ranks inside; their time tells nothing of the device."""
    return types.passing(_INSIDE.match)


@lru_cache(maxsize=1 << 12)  # every rank of a job runs the same ones
def family_of(op_type: str) -> str:
    """The family of one operator type."""
    if _LIBRARY.match(op_type):
        plain = op_type.lower()
        return next((family for family, pattern in _IN_LIBRARIES if pattern.search(plain)), OTHER)
    return next((family for family, pattern in _FAMILIES if pattern.match(op_type)), OTHER)


def families_of(types: Texts, cores: Texts) -> Texts:
    """Per row: the family of its operator; whatever runs on the AI CPU is one of its own, missing types have none."""
    number = {family: code for code, family in enumerate(FAMILIES)}
    codes = np.array([*(number[family_of(name)] for name in types.names), -1], np.int32)[types.codes]
    aside = cores.isin([AI_CPU_CORE]) & (types.codes >= 0)
    return Texts(np.where(aside, number[AI_CPU], codes).astype(np.int32), FAMILIES)
