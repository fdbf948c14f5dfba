# SPDX-License-Identifier: Apache-2.0
"""Answers the questions in SQL of pages, from the capture that lies in the repository.

Usage: python -m benchmarks.questions           (wants duckdb; rewrites docs/facts.md and docs/patterns.md)
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from advisor.pipeline import open_profile, write_facts

TOP = Path(__file__).resolve().parent.parent
PAGES = tuple(TOP / "docs" / name for name in ("facts.md", "patterns.md"))
CAPTURE = TOP / "corpus" / "host-bound-2-ranks"
_QUESTION = re.compile(r"(```sql\n(.+?)```\n\n)(.+?)(?=\n\n)", re.DOTALL)


def with_answers(page: str, facts: Path) -> str:
    """The page with what DuckDB answers behind each question, as a table."""
    import duckdb

    views = (facts / "views.sql").read_text("utf-8").replace("read_parquet('", f"read_parquet('{facts}/")
    with duckdb.connect() as database:
        database.execute(views)

        def answer(found: re.Match[str]) -> str:
            asked = database.execute(found[2])
            return found[1] + _as_table([one[0] for one in asked.description or ()], asked.fetchall())

        return _QUESTION.sub(answer, page)


def _as_table(names: list[str], rows: list[tuple[object, ...]]) -> str:
    lines = [names, ["---"] * len(names), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: object) -> str:
    return "" if value is None else f"`{value}`" if isinstance(value, str) else str(value)


def main() -> None:
    """Rewrites the pages."""
    with tempfile.TemporaryDirectory() as folder:
        facts = Path(folder) / "facts"
        write_facts(open_profile(CAPTURE), facts)
        for page in PAGES:
            page.write_text(with_answers(page.read_text("utf-8"), facts), "utf-8")


if __name__ == "__main__":
    main()
