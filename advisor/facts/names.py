# SPDX-License-Identifier: Apache-2.0
"""Every fact by its name."""

from __future__ import annotations

from advisor.facts.base import Fact
from advisor.facts.derived import DERIVED
from advisor.facts.observed import OBSERVED

FACTS: dict[str, type[Fact]] = {fact.table: fact for fact in (*OBSERVED, *DERIVED)}
"""Every fact by the name rules use after `in:`."""
