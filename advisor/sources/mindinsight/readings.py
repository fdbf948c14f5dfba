# SPDX-License-Identifier: Apache-2.0
"""How every observed fact is read from the files of a rank: what each module of this folder declares."""

from __future__ import annotations

from typing import Any

from advisor.facts.declared import declared_in
from advisor.sources.mindinsight.reading import LegacyRank
from advisor.sources.reading import Reading

READINGS: tuple[Reading[LegacyRank, Any], ...] = tuple(
    {value.fact: value for _, value in declared_in(__package__) if isinstance(value, Reading)}.values()
)
"""One for each fact that the files hold."""
