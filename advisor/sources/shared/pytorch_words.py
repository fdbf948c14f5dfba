# SPDX-License-Identifier: Apache-2.0
"""What PyTorch calls things in every profile of it, on any device: steps, optimizers, loaders, operators that wait."""

from __future__ import annotations

import re
from functools import lru_cache

from advisor.facts.table import Texts

STEP_NAME = re.compile(r"ProfilerStep#(\d{1,18})")
_OPERATORS = (("ProfilerStep#", "step"), ("Optimizer.", "optimizer"))
_LOADERS = ("DataLoader", "__next__")
OPERATOR_ACTIVITIES = {
    **dict.fromkeys(("aten::item", "aten::_local_scalar_dense", "aten::nonzero"), "read"),
    **dict.fromkeys(("aten::copy_", "aten::_to_copy", "aten::to"), "fetch"),
}
"""Framework operators in which the host may wait for what it is given; all others only launch."""
_MAKING = re.compile(
    r"aten::(?:rand|normal_|uniform_|random_|empty|zeros|ones|full|arange|linspace|eye$|tri[lu]_indices|scalar_tensor|lift)"
)
"""Framework operators that make a tensor and take none."""

COLLECTIONS_OF_GARBAGE = ("<built-in function collect>", "Python GC")
"""How a collection of garbage is called among the frames of the Python stack: one that the program asked for, and, with
`record_python_gc_info`, any."""

_COMPILING = re.compile(
    r"(?:^|/)torch/(?:_dynamo/convert_frame\.py\(\d+\): _?compile(?:_inner)?"
    r"|_inductor/compile_fx\.py\(\d+\): \w*(?:compile|codegen)\w*"
    r"|_inductor/async_compile\.py\(\d+\): wait"
    r"|_inductor/runtime/triton_heuristics\.py\(\d+\): (?:precompile|autotune_to_one_config|benchmark_all_configs))$"
    r"|(?:^|/)triton/(?:compiler/compiler\.py\(\d+\): compile|runtime/autotuner\.py\(\d+\): _bench)$"
    r"|(?:^|/)torchair/(?:ge/_ge_graph|core/_backend)\.py\(\d+\): compile$"
    r"| \(dynamo_timed\)$|^entire_frame_compile$"
)
"""Names of PyTorch and Triton while they trace and compile a program: frames of the Python stack and, where none were
recorded, ranges of their own. `Torch-Compiled Region` is none of them: it runs what was compiled."""


@lru_cache(maxsize=1 << 12)  # every rank of a job runs the same code
def activity_of_range(name: str) -> str:
    """What a frame of the Python stack or a range of the framework does; empty where that makes no difference."""
    return "compile" if _COMPILING.search(name) else ""


def activity_of_operator(name: str) -> str:
    """What an operator or a range of the framework does; empty where that makes no difference."""
    if _MAKING.match(name):
        return "make"
    return OPERATOR_ACTIVITIES.get(name, "") or activity_of_range(name)


MODULE_DOMAIN = "Module"
"""Domain of the mstx ranges by which programs mark the modules of their model (msprof-analyze, module_statistic)."""
_MODULE = "nn.Module: "


def module_names(names: Texts) -> Texts:
    """The module that each frame of the Python stack calls, such as `Linear_3`; missing for all other frames."""
    lookup = {name: name[len(_MODULE) :] for name in names.names if name.startswith(_MODULE) and name != _MODULE}
    return Texts.of(map(lookup.get, names.names)).at(names.codes)


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")


def without_addresses(names: Texts) -> Texts:
    """Names of Python calls without where in memory their object lay, which differs with every start of the process.

    `<built-in method arange of type object at 0x7d6b7761df60>` loses ` at 0x7d6b7761df60`.
    """
    if not any(" at 0x" in name for name in names.names):
        return names
    return Texts.of(_ADDRESS.sub("", name) for name in names.names).at(names.codes)


@lru_cache(maxsize=1 << 12)
def operator_kind(name: str) -> str:
    """Kind of a framework operator by its name."""
    if all(part in name for part in _LOADERS):
        return "data_loader"
    return next((kind for start, kind in _OPERATORS if name.startswith(start)), "operator")
