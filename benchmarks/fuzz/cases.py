# SPDX-License-Identifier: Apache-2.0
"""Inputs that broke a promise, as small as they get, kept as files: `tests/test_fuzz_cases.py` tries each again.

A case holds the files of its capture. Of a large capture, and of a recorded one, it holds the mutations alone; a
recorded one is tried where it is at hand.
"""

from __future__ import annotations

import base64
import json
import os
import re
import select
import signal
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.fuzz.captures import Files, Special
from benchmarks.fuzz.mutations import Mutation, apply_mutations
from benchmarks.fuzz.seeds import SEEDS, is_recorded, names_at_hand, seed_files
from benchmarks.fuzz.targets import RUNS, Plan, learn_facts
from benchmarks.fuzz.workers import SECONDS, Failure, describe_break

T = TypeVar("T")
_LARGE = 40_000
"""Bytes of a capture that is made again from its seed."""
_LINES = 400
"""Files of more lines are not cut line by line."""


@dataclass(frozen=True)
class Case:
    """An input that broke a promise once."""

    target: str
    plan: Plan
    broken: str
    """Which promise, and where."""
    files: Files | None = None
    """None where the seed is recorded or large."""

    def try_again(self, folder: Path) -> None:
        """Do with it what was done.

        Raises:
            BrokenPromise: It breaks the promise still, or another one.
        """
        if self.target == "load":
            learn_facts(folder)
        files = self.files
        if files is None:
            files = apply_mutations(seed_files(self.target, self.plan.seed), self.plan.mutations)
        RUNS[self.target](self.plan, files, folder)

    @property
    def at_hand(self) -> bool:
        """Whether what it needs is there."""
        return self.files is not None or self.plan.seed in names_at_hand(self.target)

    def to_json(self) -> str:
        """As it is kept."""
        held: dict[str, Any] = {"target": self.target, "broken": self.broken, **self.plan._asdict()}
        if self.files is not None:
            held["files"] = {name: _content_to_json(content) for name, content in self.files.items()}
        return json.dumps(held, indent=1, ensure_ascii=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Case:
        """As it was kept."""
        held = json.loads(text)
        plan = Plan(held["seed"], tuple(Mutation(*one) for one in held["mutations"]), held["way"])
        files = (
            {name: _content_from_json(content) for name, content in held["files"].items()} if "files" in held else None
        )
        return cls(held["target"], plan, held["broken"], files)


def _content_to_json(content: bytes | Special) -> dict[str, str]:
    if isinstance(content, Special):
        return {"special": content.value}
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _content_from_json(held: dict[str, str]) -> bytes | Special:
    if "special" in held:
        return Special(held["special"])
    return held["text"].encode() if "text" in held else base64.b64decode(held["base64"])


def keep_smallest(failure: Failure, folder: Path) -> Path | None:
    """Keep the smallest input that fails like this one; None where one of the same cause is kept already."""
    path = folder / f"{_slug(failure.signature)}.json"
    if path.exists():
        return None
    case = _smallest(failure)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(case.to_json(), "utf-8")
    return path


def _slug(signature: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", signature.lower()).strip("-")[:100]


def _smallest(failure: Failure) -> Case:
    """Fewer mutations first; then fewer files and lines, where the seed is generated."""
    target, plan = failure.target, failure.plan
    assert plan.seed in SEEDS[target]  # noqa: S101 - seeds are never renamed
    seed = seed_files(target, plan.seed)

    def fails(plan: Plan, files: Files) -> bool:
        return break_of_input(target, plan, files) == failure.broken

    def fails_with(mutations: Sequence[Mutation]) -> bool:
        return fails(plan._replace(mutations=tuple(mutations)), apply_mutations(seed, mutations))

    plan = plan._replace(mutations=tuple(remove_needless(plan.mutations, fails_with)))
    files = apply_mutations(seed, plan.mutations)
    if is_recorded(plan.seed):
        return Case(target, plan, failure.broken)
    kept = remove_needless(sorted(files), lambda names: fails(plan, {name: files[name] for name in names}))
    files = {name: files[name] for name in kept}
    if sum(len(content) for content in files.values()) > _LARGE:
        return Case(target, plan, failure.broken)
    for name in kept:
        files = _with_fewer_lines(files, name, lambda fewer: fails(plan, fewer))
    return Case(target, plan, failure.broken, files)


def _with_fewer_lines(files: Files, name: str, fails: Callable[[Files], bool]) -> Files:
    """The capture with only those lines of a file that it takes to fail."""
    content = files[name]
    if not isinstance(content, bytes) or name.endswith(".db") or content.count(b"\n") > _LINES:
        return files
    lines = remove_needless(content.splitlines(keepends=True), lambda part: fails(files | {name: b"".join(part)}))
    return files | {name: b"".join(lines)}


def remove_needless(whole: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """A part of a list that fails as the whole does, and from which nothing more can be taken.

    Delta debugging: pieces are taken away, first halves, then ever smaller ones
    (https://www.debuggingbook.org/html/DeltaDebugger.html).
    """
    size = len(whole) // 2
    while size:
        at = 0
        while at < len(whole):
            rest = [*whole[:at], *whole[at + size :]]
            if rest and fails(rest):
                whole = rest
            else:
                at += size
        size //= 2
    return whole


def break_of_input(target: str, plan: Plan, files: Files) -> str:
    """What broke for an input, tried in a process of its own; empty when all held."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        with tempfile.TemporaryDirectory(prefix="fuzz-case-") as folder:
            if target == "load":
                learn_facts(Path(folder) / "prof")
            os.write(writing, ": ".join(describe_break(target, plan, files, Path(folder) / "prof")[:2]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        if not select.select([told], [], [], SECONDS[target] * 4)[0]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "hang"
        said = told.read().decode()
    return "crash" if os.waitpid(pid, 0)[1] else said.removesuffix(": ")
