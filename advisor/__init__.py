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

from advisor.release import VERSION

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path
    from typing import TypedDict

    import pandas as pd

    from advisor.chips.known_chips import ToldChip
    from advisor.comparison.verification import Verification as Verification
    from advisor.comparison.verification import Verifications as Verifications
    from advisor.fact_store.cache_folder import CacheFolder
    from advisor.facts.profile import Profile
    from advisor.messages.errors import AdvisorError as AdvisorError
    from advisor.messages.message import Message
    from advisor.model.comparison import Comparison as Comparison
    from advisor.model.explanation import Explanation as Explanation
    from advisor.model.findings import Diagnosis as Diagnosis
    from advisor.model.findings import Finding as Finding
    from advisor.model.inspection import Inspection as Inspection
    from advisor.model.job import JobKind
    from advisor.model.progress import Progress
    from advisor.policy.settings import Settings
    from advisor.rules.catalog import Catalog

    AnyPath = str | os.PathLike[str]

    class _Told(TypedDict):
        chip: ToldChip
        job: JobKind
        cache: CacheFolder | None


__version__ = VERSION
__all__ = [
    "AdvisorError",
    "Comparison",
    "Diagnosis",
    "Explanation",
    "Finding",
    "Inspection",
    "__version__",
    "compare",
    "diagnose",
    "explain",
    "inspect",
    "load_diagnosis",
    "load_profile",
    "load_rules",
    "stats",
    "verify",
]


def diagnose(
    path: AnyPath | Profile,
    rules: AnyPath | Iterable[AnyPath] = (),
    settings: AnyPath | Settings | None = None,
    *,
    chip: str = "",
    workload: str = "",
    stack: str = "",
    cache: AnyPath | None = None,
    progress: Progress | None = None,
    on: str = "",
    rank_limit: float | None = None,
) -> Diagnosis:
    """What is wrong with a profile, ranked by what can be won: of the capture at a path, or of a loaded profile.

    `rules` are folders with rules of your own, held against the profile beside the shipped ones; `settings` is a file
    such as `advisor.yaml`; `chip` is the chip, such as `910B3`, where the capture does not name it, `workload` what ran
    (`training`, `inference`, `prefill`, `decode`, `serving`, `RL`) and `stack` whose flags it has, such as `Megatron`
    or `vLLM`, where the capture does not show it (a loaded profile was told already); `cache` is a folder where facts
    are kept, so that what did not change is not read again; `progress` is told of each part of the work. `on` and
    `rank_limit` are those of `load_profile`.

    Raises:
        InputError: Nothing at the path can be read.
        RuleError: A rule of your own or a setting is wrong; the message lists every mistake.
        UsageError: There is no such chip, workload or stack.
    """
    from advisor.facts.profile import Profile
    from advisor.model.progress import silent
    from advisor.pipeline import diagnose as run_rules

    listener = progress or silent
    given = _as_settings(settings)
    told = {"chip": chip, "workload": workload, "stack": stack, "on": on}
    if not isinstance(path, Profile):
        path = load_profile(path, **told, settings=given, cache=cache, progress=listener, rank_limit=rank_limit)
    profile = path
    _attach_html()
    return run_rules(profile, load_rules(rules, given), listener)


def compare(
    before: AnyPath | Diagnosis,
    after: AnyPath | Diagnosis,
    rules: AnyPath | Iterable[AnyPath] = (),
    settings: AnyPath | Settings | None = None,
    *,
    tables: bool = False,
) -> Comparison:
    """What changed from one run to another, and what moved the step.

    Each is a capture, a diagnosis that was saved as .json, or a diagnosis at hand; differences count as changes beyond
    the noise that `settings` allow. `tables` sets kernels, operators, calls, collectives and memory side by side,
    where both are captures.

    Raises:
        InputError: One of them cannot be read.
        RuleError: A rule of your own or a setting is wrong; the message lists every mistake.
    """
    from advisor import pipeline

    given = _as_settings(settings)
    catalog = load_rules(rules, given)
    one, other = (_open_side(side, given, tables) for side in (before, after))
    _attach_html()
    return pipeline.compare_opened(one, other, catalog, settings=given, tables=tables)


