# SPDX-License-Identifier: Apache-2.0
"""A capture in memory: what its files hold, by their names."""

from __future__ import annotations

import os
import shutil
from enum import StrEnum
from pathlib import Path


class Special(StrEnum):
    """What may lie in the place of a file."""

    folder = "folder"
    pipe = "pipe"
    link_to_itself = "link to itself"
    link_to_nothing = "link to nothing"
    link_to_process = "link to a process"
    closed = "closed"


Files = dict[str, bytes | Special]
"""Paths relative to the capture."""


def read_files(folder: Path) -> Files:
    """Every regular file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def write_files(files: Files, folder: Path) -> None:
    """Put a capture into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for place in {"", *(os.path.dirname(name) for name in files)}:
        os.makedirs(os.path.join(folder, place), exist_ok=True)
    for name, content in files.items():
        path = os.path.join(folder, name)
        if isinstance(content, Special):
            _make_special(Path(path), content)
        else:
            with open(path, "wb") as file:
                file.write(content)


def _make_special(path: Path, kind: Special) -> None:
    if kind is Special.folder:
        path.mkdir()
    elif kind is Special.pipe:
        os.mkfifo(path)
    elif kind is Special.closed:
        path.touch(mode=0)
    else:
        targets = {Special.link_to_itself: path.name, Special.link_to_process: "/proc/self/environ"}
        path.symlink_to(targets.get(kind, "nowhere"))


def folder_state(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """What lies below a folder: kinds, sizes, moments of change, and what files hold."""
    found, waiting = {}, [os.fspath(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                held = b""
                if entry.is_file(follow_symlinks=False):
                    with open(entry.path, "rb") as file:
                        held = file.read()
                found[entry.path] = status.st_mode, status.st_size, status.st_mtime_ns, held
    return found
