# SPDX-License-Identifier: Apache-2.0
"""In which precision products, convolutions and attention are worked out: by the types of inputs, else by name."""

from __future__ import annotations

import math
import re

import numpy as np

from advisor.analysis.rooflines.families import family_of
from advisor.facts.table import Array, Texts

_FLOAT32_INPUTS = ("FLOAT;", "GenericList;FLOAT;")
_SHORTER = re.compile(
    r"half|b?f(loat)?16|fp(16|8|4)|e[45]m[23]|[hi]gemm|hcudnn|int8|h(884|1688|16816)|tf32|s(1688|16816|161616)"
    r"|Cijk_[A-Za-z]+_[A-Za-z]+_(H|B|F8|I8)",
    re.IGNORECASE,
)
"""What the libraries of GPUs put into the names of kernels that multiply shorter numbers, or float32 in TF32."""
_FLOAT32 = re.compile(r"sgemm|scudnn|<float\b|Cijk_[A-Za-z]+_[A-Za-z]+_S_?B_")
"""And into those of kernels that multiply float32: cuBLAS and cuDNN, templates for one type, Tensile."""


def multiplied_in_float32(input_dtypes: Texts, functions: Texts) -> Array:
    """Per row: 1 where its first inputs are float32, 0 where not, -1 where neither types nor the function tell.

    Shapes and types of inputs are recorded only when asked for; the name of a kernel of a GPU's library tells as well,
    and alone that float32 inputs are multiplied as shorter numbers (TF32).
    """
    by_type = [*(int(name.startswith(_FLOAT32_INPUTS)) for name in input_dtypes.names), -1]
    by_name = [*map(_float32_by_name, functions.names), -1]
    typed = np.array(by_type, np.int8)[input_dtypes.codes]
    named = np.array(by_name, np.int8)[functions.codes]
    return np.where((typed < 0) | (named == 0), named, typed)


def rounds_float32(function: str) -> bool:
    """Whether the function of a GPU's library multiplies in fewer bits, float32 among them."""
    return _float32_by_name(function) == 0


def peak_dtype(op_type: str, dtype: str, hf32_share: float) -> str:
    """The data type whose peak counts for kernels that multiply this one, of which such a share in time may round
    float32 to HF32; empty where that is not known.

    Where nothing was recorded convolutions may (`torch.npu.conv.allow_hf32` is on unless somebody switches it off), and
    products may not (`torch.npu.matmul.allow_hf32`).
    """
    if hf32_share >= 1:
        return "HF32"
    is_unknown = dtype == "FLOAT" and math.isnan(hf32_share) and family_of(op_type) == "convolution"
    return "" if is_unknown or hf32_share > 0 else dtype


def _float32_by_name(function: str) -> int:
    if _SHORTER.search(function):
        return 0
    return 1 if _FLOAT32.search(function) else -1
