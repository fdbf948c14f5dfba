# SPDX-License-Identifier: Apache-2.0
"""`advisor check`: whether a profile may pass, by the policy of a project and against a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import (
    SETTINGS_FILE,
    judged_options,
    language_option,
    output_options,
    policy_options,
    reading_options,
    source_options,
)
from advisor.cli.exit_codes import FINE, FOUND, UNREADABLE
from advisor.cli.inputs import given_diagnosis, is_saved, warn_of_rules
from advisor.cli.outputs import chart_renderer, show_document, write_all
from advisor.cli.settings_in_force import catalog_of, language_of, settings_of
from advisor.report.output_formats import VERDICT, WRITERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from advisor.cli.slips import Parser
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis
    from advisor.model.verdict import Verdict
    from advisor.policy.policy import FailCondition
    from advisor.policy.settings import Settings
    from advisor.report.blocks import Document
    from advisor.report.writers import Output


_WRITERS = (VERDICT, *WRITERS)


def words(one: Parser) -> None:
    """What the command understands."""
    judged_options(one)
    one.add_argument(
        "--fail-on",
        metavar="WHAT",
        help=one.say(
            "exit with 1 on findings from this severity on: high; new:high (new or worse than in the baseline); "
            "worse:high; several with commas; none (default: new:high with a baseline, else high)",
            "问题达到该严重程度时以 1 退出：high；new:high（比基线新增或变差）；worse:high；"
            "多个用逗号分隔；none 表示不因问题退出（默认：有基线时 new:high，否则 high）",
        ),
    )
    policy_options(one)
    output_options(one, _WRITERS)
    source_options(one)
    language_option(one)
    reading_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Reads, judges, writes."""
    asked = arguments.fail_on
    with chart_renderer(arguments.output) as charts:
        from advisor.report.writers import check_outputs

        inputs = (arguments.path, *([arguments.baseline] if arguments.baseline else []))
        outputs = check_outputs(arguments.output, *inputs, writers=_WRITERS)
        settings = settings_of(arguments)
        fail_on = _fail_on(asked, settings, arguments.baseline)
        if settings is not None and all(map(is_saved, inputs)):
            catalog_of(arguments.rules, settings)  # for names that do not exist: nothing else would look for them
        diagnosis, comparison = _read_and_compare(arguments, settings, outputs)
        warn_of_rules(arguments)
        from advisor.pipeline import verdict_by_settings

        verdict = verdict_by_settings(diagnosis, comparison, settings, fail_on)
        written = write_all(diagnosis, arguments, outputs, charts, comparison=comparison, verdict=verdict)
    if not arguments.quiet:
        show_document(_verdict_document(diagnosis, comparison, verdict, arguments), outputs, written)
    return FINE if verdict.passed else UNREADABLE if verdict.blind else FOUND


def _fail_on(asked: str | None, settings: Settings | None, baseline: Path | None) -> Sequence[FailCondition]:
    """What the command line says, else the settings, else what fits.

    Raises:
        UsageError: It is no severity, or asks for what changed without a baseline.
    """
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message
    from advisor.pipeline import bars_in_force
    from advisor.policy.gate import check_bars
    from advisor.policy.policy import bar_meant, parse_bars

    try:
        said = parse_bars(asked.split(",")) if asked is not None else None
    except ValueError as error:
        raise UsageError(
            Message("fail_on_option", given=str(error)),
            bar_meant(str(error)) or Message("fail_on_words"),
        ) from None
    found = bars_in_force(said, settings, compared=baseline is not None)
    check_bars(found, compared=baseline is not None)
    return found


def _read_and_compare(
    arguments: argparse.Namespace, settings: Settings | None, outputs: Sequence[Output]
) -> tuple[Diagnosis, Comparison | None]:
    """The diagnosis, and what changed since the baseline."""
    if arguments.baseline is None:
        return _read_diagnosis(arguments.path, arguments, settings, outputs), None
    from advisor.pipeline import compare

    before = _read_diagnosis(
        arguments.baseline, arguments, settings, outputs
    )  # first: it is usually small, and may be missing
    diagnosis = _read_diagnosis(arguments.path, arguments, settings, outputs)
    return diagnosis, compare(before, diagnosis, settings)


def _read_diagnosis(
    path: Path, arguments: argparse.Namespace, settings: Settings | None, outputs: Sequence[Output]
) -> Diagnosis:
    from advisor.report.writers import outside_captures

    diagnosis = given_diagnosis(path, arguments, settings)
    if not is_saved(path):
        outside_captures(outputs, path, diagnosis.run.capture_paths)
    return diagnosis


def _verdict_document(
    diagnosis: Diagnosis, comparison: Comparison | None, verdict: Verdict, arguments: argparse.Namespace
) -> Document:
    from advisor.pipeline import utc_today
    from advisor.report.verdict.document import Judged, verdict_document

    judged = Judged(
        diagnosis=diagnosis,
        comparison=comparison,
        verdict=verdict,
        settings=str(arguments.config or SETTINGS_FILE),
        today=utc_today(),
    )
    return verdict_document(judged, language_of(arguments.lang))
