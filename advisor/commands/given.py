# SPDX-License-Identifier: Apache-2.0
"""What a command was given: a capture to diagnose, or the .json of a diagnosis made before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.commands.settings import catalog_of, language_of
from advisor.saved import is_saved, saved, saved_diagnosis

if TYPE_CHECKING:
    import argparse

    from advisor.facts.profile import Profile
    from advisor.findings import Diagnosis
    from advisor.rules.settings import Settings

__all__ = ["given", "given_diagnosis", "is_saved", "saved", "saved_diagnosis"]


def given_diagnosis(path: Path, arguments: argparse.Namespace, settings: Settings | None) -> Diagnosis:
    """The diagnosis at this path: read from its .json, or made from the capture.

    Raises:
        InputError: Nothing there can be read.
    """
    return saved_diagnosis(path) if is_saved(path) else given(path, arguments, settings)[0]


def given(path: Path, arguments: argparse.Namespace, settings: Settings | None) -> tuple[Diagnosis, Profile]:
    """The diagnosis of the capture at this path, and its tables.

    Raises:
        InputError: Nothing there can be read.
    """
    from advisor.diagnosis import diagnose, open_profile
    from advisor.report.bar import Bar

    with Bar(language_of(arguments.lang)) as bar:
        profile = open_profile(path, jobs=arguments.jobs, progress=bar)
        return diagnose(profile, catalog_of(arguments.rules, settings), bar), profile
