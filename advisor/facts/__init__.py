# SPDX-License-Identifier: Apache-2.0
"""What is known about a run: observed facts (read) and derived facts (computed), in typed tables."""

from __future__ import annotations

from advisor.facts.base import MISSING, Column, Fact
from advisor.facts.derivation import Derivation
from advisor.facts.derived import DERIVED
from advisor.facts.names import FACTS
from advisor.facts.observed import OBSERVED
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import Source
from advisor.facts.table import Array, Table, Texts, read_table

__all__ = [
    "DERIVED",
    "FACTS",
    "MISSING",
    "OBSERVED",
    "Array",
    "Column",
    "Derivation",
    "Fact",
    "Profile",
    "Source",
    "Table",
    "Texts",
    "read_table",
]
