# SPDX-License-Identifier: Apache-2.0
"""A folder of entries by key, which several processes may read and write at once.

```text
cache/
  CACHEDIR.TAG                tells programs that make backups to leave the folder out
  0f3c…9a.advisor-facts       a line about the entry, then what was kept
```

An entry is written beside its place and put there in one go. One that is cut short, changed, of another format or of
another key is none. What was used longest ago goes first when there is too much.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from advisor.machine.output_files import put_in_place
from advisor.machine.regular_files import open_regular
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message

FORMAT = "advisor.cache/1"
MOST_BYTES = 10 << 30
"""How much a cache may hold where nobody says: some thousand ranks of a few MB."""
_ENDING, _PART = ".advisor-facts", ".advisor-part"
_NAME = re.compile(rf"[0-9a-f]{{64}}{re.escape(_ENDING)}")
_PART_NAME = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(_PART)}")
_LEFT_OVER_S = 24 * 3600
"""Nobody writes an entry for a day: what is older was left by a process that was killed."""
_ADDED_SHARE = 1 / 8
"""Of what a cache may hold so much is added before it is looked at again."""
_LONGEST_HEAD = 1 << 16
_TAG = "CACHEDIR.TAG"
_TAG_WORDS = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# Facts that advisor keeps: `advisor cache clear` removes them.\n"
)
"""As <https://bford.info/cachedir/> has it."""


class CacheHead(Struct, frozen=True):
    """The first line of an entry."""

    format: str
    key: str
    checksum: str
    """Of the key and all behind the line."""
    capture: str
    """Name of the run."""
    version: str


class CacheEntry(Struct, frozen=True):
    """An entry that lies in the folder."""

    path: Path
    size_bytes: int
    used_s: float
    """When it was read or written last, s since the epoch."""


class CacheFolder:
    """The entries of a folder. Whoever gives `tell` is told once why nothing can be written there."""

    def __init__(
        self, folder: Path, most_bytes: int | None = None, tell: Callable[[Message], None] = lambda _: None
    ) -> None:
        self.folder, self._tell = folder, tell
        self.most_bytes = MOST_BYTES if most_bytes is None else most_bytes
        self._is_told = False
        self._added_bytes = 0

    def read_entry(self, key: str) -> bytes | None:
        """What was kept under a key; None where nothing is, or what lies there is no whole entry of this key."""
        path = self._path_of(key)
        try:
            with open_regular(path) as file:
                head, content = _read_head(file.readline(_LONGEST_HEAD)), file.read()
        except OSError:
            return None
        if head is None or head.key != key or head.checksum != _checksum(key, content):
            return None
        with contextlib.suppress(OSError):  # one that may only be read stays as old as it is
            os.utime(path)
        return content

    def write_entry(self, key: str, content: bytes, *, capture: str, version: str) -> bool:
        """Keeps this under a key, and gives whether that could be done."""
        head = CacheHead(FORMAT, key, _checksum(key, content), capture, version)
        try:
            self._make_folder()
            part = self.folder / f".{secrets.token_hex(8)}{_PART}"
            with put_in_place(part, self._path_of(key)), part.open("xb") as file:
                file.write(msgspec.json.encode(head) + b"\n" + content)
        except OSError as error:
            self._tell_once(error)
            return False
        self._added_bytes += len(content)
        if self._added_bytes > self.most_bytes * _ADDED_SHARE:  # whoever is killed removes nothing at its end
            self.remove_oldest()
        return True

    def remove_oldest(self) -> None:
        """Removes what was used longest ago until no more is there than may be, and what was never finished."""
        self._added_bytes = 0
        oldest_s = time.time() - _LEFT_OVER_S
        for part in self._files(_PART_NAME):
            if part.used_s < oldest_s:
                _remove_file(part.path)
        entries = sorted(self.entries(), key=lambda entry: entry.used_s)
        left = sum(entry.size_bytes for entry in entries)
        for entry in entries:
            if left <= self.most_bytes:
                break
            left -= entry.size_bytes
            _remove_file(entry.path)

    def entries(self) -> Iterator[CacheEntry]:
        """What lies there, in no order."""
        return self._files(_NAME)

    def heads(self) -> Iterator[tuple[CacheEntry, CacheHead]]:
        """The same with the first line of each; those that have none are left out."""
        for entry in self.entries():
            with contextlib.suppress(OSError), open_regular(entry.path) as file:
                if (head := _read_head(file.readline(_LONGEST_HEAD))) is not None:
                    yield entry, head

    def remove_all(self) -> tuple[int, int]:
        """Removes all entries and nothing else; gives how many they were, and their bytes.

        Raises:
            OSError: One cannot be removed.
        """
        entries = list(self.entries())
        for entry in (*entries, *self._files(_PART_NAME)):
            entry.path.unlink(missing_ok=True)
        return len(entries), sum(entry.size_bytes for entry in entries)

    def _files(self, name: re.Pattern[str]) -> Iterator[CacheEntry]:
        with contextlib.suppress(FileNotFoundError), os.scandir(self.folder) as found:
            for one in found:
                with contextlib.suppress(OSError):  # another process may have removed it
                    if name.fullmatch(one.name) and one.is_file(follow_symlinks=False):
                        status = one.stat(follow_symlinks=False)
                        yield CacheEntry(Path(one.path), status.st_size, status.st_mtime)

    def _path_of(self, key: str) -> Path:
        return self.folder / f"{key}{_ENDING}"

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), (self.folder / _TAG).open("x", encoding="utf-8") as tag:
            tag.write(_TAG_WORDS)

    def _tell_once(self, error: OSError) -> None:
        if not self._is_told:
            self._is_told = True
            self._tell(Message("cache_not_written", path=self.folder, why=reason_of_error(error)))


def _read_head(line: bytes) -> CacheHead | None:
    try:
        head = msgspec.json.decode(line, type=CacheHead)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return head if head.format == FORMAT and line.endswith(b"\n") else None


def _checksum(key: str, content: bytes) -> str:
    found = hashlib.blake2b(key.encode(), digest_size=32)
    found.update(content)
    return found.hexdigest()


def _remove_file(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was first, or has it open
        path.unlink(missing_ok=True)
