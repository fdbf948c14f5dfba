# SPDX-License-Identifier: Apache-2.0
"""What lies at a path: sources, ranks, files, tables, the rules they enable, and one way to record the rest."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.engine.hit import RuleResult
from advisor.facts.observed import OBSERVED
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import Source
from advisor.inspection.alike import SourceOfRank, alike_ranks, describe_group, ranks_to_read
from advisor.inspection.input_files import files_of_sources, first_files, parts_found
from advisor.inspection.recording import advice_beside, merged_recording, recording_anew
from advisor.inspection.tables import TableOutline, inspected_facts
from advisor.messages.errors import InputError
from advisor.messages.text import Text
from advisor.model.findings import Outcome
from advisor.model.inspection import InputRefusal, Inspection
from advisor.model.run import Run
from advisor.model.unread import Unread
from advisor.release import VERSION
from advisor.rules.bind import Rule
from advisor.sources.listing import show_name
from advisor.sources.unpacking import UnpackedInput

__all__ = ["OUTLINES", "Ranks", "inspect_run", "inspect_what_is_refused"]

OUTLINES = tuple(TableOutline(fact) for fact in OBSERVED)
"""What is wanted of each rank that is read, beside what rules want."""


class Ranks:
    """The ranks of an input in groups of those that are alike, and which of each group are read."""

    def __init__(self, run: Run, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.groups: list[list[SourceOfRank]] = alike_ranks(run, sources)
        self.chosen = ranks_to_read(self.groups)

    @property
    def to_read(self) -> list[Source]:
        """What is read, each once, in order of rank."""
        ordered = sorted((one for group in self.chosen for one in group), key=lambda one: one.capture.rank)
        return list({id(one.source): one.source for one in ordered}.values())


def inspect_run(
    unpacked: UnpackedInput,
    ranks: Ranks,
    profile: Profile,
    *,
    run: Run,
    rules: Sequence[Rule],
    results: Sequence[RuleResult],
    outcomes: Sequence[Outcome],
    unread: tuple[Unread, ...],
) -> Inspection:
    """What is known of an input that can be read: `results` are those of the rules, `outcomes` what counts of them."""
    files = files_of_sources(unpacked.path, ranks.sources)
    lacking = [
        result for result, outcome in zip(results, outcomes, strict=True) if outcome.outcome not in ("fired", "quiet")
    ]
    concerned = {one.rule for one in outcomes if one.outcome != "not applicable"}
    blind = concerned - {one.rule for one in outcomes if one.outcome in ("fired", "quiet")}
    facts = inspected_facts(profile, run, [rule for rule in rules if rule.id in concerned], blind)
    return Inspection(
        version=VERSION,
        name=run.name,
        found=parts_found(unpacked.path, unpacked.parts),
        run=run,
        ranks=tuple(describe_group(group, read, files) for group, read in zip(ranks.groups, ranks.chosen, strict=True)),
        facts=facts,
        outcomes=tuple(outcomes),
        recording=merged_recording(run, lacking, {one.table for one in facts if one.rows}),
        advice=advice_beside(lacking),
        unread=unread,
    )


def inspect_what_is_refused(unpacked: UnpackedInput, refused: InputError) -> Inspection:
    """What is known of an input of which nothing can be diagnosed."""
    path, found = unpacked.input_path, parts_found(unpacked.path, unpacked.parts)
    hint = refused.hint
    return Inspection(
        version=VERSION,
        name=show_name(path.resolve().name),
        found=found,
        files=first_files(unpacked.path if unpacked.path.is_dir() else path),
        refusal=InputRefusal(
            what=Text(refused.what.en, refused.what.zh), do=Text(hint.en, hint.zh) if hint is not None else None
        ),
        recording=recording_anew(found),
    )
