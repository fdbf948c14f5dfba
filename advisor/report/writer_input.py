# SPDX-License-Identifier: Apache-2.0
"""What writers are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis
    from advisor.model.verdict import Verdict
    from advisor.report.blocks import Document
    from advisor.report.charts.draw import Renderer
    from advisor.report.sources import Location


class Reported(NamedTuple):
    """What is written out: a diagnosis, and what else is known of it."""

    diagnosis: Diagnosis
    language: Language
    comparison: Comparison | None = None
    """Against the baseline, where there is one; its `after` is the diagnosis."""
    verdict: Verdict | None = None
    locations: Mapping[str, Location] = {}
    """By fingerprint: where in the source code a finding belongs."""
    renderer: Renderer | None = None


class Told(NamedTuple):
    """What is written out of all that is one document and has a form for programs."""

    document: Document
    to_json: Callable[[], str]
