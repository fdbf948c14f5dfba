# SPDX-License-Identifier: Apache-2.0
"""What each rule was held against, from files on: `docs/proofs.md`.

    python -m benchmarks.proofs --output docs/proofs.md

A fault that several rules may name proves none of them: it is enough that one does.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from advisor import load_rules
from benchmarks.injected.faults import all_faults
from corpus.answers import ANSWERS
from corpus.signs import all_signs

Proofs = Mapping[str, tuple[list[str], list[str], bool]]
"""By rule: the faults of generated jobs and in recorded captures that it alone names, and whether it has a sign."""


BY_LOSS = frozenset({"capture/rank-set-aside"})
"""No file shows it: workers are killed for it, in `tests/rank_work`."""


def proofs() -> Proofs:
    """What is known of each shipped rule."""
    signs = all_signs().keys() | BY_LOSS
    generated = _named_by_one(ANSWERS.items())
    recorded = _named_by_one((name, fault.named_by) for name, fault in all_faults().items())
    return {rule.id: (generated[rule.id], recorded[rule.id], rule.id in signs) for rule in load_rules().rules}


def _named_by_one(answers: Iterable[tuple[str, frozenset[str]]]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for fault, rules in answers:
        if len(rules) == 1:
            found[min(rules)].append(fault)
    return found


def unproved(known: Proofs) -> list[str]:
    """The rules without any."""
    return sorted(rule for rule, (generated, recorded, sign) in known.items() if not (generated or recorded or sign))


def page(known: Proofs) -> str:
    """The page, without what changes from run to run."""
    held = len(known) - len(unproved(known))
    rows = (
        f"| [`{rule}`](rules/{rule}.md) | {', '.join(generated)} | {', '.join(recorded)} | {'yes' if sign else ''} |"
        for rule, (generated, recorded, sign) in sorted(known.items())
    )
    return f"""# What each rule was held against

The cases beside a rule try it on tables. Here stands what tries it from files on: what the profiler writes is read,
derived from and judged.

Written by `python -m benchmarks.proofs`: {held} of {len(known)} rules.

- *Generated*: faults of [generated jobs](corpus.md) that this rule alone may name. [Accuracy](accuracy.md) says how
  often it does, at which strengths, and what it promises to win.
- *Recorded*: faults put into captures of real devices that this rule alone may name, and the same faults at a strength
  at which it is to be quiet: [accuracy on real captures](accuracy-real.md).
- *Sign*: a small capture into whose files the cause is written as the profiler writes it, and a twin that is nearly the
  same and harmless, which the rule looks at and is quiet about (`corpus/signs`). Ranks are set aside where workers are
  lost, which no file shows: workers are killed for that (`tests/rank_work`).

| rule | generated | recorded | sign |
|---|---|---|---|
{chr(10).join(rows)}
"""


def main() -> None:
    """Prints the page, or writes it."""
    parser = argparse.ArgumentParser(description="Lists what each rule was held against")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    output = parser.parse_args().output
    written = page(proofs())
    print(written) if output is None else output.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
