# SPDX-License-Identifier: Apache-2.0
"""advisor: reads an Ascend NPU profile and says what to fix first, what it will win, and how, with evidence.

```python
import advisor

diagnosis = advisor.diagnose("./prof")
for finding in diagnosis.findings:
    print(finding.rule, finding.saving.us)
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from advisor.errors import AdvisorError as AdvisorError
    from advisor.facts.profile import Profile
    from advisor.findings import Diagnosis as Diagnosis
    from advisor.findings import Finding as Finding
    from advisor.rules.catalog import Catalog

__version__ = "0.1.0"
__all__ = ["AdvisorError", "Diagnosis", "Finding", "__version__", "diagnose", "load_profile", "load_rules"]


def diagnose(path: str | os.PathLike[str], rules: Iterable[str | os.PathLike[str]] = ()) -> Diagnosis:
    """What is wrong with the profile at this path, ranked by what can be won.

    `rules` are folders with rules of your own, held against the profile beside the shipped ones.

    Raises:
        InputError: Nothing at the path can be read.
        RuleError: A rule of your own is wrong; the message lists every mistake.
    """
    from advisor.diagnosis import diagnose as run_rules

    return run_rules(load_profile(path), load_rules(rules))


def load_profile(path: str | os.PathLike[str]) -> Profile:
    """The profile at this path: `load_profile(p).table(Kernel).to_pandas()` gives its kernels.

    Raises:
        InputError: Nothing at the path can be read.
    """
    from pathlib import Path

    from advisor.diagnosis import open_profile

    return open_profile(Path(path))


def load_rules(rules: Iterable[str | os.PathLike[str]] = ()) -> Catalog:
    """The shipped rules, and those in these folders.

    Raises:
        RuleError: Something in them is wrong; the message lists every mistake.
    """
    from pathlib import Path

    from advisor.rules.catalog import Catalog
    from advisor.shipped import shipped

    return Catalog.load([shipped("rules"), *map(Path, rules)])


def __getattr__(name: str) -> object:
    """Imports the public classes when first asked for: they cost more than `advisor --version` may take."""
    homes = {"AdvisorError": "advisor.errors", "Diagnosis": "advisor.findings", "Finding": "advisor.findings"}
    if name not in homes:
        raise AttributeError(f"module 'advisor' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(homes[name]), name)
