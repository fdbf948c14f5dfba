# SPDX-License-Identifier: Apache-2.0
"""Which files an assistant may have read: those in some folders, and nothing that a link leads to outside of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from advisor.messages.errors import InputError, UsageError
from advisor.messages.message import Message
from advisor.model.saved import is_saved

MOST_ENTRIES = 500_000
"""More files than this are no capture that anybody waits for; about ten thousand ranks have as many."""
_LONGEST = 4096
_OUTPUT = "ASCEND_PROFILER_OUTPUT"


class Given(Struct, frozen=True):
    """A path that may be read, and what lies there: another stamp means other files."""

    path: Path
    stamp: str


class Roots:
    """The folders whose content may be read."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Takes the folders as they are now.

        Raises:
            UsageError: One of them is no folder.
        """
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(Message("is_no_folder", folder=folder), Message("give_root"))
        self.folders = tuple(folder.resolve() for folder in folders)

    def given(self, words: str) -> Given:
        """The file or folder that is meant, relative to a root or in full.

        Raises:
            InputError: It is not there, lies outside of the roots, or holds links that lead out of them.
        """
        path = self._found(words)
        return Given(path, self._stamp(path))

    def _found(self, words: str) -> Path:
        if not words or "\0" in words or len(words) > _LONGEST:
            raise self._outside()
        inside = False
        for root in self.folders:
            real = _real(root / words)  # an absolute path replaces the root
            if real is not None and self._holds(real):
                inside = True
                if real.exists():
                    return real
        if not inside:
            raise self._outside()
        raise InputError(Message("does_not_exist", path=words), Message("paths_count_from"))

    def _holds(self, real: Path) -> bool:
        return any(real.is_relative_to(root) for root in self.folders)

    def _outside(self) -> InputError:
        listed = ", ".join(map(str, self.folders))
        return InputError(Message("path_outside"), Message("roots_are", names=listed))

    def _stamp(self, path: Path) -> str:
        """Names, sizes and times of everything that reading the path may touch."""
        top = _whole(path)
        if not self._holds(top):
            raise self._outside()
        digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape"))
        for name, size, changed in sorted(self._files(top)):
            digest.update(f"{name}\0{size}\0{changed}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def _files(self, top: Path) -> Iterator[tuple[str, int, int]]:
        """Every file below, links followed where they stay inside."""
        waiting, seen, count = [top], {top}, 0
        if top.is_file():
            waiting = []
            yield str(top), top.stat().st_size, top.stat().st_mtime_ns
        while waiting:
            for entry in _listing(waiting.pop()):
                count += 1
                if count > MOST_ENTRIES:
                    raise InputError(Message("too_many_files", count=f"{MOST_ENTRIES:,}"), Message("go_further_down"))
                real = self._entered(entry)
                if real is None:
                    continue
                if entry.is_dir() and real not in seen:
                    seen.add(real)
                    waiting.append(real)
                elif entry.is_file():
                    status = entry.stat()
                    yield str(real), status.st_size, status.st_mtime_ns

    def _entered(self, entry: os.DirEntry[str]) -> Path | None:
        """The real path of an entry; None for a link to nothing.

        Raises:
            InputError: It is a link that leads outside.
        """
        if not entry.is_symlink():
            return Path(entry.path)
        real = _real(Path(entry.path))
        if real is None or not real.exists():
            return None
        if not self._holds(real):
            raise self._outside()
        return real


def _real(path: Path) -> Path | None:
    """Where a path leads in the end; None where links go round in a circle or the name cannot be."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _listing(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # reading the capture says what is wrong with it


def _whole(path: Path) -> Path:
    """What a path is read with: of a file its capture, of an output the folder it lies in; a saved diagnosis alone."""
    folder = path if path.is_dir() else path.parent
    if is_saved(path):
        return path
    return folder.parent if folder.name == _OUTPUT else folder
