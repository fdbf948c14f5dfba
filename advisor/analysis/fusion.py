# SPDX-License-Identifier: Apache-2.0
"""Chains of small operators that do the work of one fused operator: norms, rotary embedding, attention, SwiGLU, Adam.

A chain is a run of kernels on one stream, in start order, whose types follow one of a few patterns. Conversions and
copies may stand between two members; they belong to the chain. Patterns are matched around their rarest member, all
occurrences at once, the longest form first; a kernel belongs to one chain only.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from msgspec import Struct

from advisor.analysis.device import DeviceTimeline, build_timeline
from advisor.analysis.grouping import group_by, ratio
from advisor.analysis.kernel_costs import Beside, decisive_work_beside, undisturbed_ns
from advisor.analysis.operators import StepKernels, in_steps, sooner_by_name
from advisor.facts.derived import FusibleChain, Overlap, Removal
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts

_COPYING = (
    "Cast TensorMove Transpose TransposeD TransData BroadcastTo BroadcastToD Expand ExpandD ViewCopy AsStrided "
    "Identity ZerosLike Fill Zeros MemSet StatelessDropOutGenMask"
)
PASSED_OVER = frozenset(_COPYING.split())
"""Types that change or copy data only: autocast, expansion and views put them between the members of any chain."""
_BETWEEN = 2
"""At most so many of them stand between two members."""

_WORDS = {
    "MUL": "Mul Muls",
    "ADD": "Add Adds AddV2",
    "DIV": "RealDiv Div Divs Mul Muls",
    "SQUARE": "Pow Pows Square Mul",
    "POWER": "Pow Pows",
    "MEAN": "ReduceMean ReduceMeanD",
    "SUM": "ReduceSum ReduceSumD",
    "CUT": "Slice SliceD StridedSlice StridedSliceD Split SplitD SplitV SplitVD",
    "JOIN": "Concat ConcatD ConcatV2 ConcatV2D",
    "PRODUCT": "BatchMatMul BatchMatMulV2 BatchMatMulV3",
    "MASK": "Add Adds AddV2 MaskedFill MaskedFillV2 Select SelectV2 Masked Where",
    "SOFTMAX": "Softmax SoftmaxV2 SoftmaxV3 ScaledMaskedSoftmax",
    "SOFTMAXGRAD": "SoftmaxGrad ScaledMaskedSoftmaxGrad ScaledMaskedSoftmaxGradV2",
    "DROPOUT": "DropOutDoMask DropOutDoMaskV3 DropOutDoMaskV3D",
    "SILU": "Swish Silu",
    "SILUGRAD": "SwishGrad SiluGrad",
    "LERP": "Lerp Lerps",
    "ACCUMULATE": "Add AddV2 Axpy AxpyV2",
}
"""Spellings of one member, as CANN names the types."""


class Pattern(Struct, frozen=True):
    """The members of a chain in order: `?` after one that may be missing, `!` after the one it is looked for by."""

    name: str
    members: str
    passes: float = 1.0
    """Passes over the tensor the fused operator needs, over those of the longest member: a kernel bound by memory
    takes time in proportion to the tensors it reads and writes. 0 where the products are what remains."""


PATTERNS = (
    # One pass over the scores for each member; fused, they never reach memory and the products remain.
    Pattern("attention", "PRODUCT MUL? DIV? MASK? SOFTMAX! DROPOUT? MUL? PRODUCT", 0),
    Pattern("attention", "PRODUCT PRODUCT DROPOUT? MUL? SOFTMAXGRAD! MASK? MUL? PRODUCT PRODUCT", 0),
    # x * rsqrt(mean(x²) + ε) * γ: the longest member reads and writes x once, and so does RmsNorm.
    Pattern("norm", "SQUARE MEAN ADD Rsqrt! MUL MUL?"),
    Pattern("norm", "MEAN Sub SQUARE MEAN ADD Rsqrt! MUL MUL? ADD?"),
    Pattern("norm", "MEAN Sub SQUARE MEAN ADD Sqrt! DIV MUL? ADD?"),
    # Its gradient reads two tensors and writes one, as the longest member does.
    Pattern("norm", "MUL MUL? SUM! MUL MUL? SUM POWER MUL MUL? DIV? POWER? MUL? MUL? ADD?"),
    # x * cos + rotated(x) * sin: the last member makes three passes, RotaryMul two.
    Pattern("rotary", "CUT? CUT? Neg! JOIN MUL MUL ADD", 2 / 3),
    Pattern("rotary", "MUL CUT? CUT? Neg! JOIN MUL ADD", 2 / 3),
    Pattern("rotary", "MUL MUL CUT? CUT? Neg! JOIN? ADD ADD?", 2 / 3),
    # silu(a) * b: the product makes three passes, as SwiGlu does; its gradient five.
    Pattern("swiglu", "CUT? CUT? SILU! MUL"),
    Pattern("swiglu", "MUL MUL SILUGRAD! JOIN?", 5 / 3),
    # One parameter tensor: Addcdiv makes four passes; the fused step reads four tensors and writes three.
    Pattern("optimizer", "MUL? LERP MUL Addcmul! Maximum? Sqrt DIV? ADD Addcdiv", 7 / 4),
    Pattern("optimizer", "MUL? MUL ACCUMULATE MUL Addcmul! Maximum? Sqrt DIV? ADD Addcdiv", 7 / 4),
)


class _Lanes(Struct, frozen=True):
    """Kernels in start order, one stream of one step after another."""

    row: Array
    """Row of the kernels."""
    lane: Array
    member: Array
    """Positions of those that are not passed over."""
    code: Array
    """Their types, by number."""


class _Members(Struct, frozen=True):
    """The kernels of all chains, chain by chain."""

    row: Array
    """Rows of the kernels."""
    chain: Array
    begin: Array
    """Per chain: the position of its first kernel, how many it has, and the number of its pattern."""
    size: Array
    pattern: Array

    @property
    def patterns(self) -> Texts:
        """Per chain: the name of its pattern."""
        return Texts.of(one.name for one in PATTERNS).take(self.pattern)


class _Chains(Struct, frozen=True):
    """Chains of one pattern: first and last position of each."""

    pattern: int
    first: Array
    last: Array


def fusible_chains(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    without: Table[Removal] | None = None,
) -> Table[FusibleChain]:
    """One row per rank and pattern that occurs."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    found = _chain_members(every, device)
    if not len(found.row):
        return Table.empty(FusibleChain)
    chains = _sum_chains(found, every, device, decisive_work_beside(device, kernels, collectives))
    gone = sooner_by_name(without, "chain", chains["rank"], chains.texts("pattern"))
    return chains.having(removed_us=np.minimum(chains["unshared_us"] + chains["gap_us"], gone.removed_us))


