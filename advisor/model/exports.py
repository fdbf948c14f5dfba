# SPDX-License-Identifier: Apache-2.0
"""What follows from the export that a capture was read from, where nothing else of it tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct


class Export(Struct, frozen=True):
    """One way in which facts are written. What nobody says anything of is one thing that holds all of them."""

    holds: Literal["files", "tables", "itself"] = "itself"
    """Whether facts lie in files of the names that a text export has, in tables of a database, or in one thing."""
    files_alone: bool = False
    """Whether each fact is in one file of such a name and nowhere else."""
    of_all_ranks: bool = False
    """Whether one file tells of all ranks, summed up."""
    phases_alone: bool = False
    """Whether it holds how long phases of steps took, and single events of neither host nor device."""


EXPORTS: Mapping[str, Export] = {
    "text": Export("files", files_alone=True),
    "text+database": Export("files"),
    "database": Export("tables"),
    "insight": Export("files", phases_alone=True),
    "cluster": Export("files", of_all_ranks=True),
    "trace": Export(),
}
"""By what `Capture.source` says."""
