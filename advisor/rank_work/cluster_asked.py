# SPDX-License-Identifier: Apache-2.0
"""ClusterAsked: the cluster that somebody wants the ranks to be read on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.model.progress import Progress, WorkersTold, silent_about_workers

if TYPE_CHECKING:
    from advisor.rank_work.cluster import DaskCluster

_ADDRESS = re.compile(r"[a-z]+://\S+:\d{1,5}/?")


class ClusterAsked(Struct, frozen=True):
    """The address of its scheduler, how many seconds a rank may take (None for what its size allows), and who is told
    where its workers stand."""

    address: str
    rank_limit_s: float | None = None
    workers_told: WorkersTold = silent_about_workers

    def __post_init__(self) -> None:
        """Refuses what cannot be one.

        Raises:
            UsageError: The address is none, or the package that speaks to clusters is not installed.
        """
        from importlib.util import find_spec

        if not _ADDRESS.fullmatch(self.address):
            raise UsageError(Message("no_cluster_address", given=self.address))
        if find_spec("distributed") is None:
            raise UsageError(Message("needs_distributed"), Message("install_cluster"))

    def gather(self, progress: Progress) -> DaskCluster:
        """Who spreads the work over the workers of the cluster."""
        from advisor.rank_work.cluster import DaskCluster

        return DaskCluster(self.address, progress, self.rank_limit_s, workers_told=self.workers_told)
