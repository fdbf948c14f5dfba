# SPDX-License-Identifier: Apache-2.0
"""A store of facts: recognised by its manifest, and opened as the run that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from pydantic import ValidationError

from advisor.fact_store.manifest import FILE, FORMAT, Manifest
from advisor.fact_store.parquet import ParquetIndexes
from advisor.facts.rank_facts import Source
from advisor.machine.regular_files import read_regular
from advisor.messages.errors import InputError, reason_of_error
from advisor.messages.message import Message
from advisor.model.run import Run
from advisor.sources.family import Candidate, Input
from advisor.sources.listing import Listing, show_name
from advisor.sources.stored.reading import StoredRank

NAME = "facts"


def detect(listing: Listing) -> Iterator[Candidate]:
    """The store in a folder; what else lies there is its own."""
    if FILE in listing.files and listing.asked in ("", FILE):
        yield Candidate(listing.folder)


def inner(listing: Listing) -> frozenset[str]:
    """The folders of tables."""
    return frozenset(listing.folders) if FILE in listing.files else frozenset()


def open_store(candidates: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """The run that facts were written of, and a source for each that it had.

    Raises:
        InputError: There are several stores, or this one cannot be read.
    """
    if len(candidates) > 1:
        raise InputError(Message("several_stores", path=given.path), Message("give_one_job"))
    folder = candidates[0].root
    manifest = _read_manifest(folder / FILE)
    try:
        run = Run.model_validate_json(bytes(manifest.run))
    except ValidationError as error:
        raise _no_store(folder / FILE, Message("quoted", words=error.errors()[0]["msg"])) from error
    files = ParquetIndexes()
    sources: list[Source] = [
        StoredRank(folder, stored, frozenset(manifest.further), files) for stored in manifest.sources
    ]
    return run, sources


def _read_manifest(path: Path) -> Manifest:
    try:
        found = msgspec.json.decode(read_regular(path), type=Manifest)
    except (OSError, UnicodeError, msgspec.MsgspecError, RecursionError) as error:
        raise _no_store(path, reason_of_error(error)) from error
    if found.format != FORMAT:
        raise _no_store(path, Message("other_store_format", format=found.format, known=FORMAT))
    return found


def _no_store(path: Path, why: Message) -> InputError:
    return InputError(Message("no_store", path=show_name(path), why=why), Message("write_facts_again"))
