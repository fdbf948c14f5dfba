# SPDX-License-Identifier: Apache-2.0
"""What two runs are called beside each other: by their names, or by as much of their paths as tells them apart."""

from __future__ import annotations

from pathlib import Path

from advisor.model.findings import Diagnosis


def runs_told_apart(made: tuple[Diagnosis, Diagnosis], paths: tuple[Path, Path]) -> tuple[Diagnosis, Diagnosis]:
    """Both diagnoses, with names of their runs that differ; `paths` is where they came from."""
    before, after = made
    old, new = told_apart(*paths, before.run.name, after.run.name)
    return _rename_run(before, old), _rename_run(after, new)


def _rename_run(diagnosis: Diagnosis, name: str) -> Diagnosis:
    return diagnosis.model_copy(update={"run": diagnosis.run.model_copy(update={"name": name})})


def told_apart(before: Path, after: Path, old: str, new: str) -> tuple[str, str]:
    """Two names that differ: those of the runs, else as much of the paths as it takes."""
    if old and new and old != new:
        return old, new
    parts = [path.absolute().parts for path in (before, after)]
    for length in range(1, max(map(len, parts)) + 1):
        one, other = ("/".join(part[-length:]) for part in parts)
        if one != other:
            return one, other
    return old or before.name, new or after.name
