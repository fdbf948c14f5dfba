# SPDX-License-Identifier: Apache-2.0
"""Where reports are written to: files, or the standard output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from advisor.machine.input_folders import paths_outside_captures, place_identity
from advisor.machine.output_files import cannot_be_written, write_file
from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.report.output_formats import WRITERS, Writer

STDOUT = Path("-")
_NAMES_OF_STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class Output(Struct, frozen=True):
    """One file to write, or the standard output, and the format it gets."""

    path: Path
    writer: Writer

    @property
    def is_stdout(self) -> bool:
        """Whether this is no file."""
        return self.path == STDOUT


def check_suffix(path: Path, writers: Sequence[Writer] = WRITERS) -> Writer:
    """The writer for a file name: the one with the longest ending that fits.

    Raises:
        UsageError: No writer knows the suffix; the message lists those that exist.
    """
    name = path.name.lower()
    fitting = [(len(end), writer) for writer in writers for end in writer.suffixes if name.endswith(end)]
    if fitting:
        return max(fitting, key=lambda found: found[0])[1]
    known = ", ".join(writer.suffix for writer in writers)
    names = ", ".join(writer.name for writer in writers)
    suffix = path.suffix or path.name
    if path.is_dir():
        raise _folder_error(path)
    raise UsageError(
        Message("no_such_report", path=path, suffix=suffix),
        Message("known_suffixes", known=known, names=names),
    )


def check_output(words: str | Path, writers: Sequence[Writer] = WRITERS) -> Output:
    """What `-o` was given: `FILE` with a known ending, or `FORMAT:FILE`; `-` for FILE is the standard output.

    Raises:
        UsageError: No writer knows the suffix, or no file stands behind a format.
    """
    name, colon, rest = str(words).partition(":")
    for writer in writers:
        if colon and name == writer.name and not rest:
            raise UsageError(Message("format_without_file", given=words), Message("file_behind_format", name=name))
        if colon and name == writer.name:
            return Output(STDOUT if rest in _NAMES_OF_STDOUT else Path(rest), writer)
    return Output(Path(words), check_suffix(Path(words), writers))


def check_outputs(
    outputs: Sequence[str | Path], *sources: Path, writers: Sequence[Writer] = WRITERS
) -> tuple[Output, ...]:
    """The files to write, before the work starts: known format, existing folder, not one of the inputs itself.

    Raises:
        UsageError: One of them will not do, or needs a library that is not installed.
    """
    checked = tuple(check_output(words, writers) for words in outputs)
    _check_apart(checked)
    if any(output.writer.name == "xlsx" for output in checked):
        from advisor.report.spreadsheet import spreadsheet_library

        spreadsheet_library()
    for output in checked:
        if not output.is_stdout:
            _check_place(output.path, sources)
    return checked


def _check_apart(outputs: Sequence[Output]) -> None:
    """Two reports in one place: the second would replace the first, or be mixed with it."""
    seen: set[str] = set()
    for output in outputs:
        place = "-" if output.is_stdout else os.path.realpath(output.path)
        if place in seen:
            called = Message("standard_output") if output.is_stdout else output.path
            raise UsageError(Message("two_reports", place=called), Message("place_each"))
        seen.add(place)


def _folder_error(path: Path) -> UsageError:
    return UsageError(Message("is_folder", path=path), Message("file_in_folder", file=path / "report.html"))


def _check_place(path: Path, sources: Sequence[Path]) -> None:
    another = Message("give_another_name")
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        _check_parent(path)
        return
    except OSError as error:  # a name that is too long, a link to itself
        raise cannot_be_written(path, error) from error
    if stat.S_ISDIR(kind):
        raise _folder_error(path)
    if stat.S_ISBLK(kind):
        raise UsageError(Message("is_disk", path=path), another)
    if place_identity(path) in map(place_identity, sources):
        raise UsageError(Message("is_input", path=path), another)


def check_folder(path: Path, source: Path) -> None:
    """A folder to write, before the work starts: it lies in a folder that is there, and is not the input.

    Raises:
        UsageError: It will not do.
    """
    _check_parent(path)
    if os.path.exists(path) and place_identity(path) == place_identity(source):
        raise UsageError(Message("is_input", path=path), Message("give_new_folder"))


def _check_parent(path: Path) -> None:
    if not os.path.isdir(Path(os.path.realpath(path)).parent):
        raise UsageError(Message("no_folder_for", path=path, folder=path.parent), Message("make_folder")) from None


def outside_captures(outputs: Sequence[Output], source: Path, captures: Sequence[str]) -> None:
    """Refuses to write a report into a capture: what the profiler wrote stays as it is.

    Raises:
        UsageError: A file would lie in a capture.
    """
    paths_outside_captures([output.path for output in outputs if not output.is_stdout], source, captures)


def write_files(reported: object, to: Output) -> Iterator[Path]:
    """Writes what is known, and gives each file once it is there: some formats are one file per table.

    Raises:
        UsageError: A file cannot be written.
    """
    if to.writer.tables is None or to.is_stdout:
        yield from write_output(to.writer.text(reported), to)
        return
    for path, text in to.writer.tables(reported, to.path):
        yield from write_output(text, Output(path, to.writer))


def write_output(text: str | bytes, to: Output) -> tuple[Path, ...]:
    """Writes a text (or bytes) where it was asked for, and gives the file, if that is one.

    Raises:
        UsageError: The file cannot be written.
    """
    # A lone surrogate (a file name that is no UTF-8) cannot be encoded; its escape is valid JSON, and shown elsewhere.
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    if to.is_stdout:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return ()
    write_file(to.path, content)
    return (to.path,)
