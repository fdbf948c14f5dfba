# SPDX-License-Identifier: Apache-2.0
"""How much may come out of what is packed."""

from __future__ import annotations

FREE_BYTES = 1 << 30
"""So much may come out of any packed input; beyond, `MOST_RATIO` holds."""
MOST_RATIO = 200
"""How many times as large as the packed files what is in them may be: traces shrink to a tenth or a thirtieth."""
MOST_MEMBERS = 200_000
"""Of an archive; ten thousand ranks have about as many files that are read."""
DEEPEST = 32
"""Folders within each other in an archive; captures lie within six."""
LEVELS = 3
"""Archives in archives that are unpacked."""
