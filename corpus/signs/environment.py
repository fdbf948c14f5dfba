# SPDX-License-Identifier: Apache-2.0
"""Signs of the machine and the switches of a job, as `advisor snapshot-env` writes them beside a capture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from advisor.environment_snapshot import FILE_NAME, VERSION
from corpus.signs import Sign, Write
from corpus.signs.captures import write


def _beside(case: str, **kinds: Mapping[str, str]) -> Write:
    """A generated job with a snapshot that says this of each kind: `env`, `host`, `device` and `package`."""

    def written(folder: Path) -> None:
        write(folder, case)
        (folder / FILE_NAME).write_text(json.dumps({"advisor_env": VERSION, **kinds}), encoding="utf-8")

    return written


SIGNS: Mapping[str, Sign] = {
    "env/numa-balancing": Sign(
        spoiled=_beside("host-bound", host={"numa_balancing": "1", "numa_nodes": "4"}),
        twin=_beside("host-bound", host={"numa_balancing": "1", "numa_nodes": "1"}),
        shows={"nodes": 4},
    ),
}
