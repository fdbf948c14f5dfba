# SPDX-License-Identifier: Apache-2.0
"""Every shape of diagnosis and every language, in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest
from compared_samples import COMPARED
from report_samples import SHAPES

from advisor.messages.text import LANGUAGES
from advisor.model.findings import Diagnosis
from advisor.report.charts.draw import Renderer
from advisor.report.charts.specs import exhibit_charts
from advisor.report.comparison.account import account_entries
from advisor.report.comparison.figures import comparison_charts
from tests.charts_of_tests import KeptCharts
from tests.shared_captures import SharedCaptures


@pytest.fixture(params=sorted(SHAPES))
def diagnosis(request: pytest.FixtureRequest) -> Diagnosis:
    """Each shape in turn."""
    return SHAPES[request.param]


@pytest.fixture(params=("en", "zh"))
def language(request: pytest.FixtureRequest) -> str:
    """Each language in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def renderer(shared: SharedCaptures) -> Iterator[Renderer]:
    """One for all tests of this run: what is drawn once is not drawn again.

    The samples are drawn together: to wake up takes the drawing process far longer than to draw.
    """
    with KeptCharts(shared.charts, start=False) as one:
        shared.make_once("charts of samples", lambda: one.render(_sample_charts()))
        yield one


def _sample_charts() -> Mapping[str, object]:
    found = [
        chart
        for language in LANGUAGES
        for charts in (
            *(exhibit_charts(shape.exhibits, language) for shape in SHAPES.values()),
            *(comparison_charts(shape, account_entries(shape, language), language) for shape in COMPARED.values()),
        )
        for chart in charts
    ]
    return {json.dumps(chart.spec, sort_keys=True): chart.spec for chart in found}
