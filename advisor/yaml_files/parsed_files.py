# SPDX-License-Identifier: Apache-2.0
"""What the parser makes of the files that are shipped, written down beside them: a diagnosis reads it instead.

Reading 200 files of YAML takes longer than judging a small capture. `rules/parsed.jsonl` has a line for each rule and
pattern, `chips/parsed.jsonl` for each file of chips: its path, the hash of its text and what that text says. A file
whose text has another hash is parsed as ever, so that what is written down can be incomplete but never stale.
`python -m advisor.reference` writes both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from advisor.machine.shipped_files import shipped_folder
from advisor.yaml_files.document import RuleDocument, read_text

PARSED = "parsed.jsonl"
"""The file in a shipped folder."""


class ParsedFile(msgspec.Struct, frozen=True):
    """What one file says."""

    file: str
    """Its path from the folder."""
    hash: str
    """Of its text (see `hash_of_text`)."""
    tests: bool
    """Whether the section `tests` is among the data, where it has one."""
    data: Any


def hash_of_text(text: bytes) -> str:
    """What tells one text from another, 32 hexadecimal digits."""
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def document_of_text(text: bytes, file: str, *, tests: bool = True, folder: str = "rules") -> RuleDocument:
    """The document of a text in UTF-8, as `parse_document` makes it: read where it is written down in a shipped folder.

    Raises:
        RuleError: It is no YAML as `source` describes it.
    """
    written = _data_by_hash(shipped_folder(folder) / PARSED).get((hash_of_text(text), tests))
    if written is None:
        from advisor.yaml_files.source import parse_document

        return parse_document(text.decode(), file, tests=tests)
    return RuleDocument(file, text, None, written.data, with_tests=tests, nodes_are_gone=True, was_checked=True)


@lru_cache(maxsize=2)
def _data_by_hash(path: Path) -> Mapping[tuple[str, bool], ParsedFile]:
    """By the hash of a text, and whether its tests are asked for, what it says; nothing where that is not written."""
    if not path.is_file():
        return {}
    lines = msgspec.json.Decoder(ParsedFile).decode_lines(path.read_bytes())
    return {(one.hash, one.tests): one for one in lines}


def parsed_lines(files: Iterable[Path], folder: Path, *, tests: bool) -> Iterator[str]:
    """A line of `parsed.jsonl` for each of these files, below a shipped folder.

    Raises:
        RuleError: One of them cannot be read or parsed.
    """
    from advisor.yaml_files.source import parse_document

    for path in files:
        text = read_text(path, path.as_posix())
        data = parse_document(text, path.as_posix(), tests=tests).data
        line = ParsedFile(path.relative_to(folder).as_posix(), hash_of_text(text.encode()), tests, data)
        yield msgspec.json.encode(line).decode()
