# SPDX-License-Identifier: Apache-2.0
"""Kinds of collective communication, as HCCL calls its operators in whatever file names them."""

from __future__ import annotations

_P2P = ("send", "receive", "recv", "batchsendrecv")


def is_p2p(op: str) -> bool:
    """Whether a kind of operator sends from one rank to another; old files list batchSendRecv as a collective."""
    return op.lower() in _P2P
