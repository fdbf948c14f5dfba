# SPDX-License-Identifier: Apache-2.0
"""Where in the model the host was, and which backward operator belongs to which forward one."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Index, Key, Moment, Name, Ns, Rank, Volatile
from advisor.facts.observed.recording import BOTH
from advisor.messages.text import Text


class ModuleRange(Fact):
    """One call of a module of the model on the host, from its begin to its end; calls inside of it lie inside.

    Marks that the program sets (mstx ranges of the domain `Module`) take precedence over those that the profiler takes
    from Python (`nn.Module: …`): where there are marks, they alone are given.
    """

    table = "module_ranges"
    called = Text("calls of modules", "模块调用")
    heavy = True
    moment = Moment(end="end_ns")
    record_with = Text(
        en="mark the modules with mstx ranges of the domain `Module` (`advisor modules` shows the code), or record "
        "call stacks that name them (with_stack=True, in most versions)",
        zh="用 domain 为 `Module` 的 mstx range 标记模块（`advisor modules` 给出代码），或采集带模块名的调用栈"
        "（多数版本设置 with_stack=True 即可）",
    )

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    source: Annotated[str, Key("`mark` (set by the program) or `python` (a call of `nn.Module` on the Python stack).")]
    name: Annotated[str, Key("Name of the module: what the mark says, or class and number such as Linear_3.")]
    start_ns: Annotated[int, Ns("Begin.")]
    end_ns: Annotated[int, Ns("End.")]


class ProgramMark(Fact):
    """One mark or range that the program set on the host: mstx of Ascend, in any domain."""

    table = "program_marks"
    called = Text("marks of the program", "程序打点")
    heavy = True
    moment = Moment(end="end_ns")
    record_with = Text(
        en="set mstx marks in the program, and record with mstx=True (older versions: msprof_tx=True)",
        zh="在程序中用 mstx 打点，采集时设置 mstx=True（旧版为 msprof_tx=True）",
    )

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    domain: Annotated[str, Key("Domain the program named.")]
    name: Annotated[str, Key("What the mark says.")]
    start_ns: Annotated[int, Ns("Begin.")]
    end_ns: Annotated[int, Ns("End; the begin where it is a moment.")]


class AttentionMark(Fact):
    """What the program said of one call of fused attention that it was about to make; unreadable marks are left out.

    Marks are mstx marks of the domain `flash_attn_args`.
    """

    table = "attention_marks"
    called = Text("marks of attention calls", "注意力调用的打点")
    heavy = True
    record_with = Text(
        en="mark calls of attention with mstx marks of the domain `flash_attn_args` (docs/modules.md shows the code)",
        zh="用 domain 为 `flash_attn_args` 的 mstx mark 标记注意力调用（代码见 docs/modules.md）",
    )

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    start_ns: Annotated[int, Ns("When it was set: directly before the call.")]
    layout: Annotated[
        str, Key("How queries, keys and values lie: `BSH`, `SBH`, `BSND`, `BNSD` or `TND`; missing where not said.")
    ]
    sparse_mode: Annotated[
        int, Index("`sparse_mode` of npu_fusion_attention; a causal call of PyTorch is 2, one that is not is 0.")
    ]
    previous_tokens: Annotated[
        float, Count("So many keys before its own place a query meets (`pre_tockens`); missing where not said.")
    ]
    next_tokens: Annotated[
        float, Count("So many keys behind its own place a query meets (`next_tockens`); missing where not said.")
    ]
    query_ends: Annotated[
        str, Name("Where the queries of each sequence end in packed ones (TND), `,` between; missing where not said.")
    ]
    key_ends: Annotated[str, Name("The same of the keys.")]
    prefixes: Annotated[
        str,
        Name("So many first keys all queries of each sequence meet (`prefix`), `,` between; missing where not said."),
    ]


class GradientLink(Fact):
    """One operator of the backward pass, and the operator of the forward pass whose gradient it computes."""

    table = "gradient_links"
    called = Text("links from forward to backward operators", "前向与反向算子的关联")
    heavy = True
    record_with = BOTH

    rank: Rank
    forward_start_ns: Annotated[int, Ns("Start of the operator of the forward pass.")]
    backward_start_ns: Annotated[int, Ns("Start of the operator of the backward pass.")]


class AutogradCall(Fact):
    """One operator that was called while autograd recorded, with the number that the next gradient has then.

    The number grows by one with each gradient that is recorded on a thread. An operator of the backward pass has that
    of the gradient it computes. What is called under `no_grad` has none.
    """

    table = "autograd_calls"
    called = Text("numbers that autograd gives operators", "autograd 给算子的编号")
    heavy = True
    moment = Moment(end="end_ns")
    record_with = BOTH

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    number: Annotated[int, Index("The number.")]
    backward: Annotated[bool, Flag("Whether it is of the backward pass.")]
    start_ns: Annotated[int, Ns("Begin.")]
    end_ns: Annotated[int, Ns("End.")]
