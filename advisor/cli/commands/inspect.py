# SPDX-License-Identifier: Apache-2.0
"""`advisor inspect`: what was captured, which rules that enables, and one configuration that records the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, output_options, reading_options, rule_options
from advisor.cli.exit_codes import FINE, UNREADABLE
from advisor.cli.inputs import refuse_saved
from advisor.cli.outputs import write_and_show
from advisor.cli.settings_in_force import catalog_of, language_of, settings_of
from advisor.cli.several_captures import captures_argument
from advisor.report.output_formats import DOCUMENT_WRITERS, Told

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser


def words(one: Parser) -> None:
    """What the command understands."""
    captures_argument(
        one,
        one.say(
            "a folder or file: captures, parts of them, or anything else",
            "目录或文件：采集数据、其中一部分，或任何其他内容",
        ),
    )
    output_options(one, DOCUMENT_WRITERS, example="json:-")
    language_option(one)
    rule_options(one)
    reading_options(one, on_cluster=False)


def run(arguments: argparse.Namespace) -> int:
    """Looks, says what was found; ends with 3 where nothing of it can be diagnosed."""
    from advisor.pipeline import inspect
    from advisor.report.inspection.document import inspection_document, inspection_summary
    from advisor.report.progress_bar import ProgressBar
    from advisor.report.writers import check_outputs, outside_captures

    refuse_saved(arguments.path, arguments.parts)
    outputs = check_outputs(arguments.output, arguments.path, writers=DOCUMENT_WRITERS)
    settings = settings_of(arguments)
    language = language_of(arguments.lang)
    with ProgressBar(language) as bar:
        catalog = catalog_of(arguments.rules, settings)
        words = {"chip": arguments.chip, "job": arguments.job, "cache": arguments.cache, "parts": arguments.parts}
        found = inspect(arguments.path, catalog, jobs=arguments.jobs, progress=bar, **words)
    outside_captures(outputs, arguments.path, tuple(one.path for one in found.found))
    told = Told(inspection_document(found, language), found.to_json)
    write_and_show(told, lambda: inspection_summary(found, language), arguments, outputs)
    return FINE if found.run is not None else UNREADABLE
