# SPDX-License-Identifier: Apache-2.0
"""What a command was given: a capture to diagnose, or the .json of a diagnosis made before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from advisor.cli.settings_in_force import catalog_of, language_of
from advisor.cli.standard_error import tell
from advisor.machine.freed_memory import give_back_memory
from advisor.model.saved import is_saved, read_saved, saved_diagnosis, written_by_advisor

if TYPE_CHECKING:
    import argparse

    from advisor.facts.profile import Profile
    from advisor.model.findings import Diagnosis
    from advisor.policy.settings import Settings
    from advisor.rank_work.cluster_asked import ClusterAsked
    from advisor.report.progress_bar import ProgressBar

__all__ = ["diagnose_capture", "given_diagnosis", "is_saved", "read_saved", "saved_diagnosis"]


def given_diagnosis(path: Path, arguments: argparse.Namespace, settings: Settings | None) -> Diagnosis:
    """The diagnosis at this path: read from its .json, or made from the capture.

    Raises:
        InputError: Nothing there can be read.
    """
    return saved_diagnosis(path) if is_saved(path) else diagnose_capture(path, arguments, settings)[0]


def refuse_saved(folder: Path, parts: Sequence[Path] = (), *, to_write_again: bool = False) -> None:
    """Asks whoever gives a report for its capture; where reports are written, points to what writes it again.

    Raises:
        UsageError: It, or one of the parts that were given of a folder, is the .json of a diagnosis or of a comparison.
    """
    for path in [folder / part for part in parts] or [folder]:
        if kind := written_by_advisor(path):
            _refuse_report(path, kind, to_write_again=to_write_again)


def _refuse_report(path: Path, kind: str, *, to_write_again: bool) -> NoReturn:
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message
    from advisor.messages.shell_words import shell_words

    called = Message("a_saved_comparison")
    if kind == "diagnosis":
        called = Message("a_saved_diagnosis")
    hint = Message("render_again", path=shell_words(path)) if to_write_again else Message("give_its_capture")
    raise UsageError(Message("not_a_capture", path=path, kind=called), hint)


def warn_of_chip(profile: Profile, arguments: argparse.Namespace) -> None:
    """Says on the side that the capture names another chip than was told; the report says it too."""
    run, told = profile.run, arguments.chip.name
    if not any(note.about == "untold_chip" for note in run.notes) or getattr(arguments, "quiet", False):
        return
    from advisor.messages.message import Message

    said = Message("other_chip", chip=run.chip, told=told)
    tell(said.say(language_of(arguments.lang)))


def warn_of_rules(arguments: argparse.Namespace) -> None:
    """Says on the side that the lint finds more in rules of one's own, which judge all the same."""
    if not arguments.rules or getattr(arguments, "quiet", False):
        return
    from advisor.messages.message import Message
    from advisor.messages.shell_words import shell_words
    from advisor.rules.catalog import lint_rules

    if slips := lint_rules(arguments.rules):
        said = Message("slips_in_rules", count=len(slips), folders=shell_words(*arguments.rules))
        tell(said.say(language_of(arguments.lang)))


def ways_to_read(arguments: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    """What `reading_options` say of how a capture is read, in the words of `pipeline.open_profile`; progress is shown.

    From then on the process, which is advisor's own, lets memory return that it lets go.

    Raises:
        UsageError: The cluster has no address that can be one, or the package that speaks to it is not installed.
    """
    give_back_memory()
    return {
        "jobs": arguments.jobs,
        "chip": arguments.chip,
        "job": arguments.job,
        "cache": arguments.cache,
        "on": _cluster_asked(arguments, bar),
        "progress": bar,
        **({"parts": parts} if (parts := getattr(arguments, "parts", ())) else {}),
    }


def _cluster_asked(arguments: argparse.Namespace, bar: ProgressBar) -> ClusterAsked | None:
    """The cluster that the ranks are to be read on, if any; the bar shows what its workers do.

    Raises:
        UsageError: Its address is none, or the package that speaks to clusters is not installed.
    """
    if arguments.on is None:
        return None
    from advisor.rank_work.cluster_asked import ClusterAsked

    return ClusterAsked(arguments.on, arguments.rank_limit, bar.show_workers)


def diagnose_capture(path: Path, arguments: argparse.Namespace, settings: Settings | None) -> tuple[Diagnosis, Profile]:
    """The diagnosis of the capture at this path, and its tables.

    Raises:
        InputError: Nothing there can be read.
    """
    from advisor.pipeline import diagnose_if_needed, open_profile
    from advisor.report.progress_bar import ProgressBar

    with ProgressBar(language_of(arguments.lang)) as bar:
        profile = open_profile(path, **ways_to_read(arguments, bar))
        warn_of_chip(profile, arguments)
        return diagnose_if_needed(profile, catalog_of(arguments.rules, settings), bar), profile
