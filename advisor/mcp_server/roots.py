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


class PermittedPath(Struct, frozen=True):
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
            if not os.path.isdir(folder):
                raise UsageError(Message("is_no_folder", folder=folder), Message("give_root"))
        self.folders = tuple(folder.resolve() for folder in folders)

    def permit_path(self, words: str) -> PermittedPath:
        """The file or folder that is meant, relative to a root or in full.

        Raises:
            InputError: It is not there, lies outside of the roots, or holds links that lead out of them.
        """
        path = self._resolve_words(words)
        return PermittedPath(path, self._stamp_of_path(path))

    def _resolve_words(self, words: str) -> Path:
        if not words:
            raise InputError(Message("no_path_given"), Message("paths_count_from"))
        if "\0" in words or len(words) > _LONGEST:
            raise self._outside_error()
        inside = False
        for root in self.folders:
            real = _real_path(root / words)  # an absolute path replaces the root
            if real is not None and self._is_inside(real):
                inside = True
                if real.exists():
                    return real
        if not inside:
            raise self._outside_error()
        raise InputError(Message("does_not_exist", path=words), Message("paths_count_from"))

    def _is_inside(self, real: Path) -> bool:
        return any(real.is_relative_to(root) for root in self.folders)

    def _outside_error(self) -> InputError:
        listed = ", ".join(map(str, self.folders))
        return InputError(Message("path_outside"), Message("roots_are", names=listed))

    def _stamp_of_path(self, path: Path) -> str:
        """Names, sizes and times of everything that reading the path may touch."""
        top = _input_of_path(path)
        if not self._is_inside(top):
            raise self._outside_error()
        digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape"))
        for name, size, changed in sorted(self._files_below(top)):
            digest.update(f"{name}\0{size}\0{changed}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def _files_below(self, top: Path) -> Iterator[tuple[str, int, int]]:
        """Every file below, links followed where they stay inside."""
        waiting, seen, count = [top], {top}, 0
        if top.is_file():
            waiting = []
            yield str(top), top.stat().st_size, top.stat().st_mtime_ns
        while waiting:
            for entry in _list_folder(waiting.pop()):
                count += 1
                if count > MOST_ENTRIES:
                    raise InputError(Message("too_many_files", count=f"{MOST_ENTRIES:,}"), Message("go_further_down"))
                real = self._resolve_entry(entry)
                if real is None:
                    continue
                if entry.is_dir() and real not in seen:
                    seen.add(real)
                    waiting.append(real)
                elif entry.is_file():
                    status = entry.stat()
                    yield str(real), status.st_size, status.st_mtime_ns

    def _resolve_entry(self, entry: os.DirEntry[str]) -> Path | None:
        """The real path of an entry; None for a link to nothing.

        Raises:
            InputError: It is a link that leads outside.
        """
        if not entry.is_symlink():
            return Path(entry.path)
        real = _real_path(Path(entry.path))
        if real is None or not real.exists():
            return None
        if not self._is_inside(real):
            raise self._outside_error()
        return real


def _real_path(path: Path) -> Path | None:
    """Where a path leads in the end; None where links go round in a circle or the name cannot be."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _list_folder(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # reading the capture says what is wrong with it


def _input_of_path(path: Path) -> Path:
    """What a path is read with: of a file its capture, of an output the folder it lies in; a saved diagnosis alone."""
    folder = path if path.is_dir() else path.parent
    if is_saved(path):
        return path
    return folder.parent if folder.name == _OUTPUT else folder
