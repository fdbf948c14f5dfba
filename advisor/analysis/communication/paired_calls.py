# SPDX-License-Identifier: Apache-2.0
"""Sends with their receives, where both ranks were captured."""

from __future__ import annotations

import numpy as np

from advisor.analysis.communication.collective_calls import same_operation
from advisor.facts.derived import CollectiveCall, PairedCall
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing

_SEND, _RECEIVE = "send", "receive"
_BOTH = 2


def paired_calls(calls: Table[CollectiveCall]) -> Table[PairedCall]:
    """One row per pair, in the order of their steps: send k of one rank is receive k of the other, as in `meetings`.

    Raises:
        FactMissing: No two ranks with such operations were captured.
    """
    timed = np.flatnonzero((calls["p2p"] == 1) & (calls["elapse_us"] >= 0))
    parts = same_operation(calls, timed)
    rows = timed[parts.sizes[parts.of] == _BOTH]
    of = parts.of[parts.sizes[parts.of] == _BOTH]
    ops = calls.texts("op")
    later = ops.isin([_RECEIVE])[rows].astype(np.int8)  # the sending side first; of batches the lower rank
    order = np.lexsort((calls["rank"][rows], later, of))
    source, target = rows[order[0::2]], rows[order[1::2]]
    kinds = ops.codes
    batched = kinds[source] == kinds[target]
    told = (batched & ~ops.isin([_SEND, _RECEIVE])[source]) | (ops.isin([_SEND])[source] & ops.isin([_RECEIVE])[target])
    source, target = source[told], target[told]
    if not len(source):
        raise FactMissing([PairedCall.table])
    sent, received = calls["elapse_us"][source], calls["elapse_us"][target]
    table = Table.build(
        PairedCall,
        step=calls["step"][source],
        op=ops.take(source),
        group=calls.texts("group").take(source),
        source=calls["rank"][source],
        target=calls["rank"][target],
        start_ns=calls["start_ns"][source],
        size_bytes=calls["size_bytes"][source],
        together_us=np.minimum(sent, received),
        source_wait_us=np.maximum(sent - received, 0),
        target_wait_us=np.maximum(received - sent, 0),
    )
    return table.sorted_by("step", "start_ns", "source")
