# SPDX-License-Identifier: Apache-2.0
"""Generated captures and diagnoses, made once per run of the suite and read by every test of every worker.

A test asks for the fixture `shared`: `shared.written("slow-link", export="database")` is where the capture lies,
`shared.diagnosis(folder)` is what is wrong with it, or with any capture that no test changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import advisor
import corpus
from advisor import pipeline
from advisor.model.findings import Diagnosis
from advisor.rules.catalog import Catalog
from corpus.cases import setup_of, small_setup
from corpus.events import Cause

Stamps = dict[str, tuple[int, int]]
AMONG_FOUR = frozenset({
    "blocking-copies", "data-loader-one-rank", "expert-imbalance", "growing-python", "low-bandwidth", "low-frequency",
    "retransmission-stall", "slow-link", "slow-network-link", "slow-rank-compute", "slow-rank-data", "slow-rank-host",
    "synchronise-per-layer",
})  # fmt: skip
"""Faults of one rank or link among others, and those that lead only where more than two ranks wait for each other; all
others are as clear in a small job. `benchmarks.accuracy` diagnoses each in every workload it applies to."""


@lru_cache(maxsize=2)
def _job(
    case: str, seed: int, *, workload: str | None, small: bool, strength: float, without: tuple[str, ...]
) -> corpus.Job:
    setup = small_setup(setup_of(case, workload)) if small else None
    return corpus.job(case, seed, workload=workload, setup=setup, strength=strength, without=without)


class SharedCaptures:
    """One folder for all workers of a run: who asks first makes what is asked for, the others wait and read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)
        self._read = lru_cache(maxsize=32)(self._whole)
        self._just_made: dict[Path, Diagnosis] = {}

    def written(
        self,
        case: str,
        seed: int = 0,
        *,
        workload: str | None = None,
        strength: float = 1.0,
        without: Collection[str] = (),
        small: bool = False,
        export: str = "text",
        level: int = 1,
        **variants: Any,
    ) -> Path:
        """The folder of a generated capture, as `corpus.job` and `corpus.write` make it; for reading alone.

        `small` takes the `small_setup` of the job. A copy to be changed leaves the modes behind:
        `shutil.copytree(…, copy_function=shutil.copyfile)`.
        """
        asked = (case, seed, workload or setup_of(case).name, strength, tuple(without), small, export, level, variants)
        folder = self._folder / f"{case}-{_digest(repr(asked))}"

        def write() -> None:
            job = _job(case, seed, workload=workload, small=small, strength=strength, without=tuple(without))
            corpus.write(job, folder, export, level, **variants)
            for path in folder.rglob("*"):
                if path.is_file():
                    path.chmod(0o444)
            part = self._folder / f"{folder.name}.part"
            part.write_text(json.dumps(stamps_of_files(folder)), "utf-8")
            part.replace(part.with_suffix(".stamps"))  # whole, for a worker that looks at its end

        self.make_once(folder.name, write)
        return folder

    def diagnosis(self, folder: Path) -> Diagnosis:
        """What is wrong with a capture that no test changes, with the shipped rules and without settings."""
        saved = self._folder / f"{_digest(str(folder))}.diagnosis.json"

        def make() -> None:
            self._just_made[saved] = self._diagnose(folder)
            saved.write_text(self._just_made[saved].to_json(), "utf-8")

        self.make_once(saved.name, make)
        return self._read(saved)

    def _whole(self, saved: Path) -> Diagnosis:
        """What was saved; who made it does without reading it, which takes half as long as making it."""
        return self._just_made.pop(saved, None) or Diagnosis.model_validate_json(saved.read_bytes())

    def _diagnose(self, folder: Path) -> Diagnosis:
        """As `advisor.diagnose`, with rules that are read once."""
        return pipeline.diagnose(advisor.load_profile(folder), self._rules)

    @cached_property
    def _rules(self) -> Catalog:
        return advisor.load_rules()

    def diagnosed(self, case: str, seed: int = 0, **how: Any) -> Diagnosis:
        """What is wrong with a generated capture."""
        return self.diagnosis(self.written(case, seed, **how))

    @property
    def charts(self) -> Path:
        """A folder for what was drawn."""
        return self._folder / "charts"

    def causes(self, case: str, seed: int = 0, **how: Any) -> tuple[Cause, ...]:
        """The truth about a generated capture."""
        truth = json.loads((self.written(case, seed, **how) / "truth.json").read_bytes())
        return tuple(Cause(**cause) for cause in truth["causes"])

    def changed(self) -> list[str]:
        """Captures that somebody wrote into, though they are for reading alone."""
        stamps = {path.with_suffix(""): path for path in self._folder.glob("*.stamps")}
        return [folder.name for folder, path in stamps.items() if stamps_of_files(folder) != _read_stamps(path)]

    def make_once(self, name: str, make: Callable[[], object]) -> None:
        """Has something made by the first who asks; the others wait until it is there."""
        done = self._folder / f"{name}.done"
        if done.exists():
            return
        with _locked(self._folder / f"{name}.lock"):
            if not done.exists():
                make()
                done.touch()


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def digest_of_files(folder: Path) -> str:
    """Of names and bytes of all files."""
    digest = hashlib.blake2b()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()


def stamps_of_files(folder: Path) -> Stamps:
    """Size and time of every file and folder in it."""
    found = ((path, path.stat()) for path in sorted(folder.rglob("*")))
    return {str(path.relative_to(folder)): (known.st_size, known.st_mtime_ns) for path, known in found}


def _read_stamps(path: Path) -> Stamps:
    return {name: (size, time) for name, (size, time) in json.loads(path.read_bytes()).items()}
