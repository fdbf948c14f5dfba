# SPDX-License-Identifier: Apache-2.0
"""Where in the model the host was, and which backward operator belongs to which forward one."""

from __future__ import annotations

from typing import Annotated

from advisor.facts.base import Fact, Key, Moment, Ns, Rank, Volatile
from advisor.facts.observed.recording import BOTH
from advisor.messages.text import Text


class ModuleRange(Fact):
    """One call of a module of the model on the host, from its begin to its end; calls inside of it lie inside.

    Marks that the program sets (mstx ranges of the domain `Module`) stand before those that the profiler takes from
    Python (`nn.Module: …`): where there are marks, they alone are given.
    """

    table = "module_ranges"
    heavy = True
    moment = Moment(end="end_ns")
    record_with = Text(
        en="mark the modules with mstx ranges of the domain `Module` (`advisor modules` shows the code), or record "
        "with with_stack=True",
        zh="用 domain 为 `Module` 的 mstx range 标记模块（`advisor modules` 给出代码），或采集时设置 with_stack=True",
    )

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    source: Annotated[str, Key("`mark` (set by the program) or `python` (a call of `nn.Module` on the Python stack).")]
    name: Annotated[str, Key("Name of the module: what the mark says, or class and number such as Linear_3.")]
    start_ns: Annotated[int, Ns("Begin.")]
    end_ns: Annotated[int, Ns("End.")]


class GradientLink(Fact):
    """One operator of the backward pass, and the operator of the forward pass whose gradient it computes."""

    table = "gradient_links"
    heavy = True
    record_with = BOTH

    rank: Rank
    forward_start_ns: Annotated[int, Ns("Start of the operator of the forward pass.")]
    backward_start_ns: Annotated[int, Ns("Start of the operator of the backward pass.")]
