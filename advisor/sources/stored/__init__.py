# SPDX-License-Identifier: Apache-2.0
"""Facts that advisor wrote itself, with `advisor facts`."""

from __future__ import annotations

from advisor.fact_store.manifest import FILE
from advisor.sources.family import Family
from advisor.sources.stored.opening import NAME, detect, inner, open_store

STORED = Family(NAME, detect, open_store, inner=inner, reads=lambda name: name == FILE)
