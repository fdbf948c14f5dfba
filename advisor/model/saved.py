# SPDX-License-Identifier: Apache-2.0
"""What was written before, read again: the .json of a diagnosis or of a comparison."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from advisor.messages.message import Message
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis

Model = TypeVar("Model", bound="BaseModel")

_HEAD_BYTES = 4096
_FORMAT = re.compile(rb'"advisor\.([a-z]+)/')
_VERSION = re.compile(rb'^\s*\{\s*"format"\s*:\s*"[^"]*"\s*,\s*"version"\s*:\s*"([\w.+-]{1,40})"', re.ASCII)
_SLIPS: Mapping[str, str] = {"missing": "is_missing", "extra_forbidden": "unknown_key"}
"""What is said of a slip, by what pydantic calls it; of all others that they do not fit."""
_KINDS: Mapping[str, str] = {
    "comparison": "a_comparison",
    "diagnosis": "a_diagnosis",
    "explanation": "an_explanation",
    "facts": "a_manifest",
    "inspection": "an_inspection",
    "verdict": "a_verdict",
    "verification": "a_verification",
    "verifications": "a_verification",
}
"""What each kind of file that advisor writes is called, by the word in its format."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_PERHAPS_INFINITE = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{100}")
"""What a text without such numbers may hold as well, in a name; looking closer costs as much as reading."""
_LARGEST_DIGITS = 100
"""No report can calculate with more: squares and sums would leave a float."""