def verify(comparison: AnyPath | Comparison, finding: Finding | str | None = None) -> Verification | Verifications:
    """Whether fixing a finding won what it promised: a finding, a fingerprint or its beginning, or a rule with one.

    The comparison is one that `compare` made, or that was saved as .json. What became of every finding of the first
    capture where none is given. `worked` answers in one word.

    Raises:
        InputError: The comparison cannot be read.
        UsageError: It is a capture or a diagnosis, or its first capture has no such finding; the message names those
            that come near.
    """
    from advisor import pipeline
    from advisor.model.findings import Finding as OneFinding

    made = _as_comparison(comparison)
    return pipeline.verify(made, finding.fingerprint if isinstance(finding, OneFinding) else finding)


def explain(
    diagnosis: AnyPath | Diagnosis,
    finding: Finding | str,
    profile: AnyPath | Profile | None = None,
    rules: AnyPath | Iterable[AnyPath] = (),
) -> Explanation:
    """Why a rule spoke or did not: of a finding, a fingerprint or its beginning, or everything a rule said by its id.

    The diagnosis is one at hand, one that was saved as .json, or that of a capture. With the profile, or a capture,
    every value is known, not only those that a diagnosis keeps.

    Raises:
        InputError: One of them cannot be read.
        RuleError: A rule of your own is wrong; the message lists every mistake.
        UsageError: There is no such finding or rule; the message names those that come near.
    """
    from advisor import pipeline
    from advisor.facts.profile import Profile

    name = finding if isinstance(finding, str) else finding.fingerprint
    rule_id, fingerprint = (name, "") if "/" in name else ("", name)
    catalog = load_rules(rules)
    side = _open_side(diagnosis, None, tables=False)
    if profile is not None and not isinstance(profile, Profile):
        profile = load_profile(profile)
    elif profile is None and isinstance(side, Profile):
        profile = side
    made = pipeline.diagnose_if_needed(side, catalog)
    _attach_html()
    return pipeline.explain(rule_id, fingerprint, made, catalog, profile=profile)