def chained_kernels(every: StepKernels, device: DeviceTimeline) -> tuple[Array, Texts]:
    """The kernels that belong to a chain, as rows of `every`, and the pattern of each."""
    found = _chain_members(every, device)
    return found.row, found.patterns.take(found.chain)


def _chain_members(every: StepKernels, device: DeviceTimeline) -> _Members:
    types, work = every.table.texts("op_type"), device.work
    lanes = _stream_lanes(types, group_by(work.cell[every.row], every.table["stream"]).of, work.start[every.row])
    found = _all_chains(lanes, types.names)
    first = np.concatenate([chains.first for chains in found] or [np.empty(0, np.intp)])
    last = np.concatenate([chains.last for chains in found] or [np.empty(0, np.intp)])
    size = last - first + 1
    begin = np.cumsum(size) - size
    chain = np.repeat(np.arange(len(size)), size)
    row = lanes.row[np.arange(len(chain)) - begin[chain] + first[chain]]
    number = np.repeat([chains.pattern for chains in found], [len(chains.first) for chains in found]).astype(np.intp)
    return _Members(row, chain, begin, size, number)


def _stream_lanes(types: Texts, stream: Array, start: Array) -> _Lanes:
    order = np.lexsort((start, stream))
    member = np.flatnonzero(~types.isin(PASSED_OVER)[order])
    return _Lanes(order, stream[order], member, types.codes[order][member])


def _all_chains(lanes: _Lanes, names: tuple[str, ...]) -> list[_Chains]:
    """Chains of every form, none sharing a kernel with another: patterns in their order, long forms first."""
    found = []
    taken = np.zeros(len(lanes.member), bool)
    places = _places_by_member(lanes, names)
    joined = _joined_with_next(lanes)
    for number, pattern in enumerate(PATTERNS):
        at = np.flatnonzero(places.get(_anchor_member(pattern), np.empty(0, bool)))
        for form, place in _forms_of_pattern(pattern) if len(at) else ():
            if not places.keys() >= {*form}:
                continue
            begin = _begins_of_form(at - place, [places[word] for word in form], joined, taken)
            for step in range(len(form)):
                taken[begin + step] = True
            found.append(_Chains(number, lanes.member[begin], lanes.member[begin + len(form) - 1]))
    return found


