# SPDX-License-Identifier: Apache-2.0
"""Cluster summaries: recognised by their files, opened where there is no capture, asked where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from advisor.facts.rank_facts import Source
from advisor.messages.errors import InputError, hint_beside
from advisor.messages.message import Message
from advisor.model.run import Run
from advisor.sources.cluster.summary import CLUSTER_DATABASE, CLUSTER_FILES, ClusterSummary
from advisor.sources.family import Candidate, Input, Job
from advisor.sources.listing import Listing, show_name, show_relative
from advisor.sources.shared.ascend_names import OUTPUT, is_output

NAME = "cluster summary"


def is_cluster(files: Iterable[str]) -> bool:
    """Whether these are the files of a cluster summary; the groups alone say too little."""
    return any(name in CLUSTER_FILES[:3] or name == CLUSTER_DATABASE for name in files)


def is_part(name: str) -> bool:
    """Whether a file of this name belongs to a summary."""
    return name in CLUSTER_FILES or name == CLUSTER_DATABASE


def detect(listing: Listing) -> Iterator[Candidate]:
    """The summary in a folder, or that to which the one given file belongs."""
    files = [listing.asked] if listing.asked else listing.files
    if is_cluster(files) and not is_output(files) and (listing.asked or listing.folder.name != OUTPUT):
        yield Candidate(listing.folder, kind="summary")


def tell_job(candidate: Candidate) -> Job:
    """Ranks, groups and stages of the whole job, for captures beside the summary."""
    summary = ClusterSummary(candidate.root)
    return Job(summary.ranks, summary.groups, summary.stages)


def open_summary(candidates: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """The run of a cluster summary alone, and the one source of all its ranks.

    Raises:
        InputError: It names no rank, or holds no measurement.
    """
    folder, path = candidates[0].root, given.path
    summary = ClusterSummary(folder, show_relative(folder, path) if path.is_dir() else "", given.aside)
    if not summary.measures or not summary.ranks:
        raise _empty_summary_error(path, summary)
    return summary.run(show_name(path.resolve().name)), [summary]


def _empty_summary_error(path: Path, summary: ClusterSummary) -> InputError:
    """About a summary of which nothing can be used, with the damage that was met in it."""
    nothing = Message("nothing_measured", name=show_name(path))
    if not summary.ranks:
        nothing = Message("summary_without_rank", path=show_name(path))
    notes = summary.notes.all()
    if notes:
        nothing = Message("nothing_and_damage", what=nothing, file=notes[0].file, damage=notes[0].what)
    return InputError(nothing, hint_beside(nothing, Message("run_cluster_again")))
