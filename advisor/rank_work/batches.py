# SPDX-License-Identifier: Apache-2.0
"""Small ranks that are worked on together: calls, not rows, are what most of their time goes into."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from advisor.facts.rank_facts import FactsWanted, RankFacts, Source

SourceWork = Callable[[Source], RankFacts]
MOST_TOGETHER = 32
"""So many small ranks are derived from together; with more of them, what each takes hardly falls any further."""
TOGETHER_BYTES = 64 << 20
"""And no more than so much input, which keeps memory at the size of one usual rank: 16 ranks of 4 MB take 156 MB
together, 148 MB one by one."""


def batches_of_ranks(
    work: SourceWork, sources: Sequence[Source], numbers: Sequence[int], workers: int
) -> list[list[int]]:
    """These ranks in order, small ones that follow each other together where the work can be done on several."""
    most = min(MOST_TOGETHER, -(-len(numbers) // workers)) if isinstance(work, FactsWanted) else 1
    batches: list[list[int]] = []
    size_bytes = 0
    for number in numbers:
        size_bytes += sources[number].size_bytes
        follows = bool(batches) and batches[-1][-1] == number - 1
        if not follows or len(batches[-1]) >= most or size_bytes > TOGETHER_BYTES:
            batches.append([])
            size_bytes = sources[number].size_bytes
        batches[-1].append(number)
    return batches


def facts_of_batch(work: SourceWork, sources: Sequence[Source]) -> list[RankFacts]:
    """What is wanted of these: of each, or of several as one."""
    if len(sources) == 1 or not isinstance(work, FactsWanted):
        return [work(source) for source in sources]
    return work.of_several(sources)