def inspect(
    path: AnyPath,
    rules: AnyPath | Iterable[AnyPath] = (),
    settings: AnyPath | Settings | None = None,
    *,
    chip: str = "",
    workload: str = "",
    stack: str = "",
    cache: AnyPath | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """What lies at a path: sources, ranks, files, tables, the rules that these enable, and how to record the rest.

    What cannot be diagnosed is described too: then `refusal` says why, and `run` is None. The arguments are those of
    `diagnose`.

    Raises:
        InputError: Nothing lies at the path.
        RuleError: A rule of your own or a setting is wrong; the message lists every mistake.
        UsageError: There is no such chip, workload or stack.
    """
    from advisor import pipeline
    from advisor.model.progress import silent

    given = _as_settings(settings)
    told = _told(given, chip, workload, stack, cache)
    _attach_html()
    return pipeline.inspect(_named_path(path), load_rules(rules, given), **told, progress=progress or silent)


def stats(
    path: AnyPath | Profile,
    of: str,
    by: str | Iterable[str] = (),
    *,
    per_rank: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One table of how often and how long: `of` is `kernels`, `collectives` or another that `advisor stats` has.

    `by` names the key or the keys of a row, such as `input_shapes`; all ranks are put together, unless `per_rank`.
    Times are µs, sizes bytes. A profile is one that `load_profile` gave.

    Raises:
        FactMissing: What the table is made from was not recorded.
        InputError: Nothing at the path can be read.
        UsageError: There is no such table, it has no such key, or its rows cannot be put together by these.
    """
    from advisor import pipeline
    from advisor.facts.profile import Profile

    profile = path if isinstance(path, Profile) else load_profile(path, progress=progress)
    keys = (by,) if isinstance(by, str) else tuple(by)
    return pipeline.count_as_frame(profile, of, keys, per_rank=per_rank)


def load_profile(
    path: AnyPath,
    *,
    chip: str = "",
    workload: str = "",
    stack: str = "",
    settings: AnyPath | Settings | None = None,
    cache: AnyPath | None = None,
    progress: Progress | None = None,
    on: str = "",
    rank_limit: float | None = None,
) -> Profile:
    """The profile at this path: `load_profile(p).table("kernels").to_pandas()` gives its kernels.

    `chip` is the chip, such as `910B3`, where the capture does not name it, `workload` what ran and `stack` what drove
    it, where the capture does not show it; `cache` is a folder where facts are kept, so that what did not change is not
    read again; `settings` say the same where the arguments do not, and may know of chips of your own. `on` is the
    address of a Dask scheduler such as `dask://host:8786`, whose workers then read the ranks, and `rank_limit` how many
    seconds one of them may take over a rank.

    Raises:
        InputError: Nothing at the path can be read.
        RuleError: A setting is wrong; the message lists every mistake.
        UsageError: There is no such chip, workload or stack, or `on` is no address.
    """
    from advisor.model.progress import silent
    from advisor.pipeline import open_to_count
    from advisor.rank_work.cluster_asked import ClusterAsked

    _attach_html()
    told = _told(_as_settings(settings), chip, workload, stack, cache)
    cluster = ClusterAsked(on, rank_limit) if on else None
    return open_to_count(_named_path(path), progress=progress or silent, on=cluster, **told)


def load_diagnosis(path: AnyPath) -> Diagnosis:
    """The diagnosis that `advisor diagnose … -o report.json` or `Diagnosis.to_json` wrote.

    Raises:
        InputError: There is none; the message says what is wrong with the file.
    """
    from advisor.model.saved import saved_diagnosis

    _attach_html()
    return saved_diagnosis(_named_path(path))


def load_rules(rules: AnyPath | Iterable[AnyPath] = (), settings: AnyPath | Settings | None = None) -> Catalog:
    """The shipped rules and those in these folders, or in this one, as the settings leave them.

    Raises:
        RuleError: Something in them is wrong; the message lists every mistake.
    """
    import os
    from pathlib import Path

    from advisor.machine.shipped_files import shipped_folder
    from advisor.rules.catalog import Catalog

    own = [rules] if isinstance(rules, str | os.PathLike) else rules
    return Catalog.load([shipped_folder("rules"), *map(Path, own)], _as_settings(settings))


def _named_path(given: AnyPath) -> Path:
    """A path; an empty text, as an unset variable gives, names none, and not the working folder.

    Raises:
        UsageError: It is empty.
    """
    import os
    from pathlib import Path

    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    if not os.fspath(given):
        raise UsageError(Message("path_is_empty"))
    return Path(given)


def _open_side(given: AnyPath | Diagnosis, settings: Settings | None, tables: bool) -> Diagnosis | Profile:
    """One side of a comparison."""
    from advisor.model.findings import Diagnosis
    from advisor.pipeline import open_given

    if isinstance(given, Diagnosis):
        return given
    return open_given(_named_path(given), **_told(settings), tables=tables)


def _as_comparison(given: AnyPath | Comparison) -> Comparison:
    """A comparison at hand, or the saved one at a path.

    Raises:
        InputError: It cannot be read.
        UsageError: It is something else.
    """
    import os

    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message
    from advisor.model.comparison import Comparison
    from advisor.model.saved import is_comparison, saved_comparison

    if isinstance(given, Comparison):
        return given
    if isinstance(given, str | os.PathLike) and is_comparison(_named_path(given)):
        return saved_comparison(_named_path(given))
    raise UsageError(Message("no_comparison_given", given=str(given)), Message("compare_first"))


def _told(
    settings: Settings | None, chip: str = "", workload: str = "", stack: str = "", cache: AnyPath | None = None
) -> _Told:
    """What is told of the chip, the job and the cache: by the arguments, else by the settings.

    Raises:
        UsageError: There is no such chip, workload or stack.
    """
    from pathlib import Path

    from advisor.model.job import told_job
    from advisor.policy.settings import Settings

    given = settings or Settings()
    job = told_job(workload or given.workload, stack or given.stack)
    told_chip = given.chips.told(chip or given.chip or None)
    folder = None if cache is None else Path(cache)
    return {"chip": told_chip, "job": job, "cache": given.open_cache(folder, _warn_of)}


def _warn_of(said: Message) -> None:
    import warnings

    warnings.warn(str(said), stacklevel=2)


def _as_settings(given: AnyPath | Settings | None) -> Settings | None:
    from pathlib import Path

    from advisor.policy.settings import Settings

    return given if given is None or isinstance(given, Settings) else Settings.read(Path(given))


def _attach_html() -> None:
    """What a notebook shows of the objects handed out here."""
    from advisor.display import attach_html

    attach_html()


_HOMES = {
    "AdvisorError": "advisor.messages.errors",
    "Comparison": "advisor.model.comparison",
    "Diagnosis": "advisor.model.findings",
    "Explanation": "advisor.model.explanation",
    "Finding": "advisor.model.findings",
    "Inspection": "advisor.model.inspection",
}


def __getattr__(name: str) -> object:
    """Imports the public classes when first asked for: they cost more than `advisor --version` may take."""
    if name not in _HOMES:
        raise AttributeError(f"module 'advisor' has no attribute {name!r}")
    from importlib import import_module

    if name != "AdvisorError":
        _attach_html()
    return getattr(import_module(_HOMES[name]), name)
