# SPDX-License-Identifier: Apache-2.0
"""Every shape of diagnosis and every language, in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from report_samples import SHAPES

from advisor.model.findings import Diagnosis
from advisor.report.charts.draw import Renderer


@pytest.fixture(params=sorted(SHAPES))
def diagnosis(request: pytest.FixtureRequest) -> Diagnosis:
    """Each shape in turn."""
    return SHAPES[request.param]


@pytest.fixture(params=("en", "zh"))
def language(request: pytest.FixtureRequest) -> str:
    """Each language in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def renderer() -> Iterator[Renderer]:
    """One for all tests: what is drawn once is not drawn again."""
    with Renderer(start=False) as one:
        yield one
