# SPDX-License-Identifier: Apache-2.0
"""What the exit codes mean."""

from __future__ import annotations

FINE, FOUND, WRONG, UNREADABLE = 0, 1, 2, 3
"""Nothing to object to; findings that fail the run; wrong use or a wrong rule; nothing readable in the input."""
INTERRUPTED = 130
