# SPDX-License-Identifier: Apache-2.0
"""What must hold of whatever came of a damaged capture."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import numpy as np

from advisor.facts.table import Table
from advisor.model.findings import Diagnosis

_SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "diagnosis.schema.json"
_MORE_THAN_ALL = 1.0001
"""A saving may round to a little more than the step."""


class BrokenPromise(Exception):
    """Something came of an input that must not: which promise, and what was seen."""

    def __init__(self, promise: str, seen: str) -> None:
        self.promise, self.seen = promise, seen
        super().__init__(promise, seen)


def check_unchanged(before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """The input is as it was."""
    if before != after:
        other = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise BrokenPromise("input changed", ", ".join(other))


def names_around(folder: Path) -> dict[str, object]:
    """What lies beside a capture and where things are unpacked: nothing new may come to either."""
    return {str(path): None for place in (folder.parent, Path(tempfile.gettempdir())) for path in place.iterdir()}


def check_table(table: Table[Any]) -> None:
    """No number of a table is infinite; what is missing is missing."""
    for name, column in table.fact.columns().items():
        if column.store == "float" and np.isinf(table.floats(name)).any():
            raise BrokenPromise("infinite cell", f"{table.fact.table}.{name}")


def check_diagnosis(diagnosis: Diagnosis) -> None:
    """No rule broke down, every figure is finite, no saving larger than the step."""
    for outcome in diagnosis.outcomes:
        if outcome.outcome == "failed":
            raise BrokenPromise("rule failed", f"{outcome.rule}: {outcome.reason}")
    check_finite(diagnosis.model_dump(mode="json"))
    step_us = diagnosis.split.step_us if diagnosis.split is not None else math.inf
    for finding in diagnosis.findings:
        us = finding.saving.us
        if us is not None and us > max(step_us, diagnosis.run.step_us or 0.0) * _MORE_THAN_ALL:
            raise BrokenPromise("saving larger than the step", finding.rule)


def check_finite(held: Mapping[str, Any]) -> None:
    """Every figure is finite."""
    for place, value in _figures(held, ""):
        if not math.isfinite(value):
            raise BrokenPromise("figure that is not finite", place)


def _figures(held: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(held, Mapping):
        for key, inner in held.items():
            if key != "rules":
                yield from _figures(inner, f"{place}/{key}")
    elif isinstance(held, list | tuple):
        for inner in held:
            yield from _figures(inner, place)
    elif isinstance(held, float):
        yield place, held


def check_schema(held: dict[str, Any]) -> None:
    """The JSON is valid by the published schema; what it says of rules is the same for every capture."""
    wrong = next(_validator().iter_errors({**held, "rules": []}), None)
    if wrong is not None:
        raise BrokenPromise("JSON not valid", f"{wrong.json_path}: {wrong.message[:200]}")


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(_SCHEMA.read_text("utf-8")))


def check_text(text: str | bytes) -> None:
    """A text can be written in UTF-8, and drives no terminal."""
    if isinstance(text, str):
        text.encode("utf-8")
        if "\x1b" in text:
            raise BrokenPromise("control character in a report", repr(text[max(0, text.index("\x1b") - 40) :][:80]))


def check_nothing_is_silently_fine(before: Diagnosis, after: Diagnosis, *, files_gone: bool) -> None:
    """What was found is found where rows are gone, or is told as not looked for, or the file is named.

    Of files that are gone it is enough that rules which need them say so. Of a capture that lacked rows before nothing
    new has to be told.
    """
    if "capture/lost-rows" in _fired(before):
        return
    outcomes = {one.rule: one for one in after.outcomes}
    silent = {rule for rule in _fired(before) if outcomes[rule].outcome == "quiet" and not outcomes[rule].without_ranks}
    if silent and not _told(after) - _told(before) and not (files_gone and _skipped(after) - _skipped(before)):
        raise BrokenPromise("silent change", ", ".join(sorted(silent)))


def _fired(diagnosis: Diagnosis) -> set[str]:
    return {one.rule for one in diagnosis.outcomes if one.outcome == "fired"}


def _skipped(diagnosis: Diagnosis) -> set[str]:
    return {one.rule for one in diagnosis.outcomes if one.outcome == "skipped"}


def _told(diagnosis: Diagnosis) -> set[str]:
    """What is said of the capture itself."""
    return {f"{one.rule} {one.subject}" for one in diagnosis.findings if one.rule.startswith("capture/")} | {
        f"{one.file} {one.what}" for one in diagnosis.unread
    }


def raise_warning(message: Warning | str, *_: object) -> NoReturn:
    """A warning of a library would stand on the terminal."""
    raise BrokenPromise("warning on the terminal", str(message))
