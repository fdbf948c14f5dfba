# SPDX-License-Identifier: Apache-2.0
"""What is said on the side: on the standard error, where it stands apart from answers."""

from __future__ import annotations

import sys

from advisor.messages.hidden import show_hidden_in_lines


def tell(said: str) -> None:
    """Says a sentence, or several, as advisor; names that files and profiles hold steer no terminal and no log."""
    print(f"advisor: {show_hidden_in_lines(said)}", file=sys.stderr)
