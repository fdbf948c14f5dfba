# SPDX-License-Identifier: Apache-2.0
"""What the facts of a rank depend on, as a key: the program, what is wanted, what describes the rank, and its files.

Two keys are equal only where all of that is. A value is keyed by what another process would be sent of it, so that
what is left out of a key is what no work can depend on.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.chips.chip_files import FOLDER, chip_files
from advisor.machine.shipped_files import shipped_folder
from advisor.release import VERSION

MOST_FILES = 100_000
"""Files of one rank that are looked at: 0.4 s. A rank with more is read each time."""
_LIBRARIES = ("numpy", "pandas", "pyarrow", "msgspec")
"""What reads and computes beside the package itself."""


class NoKeyError(Exception):
    """Of a value it cannot be told when another one equals it."""


@cache
def program_key() -> str:
    """What computes: every module of this package, what it knows of chips, and the libraries it computes with."""
    found = hashlib.blake2b(digest_size=32)
    package = Path(__file__).parent.parent
    modules = [(file.relative_to(package).as_posix(), file) for file in sorted(package.rglob("*.py"))]
    chips = [(f"chips/{file.name}", file) for file in chip_files(shipped_folder(FOLDER))]
    for name, file in (*modules, *chips):
        content = file.read_bytes()
        found.update(f"{name} {len(content)}\n".encode())
        found.update(content)
    versions = [f"{name} {version(name)}" for name in _LIBRARIES]
    found.update("\n".join([VERSION, sys.version, sys.byteorder, *versions]).encode())
    return found.hexdigest()


class ValueKeys:
    """Keys of values; what several of them share is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, bytes | None]] = {}

    def key_of(self, value: object) -> str:
        """The key of a value.

        Raises:
            NoKeyError: It holds something of which no other process could be told.
        """
        return self._digest(value).hex()

    def _digest(self, value: object) -> bytes:
        plain = _plain_bytes(value)
        if plain is not None:
            return plain
        if id(value) not in self._known:
            self._known[id(value)] = value, None  # kept, for an id is its own while it is
            found = hashlib.blake2b(digest_size=32)
            for part in self._parts(value):
                found.update(len(part).to_bytes(8, "little"))
                found.update(part)
            self._known[id(value)] = value, found.digest()
        digest = self._known[id(value)][1]
        if digest is None:
            raise NoKeyError(f"a {type(value).__name__} that holds itself")
        return digest

    def _parts(self, value: Any) -> Iterator[bytes]:
        """What tells a value from others of any type."""
        kind = type(value)
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        if isinstance(value, set | frozenset):
            yield from sorted(map(self._digest, value))
        elif isinstance(value, list | tuple):
            yield from map(self._digest, value)
        elif isinstance(value, Mapping):
            yield from (self._digest(part) for item in value.items() for part in item)
        elif isinstance(value, Struct):
            yield from (self._digest(getattr(value, name)) for name in value.__struct_fields__)
        elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
            yield from (value.dtype.str.encode(), str(value.shape).encode(), value.tobytes())
        else:
            yield from self._parts_sent(value)

    def _parts_sent(self, value: Any) -> Iterator[bytes]:
        """What another process would be sent of it."""
        try:
            sent = value.__reduce_ex__(2)
        except (TypeError, AttributeError) as error:
            raise NoKeyError(str(error)) from error
        if isinstance(sent, str):
            yield sent.encode()
            return
        make, arguments, *state = sent
        yield from (self._digest(part) for part in (make, arguments, *state[:1]))
        yield from (self._digest(None if items is None else list(items)) for items in state[1:3])


def _plain_bytes(value: object) -> bytes | None:
    """What tells a value without parts; None for others."""
    if value is None or (isinstance(value, bool | int | float) and not isinstance(value, Enum)):
        return f"{type(value).__name__} {value!r}".encode()
    if isinstance(value, str) and not isinstance(value, Enum):
        return hashlib.blake2b(b"str " + value.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    if isinstance(value, bytes):
        return hashlib.blake2b(b"bytes " + value, digest_size=32).digest()
    if isinstance(value, PurePath):
        return b"path " + os.fsencode(os.path.abspath(value))
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        name = f"{value.__module__}.{value.__qualname__}"
        if "<" in name:
            raise NoKeyError(f"{name} has no name of its own")
        return f"name {name}".encode()
    return None


class FilesState(Struct, frozen=True):
    """What the system says of files."""

    key: str
    newest_ns: int
    """When the youngest of them was changed, ns since the epoch."""


def files_state(places: Iterable[Path]) -> FilesState | None:
    """What the system says of these files, and of all files below those that are folders; None for too many."""
    lines: list[str] = []
    newest = 0
    for path in _files_below(dict.fromkeys(map(os.path.abspath, places))):
        if len(lines) == MOST_FILES:
            return None
        try:
            found = os.stat(path)
        except OSError as error:
            lines.append(f"{path!r} {error.errno}")
            continue
        newest = max(newest, found.st_mtime_ns)
        times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
        is_open = os.access(path, os.R_OK)  # whoever may not read it finds something else
        lines.append(f"{path!r} {found.st_mode} {found.st_size} {times} {found.st_ino} {is_open}")
    text = "\n".join(sorted(set(lines)))
    return FilesState(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest(), newest)


def _files_below(places: Iterable[str]) -> Iterator[str]:
    """These files, and those below them, links followed; a folder that cannot be listed stands for itself."""
    waiting, seen = list(places), set[tuple[int, int]]()
    while waiting:
        path = waiting.pop()
        try:
            found = os.stat(path)
            names = os.listdir(path) if stat.S_ISDIR(found.st_mode) else None
        except OSError:
            names = None
        if names is None:
            yield path
        elif (found.st_dev, found.st_ino) not in seen:
            seen.add((found.st_dev, found.st_ino))
            waiting += [os.path.join(path, name) for name in names]
