# SPDX-License-Identifier: Apache-2.0
"""Runs the cases that patterns bring along: kernels one after another, and how many chains are found in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.analysis.fusion.fusion import fusible_chains
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.messages.errors import Unclear
from advisor.messages.message import Message
from advisor.rules.patterns import Pattern, PatternCaseFile

_LASTS_US, _APART_US = 10.0, 11.0
_KERNEL = re.compile(r"([\w:]+)(?:\(([\d,;]*)(?:\|([\w;]*))?\))?$")


def broken_cases(pattern: Pattern, among: ChainPatterns) -> Iterator[Message]:
    """What the pattern promised and did not keep where all of these are looked for."""
    for case in pattern.tests:
        yield from prove_pattern(pattern.name, case, among)


def prove_pattern(name: str, case: PatternCaseFile, among: ChainPatterns) -> Iterator[Message]:
    """What one case promised and was not kept."""
    try:
        kernels = kernels_of_case(case)
    except Unclear as unclear:
        yield unclear.what
        return
    found = fusible_chains(kernels, None, None, patterns=among)
    got = found["chains"][found.texts("pattern").isin([name])].sum()
    if got != case.chains:
        yield Message("chains_expected", name=case.name, wanted=case.chains, got=round(float(got)))


def kernels_of_case(case: PatternCaseFile) -> Table[Kernel]:
    """The kernels of a case, one after another on one stream of one step.

    Raises:
        Unclear: A word is no kernel.
    """
    types, shapes, dtypes = [], [], []
    for word in case.kernels.split():
        match = _KERNEL.match(word)
        if match is None:
            raise Unclear(Message("shapes_in_brackets", word=word))
        types.append(match[1])
        shapes.append(match[2])
        dtypes.append(match[3])
    starts = [round(place * _APART_US * 1e3) for place in range(len(types))]
    return Table.build(
        Kernel,
        rank=0,
        step=1,
        op_type=types,
        input_shapes=shapes,
        input_dtypes=dtypes,
        start_ns=starts,
        duration_us=[_LASTS_US] * len(types),
    )
