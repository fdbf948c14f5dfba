# SPDX-License-Identifier: Apache-2.0
"""From files to observed facts: what lies in a folder, and where each export keeps each fact."""

from __future__ import annotations

from typing import Any

from advisor.loaders.reading import Reading

READINGS: tuple[Reading[Any], ...] = ()
"""How every observed fact is read."""
