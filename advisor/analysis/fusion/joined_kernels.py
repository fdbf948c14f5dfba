# SPDX-License-Identifier: Apache-2.0
"""Which operators a kernel stands for where a graph compiler joined several into it: their names are in its own.

GE's buffer fusion writes the names of the operators one behind the other (`Add_1Rsqrt_1`), gives the kernel the type of
one of them or `AutomaticBufferFusionOp`, and falls back on the first with `_ub_fusion` where that gets too long. What a
pass put in the place of an operator stands behind that one and a slash (`Pow_3/Square`). AutoFuse writes their types
(`autofuse_pointwise_0_Abs_Relu`), and so does MindSpore, in the type itself (`FusionOp_Add_Mul`).

A name is read whole or not at all: where a part of it is no operator that is known, it is told as not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts

ARROW = " → "
"""Between the operators that a kernel stands for, in what it is called."""
_LONGEST_NAME = 1024
"""Twice what GE gives a kernel that it joined."""
_JOINED_TYPE = "AutomaticBufferFusionOp"
_NUMBER = re.compile(r"(?:_\d+)?")
_EACH_NUMBER = re.compile(r"_\d+")
_OF_AUTOFUSE = re.compile(r"autofuse_(?:[a-z]+_)+\d+_")
_OF_MINDSPORE = "FusionOp_"
_JOINED_NAME = re.compile(r"_\d+[A-Z][a-z]|_ub_fusion$|^autofuse_[a-z]+_")
"""What is in names that a compiler made of several, whether they can be read or not."""
_VERSION = re.compile(r"(V\d+)?D?$")


class JoinedKernels(Struct, frozen=True):
    """What kernels are called where chains are looked for among them, per kernel."""

    called: Texts
    """The type; of one that stands for others these in order, without those that only convert or copy."""
    several: Array
    """Whether it stands for more than one operator: its shapes are those of the first and the last of them."""
    compiled: Array
    """Whether a graph compiler made it, or chose it for an operator of a graph."""
    unread: Array
    """Whether a compiler joined operators into it, and its name does not tell which."""


def members_of(called: str) -> list[str]:
    """The operators that a kernel of this name stands for."""
    return called.split(ARROW)


def read_joined(kernels: Table[Kernel], patterns: ChainPatterns) -> JoinedKernels:
    """What each kernel stands for."""
    types, names = kernels.texts("op_type"), kernels.texts("op_name")
    compiled = (kernels["graph"] != MISSING) & names.passing(lambda name: name[:1].isupper())
    may_be = names.passing(lambda name: _may_be_joined(name, patterns.known))
    may_be |= types.passing(lambda name: name == _JOINED_TYPE or name.startswith(_OF_MINDSPORE))
    rows = np.flatnonzero(may_be)
    nothing = np.zeros(len(types), bool)
    if not len(rows):
        return JoinedKernels(types, nothing, compiled, nothing)
    both = group_by(types.take(rows), names.take(rows))
    pairs = zip(*(column.take(rows[both.first]).values() for column in (types, names)), strict=True)
    read = [operators_in_name(op_type or "", name or "", patterns.known) for op_type, name in pairs]
    told = np.array([len(one) > 0 for one in read], bool)[both.of]
    several, unread = nothing.copy(), nothing.copy()
    several[rows] = np.array([len(one) > 1 for one in read], bool)[both.of]
    unread[rows[~told]] = _are_joined(types.take(rows[~told]), names.take(rows[~told]))
    words = Texts.of(_called(one, patterns.passed_over) if one else None for one in read)
    every = Texts.concat([types, words.take(both.of[told])])
    codes = every.codes[: len(types)].copy()
    codes[rows[told]] = every.codes[len(types) :]
    return JoinedKernels(Texts(codes, every.names), several, compiled | several | unread, unread)


def _called(operators: Sequence[str], passed_over: frozenset[str]) -> str:
    """What a kernel of these operators is called: by the first where all of them convert or copy alone."""
    return ARROW.join([one for one in operators if one not in passed_over] or operators[:1])


def _are_joined(types: Texts, names: Texts) -> Array:
    """Per kernel that could not be read: whether a compiler joined several operators into it."""
    of_type = types.passing(lambda name: name == _JOINED_TYPE or name.startswith(_OF_MINDSPORE))
    return of_type | names.passing(_looks_joined)


def _looks_joined(name: str) -> bool:
    """Whether a compiler of graphs made this name of several: others begin with the library that a kernel is of."""
    return (name[:1].isupper() or name.startswith("autofuse_")) and _JOINED_NAME.search(name) is not None


def _may_be_joined(name: str, known: frozenset[str]) -> bool:
    """Whether this name alone may be that of several operators."""
    if _looks_joined(name):
        return True
    if len(name) > _LONGEST_NAME or not _begins_with_operator(name, known):
        return False
    return len(_read_whole(_plain(name), known)) > 1


def _begins_with_operator(name: str, known: frozenset[str]) -> bool:
    """Whether a known operator stands first: names that are paths through a model begin with none, and are not read."""
    return name[:1].isupper() and any(name[:end] in known for end in range(1, 1 + min(len(name), _longest(known))))


@cache
def _longest(known: frozenset[str]) -> int:
    """How long the longest name of an operator is."""
    return max(map(len, known), default=0)


def _plain(name: str) -> str:
    """A name without the numbers of its operators, which differ from layer to layer."""
    return _EACH_NUMBER.sub("_0", name)


def operators_in_name(op_type: str, name: str, known: frozenset[str]) -> tuple[str, ...]:
    """The operators that a graph compiler joined into a kernel of this type and name, in order; none where these are
    those of a single operator, or not all of them can be read."""
    if len(name) > _LONGEST_NAME:
        return ()
    if op_type.startswith(_OF_MINDSPORE):
        return _known_alone(op_type.removeprefix(_OF_MINDSPORE).split("_"), known)
    if (prefix := _OF_AUTOFUSE.match(name)) is not None:
        return _known_alone(name[prefix.end() :].split("_"), known)
    found = _read_whole(_plain(name), known)
    is_one_of_them = op_type == _JOINED_TYPE or _unversioned(op_type) in map(_unversioned, found)
    return found if len(found) > 1 and is_one_of_them else ()


def _known_alone(operators: Sequence[str], known: frozenset[str]) -> tuple[str, ...]:
    """These operators, or none where one of them is not known."""
    return tuple(operators) if known.issuperset(operators) else ()


def _unversioned(op_type: str) -> str:
    """A type without its version: names have that of the operator, types that of its kernel."""
    return _VERSION.sub("", op_type)


@lru_cache(maxsize=1 << 12)
def _read_whole(name: str, known: frozenset[str]) -> tuple[str, ...]:
    """The operators in this name, the longest that leave nothing over; none where some of it is no known operator.

    Each may have a number behind it. One before a slash is what the next one was made of, and is not there any more.
    """
    longest = _longest(known)
    steps: list[tuple[int, int, bool] | None] = [None] * len(name)
    for at in reversed(range(len(name))):
        if not name[at].isupper():
            continue
        for end in range(min(len(name), at + longest), at, -1):
            if name[at:end] not in known:
                continue
            number = _NUMBER.match(name, end)
            following = end if number is None else number.end()
            replaced = name.startswith("/", following)
            following += replaced
            ends = following == len(name)
            if not replaced if ends else steps[following] is not None:
                steps[at] = (end, following, replaced)
                break
    found, at = [], 0
    while at < len(name):
        step = steps[at]
        if step is None:
            return ()
        end, following, replaced = step
        if not replaced:
            found.append(name[at:end])
        at = following
    return tuple(found)
