# SPDX-License-Identifier: Apache-2.0
"""Words of commands that are printed to be copied: quoted where a shell would take them apart."""

from __future__ import annotations

import shlex
from pathlib import Path


def shell_words(*words: str | Path) -> str:
    """Words as they have to stand on a command line; a path that begins with a dash is no option there."""
    return shlex.join(_no_option(word) for word in words)


def _no_option(word: str | Path) -> str:
    return f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
