# SPDX-License-Identifier: Apache-2.0
"""What the exit codes mean."""

from __future__ import annotations

FINE, FOUND, WRONG, UNREADABLE, BROKEN = 0, 1, 2, 3, 4
"""Nothing to object to; findings that fail the run; wrong use or a wrong rule; nothing readable in the input; it ended
before it was done, for lack of memory or by a mistake in advisor."""
SIGNALLED = 128
"""Plus the number of the signal that ended it, as shells have it."""