def is_saved(path: Path) -> bool:
    """Whether this names the .json of a diagnosis, not a capture; a timeline is .json too."""
    if path.suffix.lower() != ".json" or not os.path.isfile(path):
        return path.suffix.lower() == ".json" and not os.path.exists(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return True  # reading it says what is wrong
    return b'"traceEvents"' not in head and not head.lstrip().startswith(b"[")


def is_comparison(path: Path) -> bool:
    """Whether this is the .json of a comparison."""
    return written_by_advisor(path) == "comparison"


def written_by_advisor(path: Path) -> str:
    """`diagnosis` or `comparison`, where this is the .json of one; else nothing."""
    kind = _kind_of_file(path)
    return kind if kind in ("diagnosis", "comparison") else ""


def _kind_of_file(path: Path) -> str:
    """What advisor wrote into a file, by the word in its format; nothing where it is of somebody else."""
    try:
        if not os.path.isfile(path):
            return ""
        with path.open("rb") as file:
            found = _FORMAT.search(file.read(_HEAD_BYTES).split(b",", 1)[0])
    except OSError:
        return ""  # whoever reads it says what is wrong
    return found[1].decode() if found else ""


def saved_comparison(path: Path) -> Comparison:
    """The comparison in a .json file.

    Raises:
        InputError: There is none; the message says what is wrong with the file.
    """
    from advisor.messages.message import Message
    from advisor.model.comparison import Comparison

    remedy = Message("give_comparison")
    return read_saved(path, Comparison, Message("a_comparison"), remedy)


def saved_diagnosis(path: Path) -> Diagnosis:
    """The diagnosis in a .json file.

    Raises:
        InputError: There is none; the message says what is wrong with the file.
    """
    from advisor.messages.message import Message
    from advisor.model.findings import Diagnosis

    remedy = Message("give_diagnosis")
    return read_saved(path, Diagnosis, Message("a_diagnosis"), remedy)


def read_saved(path: Path, model: type[Model], called: Message, remedy: Message) -> Model:
    """What a .json file holds, as this model.

    Raises:
        InputError: It cannot be read or holds something else; the message says what is wrong with the file.
    """
    from pydantic import ValidationError

    from advisor.messages.errors import InputError, reason_of_error
    from advisor.messages.message import Message
    from advisor.release import VERSION

    try:
        text = path.read_bytes()
        return _model_of_json(text, model)
    except _NoNumber as error:
        raise InputError(Message("saved_number", path=path, called=called, why=str(error)), remedy) from error
    except OSError as error:
        trouble = Message("path_unreadable", path=path, why=reason_of_error(error))
        raise InputError(trouble, remedy) from error
    except ValidationError as error:
        first = error.errors()[0]
        found = _kind_of_file(path)
        kind = Message(_KINDS[found]) if found in _KINDS else called
        if kind != called:
            raise InputError(Message("of_other_kind", path=path, kind=kind, called=called), remedy) from error
        if not found and first["type"] != "json_invalid":
            raise InputError(Message("of_somebody_else", path=path, called=called), remedy) from error
        if found and first["loc"] == ("format",):
            known = str(model.model_fields["format"].default)
            trouble = Message("of_other_version", path=path, format=str(first["input"]), known=known)
            raise InputError(trouble, Message("use_that_version")) from error
        if first["type"] != "json_invalid" and (wrote := _version_of_file(path)) not in ("", VERSION):
            trouble = Message("of_other_release", path=path, wrote=wrote, own=VERSION, why=_what_is_wrong(first))
            raise InputError(trouble, Message("use_that_version")) from error
        why = _reason_of_no_json(text) if first["type"] == "json_invalid" else _what_is_wrong(first)
        raise InputError(Message("not_of_form", path=path, called=called, why=why), remedy) from error


def _what_is_wrong(slip: ErrorDetails) -> Message:
    """The first thing that is wrong with what a file says, in words of ours."""
    from advisor.messages.message import Message

    return Message(_SLIPS.get(slip["type"], "is_of_other_form"), name=".".join(map(str, slip["loc"])))


def _reason_of_no_json(text: bytes) -> Message:
    """Why a text is no JSON: it is empty, no text, nested too deeply, ends early, or from where on it is none."""
    import json

    from advisor.messages.message import Message

    if not text.strip():
        return Message("saved_file_is_empty")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if _is_json(error.doc, allow_partial=True) and not _is_json(error.doc[: error.pos]):
            return Message("json_ends_early", line=error.doc.count("\n") + 1)
        return Message("no_json_from", line=error.lineno, column=error.colno)
    except UnicodeError:
        return Message("no_utf8")
    except (RecursionError, ValueError):
        pass
    return Message("nested_too_deeply")


def _is_json(text: str, *, allow_partial: bool = False) -> bool:
    """Whether a text is JSON, or the beginning of one."""
    from pydantic_core import from_json

    try:
        from_json(text, allow_partial=allow_partial)
    except ValueError:
        return False
    return True


def _version_of_file(path: Path) -> str:
    """Which version of advisor wrote a file; empty where it does not say."""
    with path.open("rb") as file:
        found = _VERSION.search(file.read(_HEAD_BYTES))
    return found[1].decode() if found else ""


class _NoNumber(Exception):
    """NaN, or a number too large for a float."""


def _model_of_json(text: bytes, model: type[Model]) -> Model:
    """The model in a JSON text. Lone surrogates, as file names that are no UTF-8 leave them, are read as written.

    Raises:
        ValidationError: It holds something else.
        _NoNumber: It holds what no report can calculate with, and what JSON does not know.
    """

    from pydantic import ValidationError

    try:
        made = model.model_validate_json(text)
    except ValidationError as error:
        if error.errors()[0]["type"] != "json_invalid" or not _SURROGATE.search(text):
            raise
        try:
            found = _parse_numbers_known(text)
        except (ValueError, RecursionError):  # what is wrong is not the surrogate alone
            raise error from None
        return model.model_validate(found)
    if _PERHAPS_INFINITE.search(text):
        _parse_numbers_known(text)
    return made


def _parse_numbers_known(text: bytes) -> object:
    import json

    return json.loads(text, parse_constant=_refuse_number, parse_float=_parse_finite, parse_int=_parse_whole)


def _refuse_number(constant: str) -> float:
    raise _NoNumber(constant)


def _parse_finite(digits: str) -> float:
    value = float(digits)
    return value if abs(value) < 10.0**_LARGEST_DIGITS else _refuse_number(digits)


def _parse_whole(digits: str) -> float:
    return int(digits) if len(digits) < _LARGEST_DIGITS else _refuse_number(f"{digits[:20]}…")