def _places_by_member(lanes: _Lanes, names: tuple[str, ...]) -> dict[str, Array]:
    """By word of the patterns, of those that occur: at which of the positions its types stand."""
    number = {name: code for code, name in enumerate(names)}
    found = {}
    for word in _words_of_patterns():
        spelled = np.zeros(len(names) + 1, bool)  # the last for a missing type
        spelled[[number[name] for name in _WORDS.get(word, word).split() if name in number]] = True
        if spelled.any():
            found[word] = spelled[lanes.code]
    return found


def _joined_with_next(lanes: _Lanes) -> Array:
    """Per position: whether what stands there and at the next one may follow each other in a chain."""
    here, following = lanes.member[:-1], lanes.member[1:]
    joined: Array = (following - here <= _BETWEEN + 1) & (lanes.lane[here] == lanes.lane[following])
    return joined


@cache
def _words_of_patterns() -> frozenset[str]:
    return frozenset(word.rstrip("?!") for pattern in PATTERNS for word in pattern.members.split())


def _anchor_member(pattern: Pattern) -> str:
    return next(word[:-1] for word in pattern.members.split() if word.endswith("!"))


@cache
def _forms_of_pattern(pattern: Pattern) -> list[tuple[tuple[str, ...], int]]:
    """The words of every form of a pattern, longest first, each with the place of the member it is looked for by."""
    choices = [(word, "") if word.endswith("?") else (word,) for word in pattern.members.split()]
    anchor = _anchor_member(pattern)
    forms = {tuple(word.rstrip("?!") for word in form if word) for form in product(*choices)}
    return [(form, form.index(anchor)) for form in sorted(forms, key=lambda form: (-len(form), form))]


def _begins_of_form(begin: Array, wanted: list[Array], joined: Array, taken: Array) -> Array:
    """The positions, among those given, at which a form begins; chains that overlap an earlier one are left out."""
    length = len(wanted)
    begin = begin[(begin >= 0) & (begin + length <= len(taken))]
    for step, spelled in enumerate(wanted):
        at = begin + step
        begin = begin[spelled[at] & ~taken[at]]
        if not len(begin):
            return begin
    for step in range(length - 1):
        begin = begin[joined[begin + step]]
    apart: Array = np.append(True, np.diff(begin) >= length)[: len(begin)]
    return begin[apart]


def _sum_chains(found: _Members, every: StepKernels, device: DeviceTimeline, beside: Beside) -> Table[FusibleChain]:
    row, chain, begin, size = found.row, found.chain, found.begin, found.size
    duration = every.duration_us[row]
    total, longest = np.bincount(chain, duration), np.maximum.reduceat(duration, begin)
    product_us = np.bincount(chain, duration * every.table.texts("op_type").isin(_WORDS["PRODUCT"].split())[row])
    passes = np.array([one.passes for one in PATTERNS])[found.pattern]
    fused = np.minimum(np.where(passes > 0, passes * longest, product_us), total)
    start, end = device.work.start[every.row], device.work.end[every.row]
    began = np.minimum.reduceat(start[row], begin)
    lasted = (np.maximum.reduceat(end[row], begin) - began) / 1e3
    names = found.patterns
    head = row[begin]
    groups = group_by(every.table["rank"][head], names)
    steps = every.steps[head[groups.first]]
    whole = every.whole[head[groups.first]]
    worst = np.lexsort((began, -lasted, groups.of))[np.cumsum(groups.sizes) - groups.sizes]
    unshared = undisturbed_ns(device, every.row[row], groups.of[chain], len(groups), beside) / 1e3
    return Table.build(
        FusibleChain,
        rank=every.table["rank"][head[groups.first]],
        pattern=names.take(groups.first),
        chains=groups.sizes / steps,
        kernels=groups.sums(size) / groups.sizes,
        total_us=groups.sums(total) / steps,
        unshared_us=np.where(whole, unshared, np.nan) / steps,
        longest_us=groups.sums(longest) / steps,
        fused_us=groups.sums(fused) / steps,
        gap_us=groups.sums(np.clip(lasted - total, 0, total)) / steps,
        step_share=ratio(groups.sums(total) / steps, every.step_us[head[groups.first]]),
        worst_start_ns=began[worst],
        worst_us=lasted[worst],
    )
