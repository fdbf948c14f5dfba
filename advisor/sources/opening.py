# SPDX-License-Identifier: Apache-2.0
"""From a path to a run and its sources: what lies there is found, and opened by the family it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from advisor.facts.rank_facts import Source
from advisor.model.progress import Progress, silent
from advisor.model.run import InputNote, Run
from advisor.sources import unsupported
from advisor.sources.detect import captures_without_results, closed_rank_folders, find_candidates
from advisor.sources.families import FAMILIES
from advisor.sources.family import Candidate, Family, Input, Inventory, Job
from advisor.sources.listing import TooManyNames, show_name, show_relative
from advisor.sources.unpacking import UnpackedInput

_MOST_NAMES = 20


def check_reachable(path: Path, families: Sequence[Family] = FAMILIES) -> None:
    """Refuse what is neither a folder nor a file that can be looked at.

    Raises:
        InputError: It is neither.
    """
    unsupported.check_reachable(path, families)


def open_unpacked(
    unpacked: UnpackedInput, jobs: int | None = None, progress: Progress = silent, families: Sequence[Family] = FAMILIES
) -> tuple[Run, list[Source]]:
    """The same of what may be packed; its sources can be read as long as `unpacked` is there.

    Raises:
        InputError: Nothing there can be read; the message says what was found and what to do.
    """
    for path in (unpacked.input_path, *(unpacked.input_path / part for part in unpacked.parts)):
        check_reachable(path, families)
    if unpacked.path.is_file():
        unpacked.unpack_file(families)
    with unpacked.errors_by_given_names():
        found = _list_input(unpacked.path, families, unpacked.parts)
        while packed := unpacked.left_to_unpack(found.packed):
            unpacked.unpack_beside(packed)
            found = _list_input(unpacked.path, families, unpacked.parts)
        found.aside[:0] = unpacked.aside
        run, sources = _open_found(unpacked.path, found, jobs, progress, families)
    if unpacked.packed:
        run = run.model_copy(update={"name": show_name(unpacked.input_path.resolve().name)})
    return run, sources


def _list_input(path: Path, families: Sequence[Family], parts: Sequence[Path] = ()) -> Inventory:
    try:
        return find_candidates(path, families, parts)
    except TooManyNames:
        raise unsupported.too_many_names_error(path) from None


def open_input(
    path: Path,
    jobs: int | None = None,
    progress: Progress = silent,
    families: Sequence[Family] = FAMILIES,
) -> tuple[Run, list[Source]]:
    """What lies at a path: the run, and one source per rank, or the one of a summary of the whole job.

    `jobs` is how many processes may decode the timeline of a single capture; as many as there are cores by default.

    Raises:
        InputError: Nothing there can be read; the message says what was found and what to do.
    """
    check_reachable(path, families)
    return _open_found(path, _list_input(path, families), jobs, progress, families)


def _open_found(
    path: Path, found: Inventory, jobs: int | None, progress: Progress, families: Sequence[Family]
) -> tuple[Run, list[Source]]:
    captures = _captures_of_families(found, families)
    if len(captures) > 1:
        raise unsupported.mixed_profilers_error(path, captures)
    summary = next(((family, one) for family in families for one in found.of(family.name, "summary")), None)
    closed = closed_rank_folders(path, families, found)
    aside = (*found.aside, *closed, *captures_without_results(path, families, found))
    for family, candidates in captures:
        job = summary[0].job(summary[1]) if summary else Job()
        given = Input(path, job, jobs, progress, aside)
        run, sources = family.open(_in_order(candidates), given)
        notes = (*run.notes, *_notes_on_rest(path, found, len(closed), with_summary=summary is not None))
        return run.model_copy(update={"notes": notes}), sources
    if summary:
        return summary[0].open([summary[1]], Input(path, jobs=jobs, progress=progress, aside=aside))
    raise unsupported.no_capture_error(path, found, families)


def _captures_of_families(found: Inventory, families: Sequence[Family]) -> Sequence[tuple[Family, Sequence[Candidate]]]:
    """The captures of each family that has any; of several only those that may be of a device, where one has such."""
    captures = [(family, some) for family in families if (some := found.of(family.name, "capture"))]
    if len(captures) < 2:  # noqa: PLR2004
        return captures
    of_device = [(family, [one for one in some if family.of_device(one)]) for family, some in captures]
    return [(family, some) for family, some in of_device if some] or captures


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda one: one.root)


def _notes_on_rest(path: Path, found: Inventory, told: int, *, with_summary: bool) -> tuple[InputNote, ...]:
    """What else lies there; so many of the closed folders are told as damage."""
    unparsed, unreadable = found.every("unparsed"), len(found.unreadable) - told
    names, inner = (
        tuple(filter(None, (show_relative(one.root, path) for one in some[:_MOST_NAMES])))
        for some in (unparsed, found.every("inner"))
    )
    return (
        *([InputNote(about="unparsed_captures", count=len(unparsed))] if unparsed else []),
        *([InputNote(about="unparsed_names", names=names)] if names else []),
        *([InputNote(about="inner_captures", names=inner)] if inner else []),
        *([InputNote(about="unreadable_folders", count=unreadable)] if unreadable else []),
        *([InputNote(about="cluster_summary")] if with_summary else []),
    )
