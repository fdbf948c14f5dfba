# SPDX-License-Identifier: Apache-2.0
"""Each format and each language, in turn."""

from __future__ import annotations

import pytest

from tests.report.formats.formats_samples import FORMATS


@pytest.fixture(params=FORMATS)
def format_name(request: pytest.FixtureRequest) -> str:
    """The name of each format in turn."""
    return str(request.param)


@pytest.fixture(params=("en", "zh"))
def language(request: pytest.FixtureRequest) -> str:
    """Each language in turn."""
    return str(request.param)
