# SPDX-License-Identifier: Apache-2.0
"""Tries parsers with inputs that grow towards lines not yet run: `python -m benchmarks.fuzz.guided shapes`.

The parsers of our own that take any text, where a mutation of whole captures rarely reaches a new line: shapes,
expressions of rules, arguments of attention, moments, JSON, and objects saved from a damaged timeline. Needs atheris
(`pip install atheris`), which is no dependency of the project. Ends with an error at the first input that raises what
the parser does not announce; libFuzzer then keeps that input as a file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["advisor"]):
    from advisor.analysis.arrays.tensors import parse_tensors, size_of_all
    from advisor.expr.compile import compile_for_columns
    from advisor.facts.observed import Kernel
    from advisor.messages.errors import ExprError
    from advisor.sources.files import chunks
    from advisor.sources.files.cells import exact_ns
    from advisor.sources.files.jsonfile import parse_json
    from advisor.sources.shared.attention_words import _read_mark


def _try_shapes(raw: bytes) -> None:
    shapes, _, rest = raw.decode("utf-8", "surrogateescape").partition("|")
    dtypes, _, formats = rest.partition("|")
    size_of_all(parse_tensors(shapes, dtypes, formats))


def _try_expression(raw: bytes) -> None:
    with suppress(ExprError):
        compile_for_columns(raw.decode("utf-8", "replace"), Kernel)


def _try_arguments(raw: bytes) -> None:
    _read_mark(raw.decode("utf-8", "replace"))


def _try_moment(raw: bytes) -> None:
    exact_ns(raw.decode("latin-1"))


def _try_json(raw: bytes) -> None:
    with suppress(ValueError):
        parse_json(raw)


def _read_or_none(raw: bytes) -> object:
    with suppress(ValueError):
        return parse_json(raw)
    return None


def _try_timeline(raw: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(raw)
        with suppress(chunks.NoEvents):
            layout = chunks.find_array(file, "traceEvents")
            for span in chunks.cut_spans(file, layout, 64):
                chunks.salvage_objects(chunks.read_span(file, span), span, layout, _read_or_none)


PARSERS: dict[str, tuple[Callable[[bytes], None], tuple[str, ...]]] = {
    "shapes": (_try_shapes, ("16,1024;1024,4096|DT_BF16;FLOAT|ND;FRACTAL_NZ", ";;3|")),
    "expression": (_try_expression, ("sum(duration_us, where=op_type == 'Cast') / 3 if blocks > 2 else -1",)),
    "arguments": (_try_arguments, ('{"input_layout": "TND", "sparse_mode": 3, "actual_seq_qlen": [3, 7]}',)),
    "moment": (_try_moment, ("1736412474003259.550", "1e3")),
    "json": (_try_json, ('{"a": [1, 2.5, null, "\\ud800"]}',)),
    "timeline": (_try_timeline, ('{"traceEvents": [{"ts": 1, "args": {"a": "]"}}, {"ts": 2}], "b": 1}', '[{"ts": 1}')),
}
"""By name: what is tried, and texts to begin with."""


def main() -> None:
    """Try one parser for some time."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz.guided", description=__doc__)
    parser.add_argument("parser", choices=PARSERS)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    tried, texts = PARSERS[options.parser]
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            (Path(folder) / str(number)).write_text(text, "utf-8", "surrogatepass")
        limits = [f"-max_total_time={options.seconds}", "-max_len=4096", "-timeout=10", "-rss_limit_mb=1024"]
        atheris.Setup([sys.argv[0], *limits, folder], tried)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
