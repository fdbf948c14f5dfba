# SPDX-License-Identifier: Apache-2.0
"""`python -m advisor`, and the command `advisor`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

from advisor.cli.main import main


def run() -> None:
    """Runs the command and ends the process at once.

    Python would first take hundreds of modules and all tables apart (0.1 s) and look for garbage every 700 objects
    (0.04 s), of a process that is about to end; and pydantic would look through every installed package for plugins
    (0.01 s). All count where a small capture takes 0.6 s in all.
    """
    gc.set_threshold(100_000)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    code = main()
    with contextlib.suppress(BrokenPipeError):  # a reader who went away has read enough
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
