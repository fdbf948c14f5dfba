# SPDX-License-Identifier: Apache-2.0
"""Signs of a single recorded step: what comes before its first device work is in none of its times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from corpus.cases import setup_of
from corpus.events import Layout
from corpus.signs import Sign, Write
from corpus.signs.captures import about, write_setup
from corpus.transformer import Transformer
from corpus.troubles import Troubles


def _after_fetch(stall_us: float) -> Write:
    """A step of one rank whose batch comes so much later than it usually does."""

    def written(folder: Path) -> None:
        model = Transformer(
            layers=4, steps=1, vocabulary=1024, trimmings=True, troubles=Troubles(loader_stall_us={-1: stall_us})
        )
        write_setup(folder, replace(setup_of("healthy"), layout=Layout(), workload=model))

    return written


SIGNS: Mapping[str, Sign] = {
    "io/first-batch": Sign(  # in the twin the batch comes as it usually does
        spoiled=_after_fetch(8_000),
        twin=_after_fetch(1_000),
        shows={"fetching": about(8_120, 0.05), "before": about(8_120, 0.05)},
    ),
}
