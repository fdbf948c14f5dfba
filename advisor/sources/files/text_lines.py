# SPDX-License-Identifier: Apache-2.0
"""Text files that are neither tables nor JSON: their lines, and the words of these."""

from __future__ import annotations

from pathlib import Path

from advisor.machine.regular_files import read_regular
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.sources.files.csvfile import refuse_file
from advisor.sources.files.damage_notes import Notes


def read_words(path: Path, notes: Notes) -> list[list[str]]:
    """The lines of a text file as words, blank ones left out.

    Raises:
        Unreadable: It cannot be opened, or is empty.
    """
    return [line.split() for line in read_lines(path, notes)]


def read_lines(path: Path, notes: Notes) -> list[str]:
    """The lines of a text file, blank ones left out.

    Raises:
        Unreadable: It cannot be opened, or is empty.
    """
    try:
        raw = read_regular(path)
    except OSError as error:
        refuse_file(path, notes, Message("file_unreadable", why=reason_of_error(error)))
    lines = [line for line in raw.decode("utf-8-sig", "replace").split("\n") if line.strip(" \t\r\0")]
    if not lines:
        refuse_file(path, notes, Message("holds_nothing"))
    return [line.rstrip("\r") for line in lines]
