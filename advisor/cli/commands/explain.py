# SPDX-License-Identifier: Apache-2.0
"""`advisor explain`: why a rule spoke, or did not: what it read, measured and held it against."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import (
    language_option,
    named_path,
    output_options,
    positive_number,
    reading_options,
    rule_options,
)
from advisor.cli.exit_codes import FINE
from advisor.cli.inputs import diagnose_capture, is_saved, saved_diagnosis
from advisor.cli.outputs import write_and_show
from advisor.cli.settings_in_force import catalog_of, language_of, settings_of
from advisor.report.output_formats import DOCUMENT_WRITERS, Told

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from advisor.cli.slips import Parser
    from advisor.facts.profile import Profile
    from advisor.model.explanation import Explanation
    from advisor.model.findings import Diagnosis
    from advisor.policy.settings import Settings
    from advisor.report.writers import Output
    from advisor.rules.catalog import Catalog


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "rule",
        nargs="?",
        default="",
        help=one.say(
            "for example host/free-time, or the number that the report gives a finding of the capture; not needed with "
            "--finding",
            "如 host/free-time，或报告中该问题的编号（需同时给出采集数据）；已给出 --finding 时可省略",
        ),
    )
    one.add_argument(
        "profile",
        nargs="?",
        type=named_path,
        help=one.say(
            "a capture, to see what the rule said of it and why", "采集数据，用来查看该规则得出什么结论、为什么"
        ),
    )
    one.add_argument(
        "--in",
        dest="report",
        type=named_path,
        metavar="FILE",
        help=one.say("a saved .json instead of a capture", "用保存的 .json 代替采集数据"),
    )
    one.add_argument(
        "--finding",
        default="",
        metavar="ID",
        help=one.say("one finding: its fingerprint, or the first characters of it", "某一条问题：其指纹或指纹开头几位"),
    )
    one.add_argument(
        "--rows",
        type=positive_number,
        default=10,
        metavar="N",
        help=one.say("rows of the capture to show (default: 10)", "显示采集数据的行数（默认 10）"),
    )
    output_options(one, DOCUMENT_WRITERS, example="json:-")
    language_option(one)
    rule_options(one)
    reading_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Finds out what is meant, explains, writes."""
    from advisor.report.writers import check_outputs

    settings = settings_of(arguments)
    catalog = catalog_of(arguments.rules, settings)
    source = _source_path(arguments, catalog)
    outputs = check_outputs(arguments.output, *([source] if source else []), writers=DOCUMENT_WRITERS)
    explanation = _explain_source(arguments, source, catalog, settings, outputs)
    _hand_out(explanation, arguments, outputs)
    return FINE


def _source_path(arguments: argparse.Namespace, catalog: Catalog) -> Path | None:
    """The capture or report that was given; a single word that is no rule but lies there names it too."""
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    alone = arguments.profile is None and arguments.report is None
    if alone and arguments.rule and arguments.rule not in catalog.by_id and os.path.exists(arguments.rule):
        arguments.rule, arguments.profile = "", Path(arguments.rule)
    if arguments.profile is not None and arguments.report is not None:
        raise UsageError(Message("capture_and_report"), Message("give_one_of_two"))
    source: Path | None = arguments.profile or arguments.report
    return source


def _explain_source(
    arguments: argparse.Namespace,
    source: Path | None,
    catalog: Catalog,
    settings: Settings | None,
    outputs: Sequence[Output],
) -> Explanation:
    from advisor.explanation.subject import find_rule_and_finding
    from advisor.pipeline import explain
    from advisor.report.writers import outside_captures

    if source is None and not arguments.finding:
        find_rule_and_finding(
            arguments.rule, "", None, _catalog_for_rule(arguments, catalog)
        )  # before anything is read
    diagnosis, profile = _open_source(arguments, source, settings)
    if source is not None and diagnosis is not None:
        outside_captures(outputs, source, diagnosis.run.capture_paths)
    return explain(
        arguments.rule,
        arguments.finding,
        diagnosis,
        _catalog_for_rule(arguments, catalog),
        profile=profile,
        settings=settings,
        rows=arguments.rows,
        in_force=None if settings is None else catalog,
    )


def _catalog_for_rule(arguments: argparse.Namespace, catalog: Catalog) -> Catalog:
    """The rules in force, and where the one asked for is not among them, those that the settings switch off too."""
    if not arguments.rule or arguments.rule in catalog.by_id:
        return catalog
    return catalog_of(arguments.rules, None)


def _open_source(
    arguments: argparse.Namespace, source: Path | None, settings: Settings | None
) -> tuple[Diagnosis | None, Profile | None]:
    if source is None:
        return None, None
    if arguments.report is not None or is_saved(source):
        return saved_diagnosis(source), None
    return diagnose_capture(source, arguments, settings)


def _hand_out(explanation: Explanation, arguments: argparse.Namespace, outputs: Sequence[Output]) -> None:
    from advisor.report.explanation.document import MOST_CASES, explanation_document

    language = language_of(arguments.lang)
    told = Told(explanation_document(explanation, language), explanation.to_json)
    briefly = partial(explanation_document, explanation, language, MOST_CASES)
    write_and_show(told, briefly, arguments, outputs, inset=2)
