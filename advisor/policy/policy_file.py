# SPDX-License-Identifier: Apache-2.0
"""The sections of `advisor.yaml` that say what a project demands: policy, budgets, suppressions and compare.

```yaml
policy:
  rules: {memory/near-capacity: error, host/*: warn}
  categories: {capture: warn}
  severities: {low: off}
budgets:
  free_share: 25%
  memory: {limit: 60GiB, action: warn}
suppressions:
  - rule: ranks/slow-link
    fingerprint: 2f1c0e9d8b7a6543
    reason: The switch is replaced in May.
    expires: 2027-05-31
compare: {floor: 1%, relative: 20%, spread: 2}
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from advisor.messages.errors import Mistake
from advisor.messages.message import Message, did_you_mean
from advisor.model.comparison import Tolerance
from advisor.model.findings import FINGERPRINT, Severity
from advisor.model.verdict import Action, Budget, Suppression
from advisor.policy.policy import ACTIONS, Policy, pattern_matches
from advisor.yaml_files.amounts import MEMORY, SHARE, TIME, AmountKind
from advisor.yaml_files.document import Path_
from advisor.yaml_files.mistakes import Faults
from advisor.yaml_files.suggestions import suggest_known, suggest_rules

BUDGETS: Mapping[str, tuple[AmountKind, ...]] = {
    "free_share": (SHARE,),
    "step_time": (TIME,),
    "memory": (MEMORY,),
    "saving_left": (SHARE, TIME),
    "slowdown": (SHARE,),
}
SECTIONS = ("policy", "budgets", "suppressions", "compare")
_POLICY = ("rules", "categories", "severities")
_SUPPRESSION = ("rule", "fingerprint", "reason", "owner", "expires")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_policy(data: Mapping[str, Any], faults: Faults) -> Policy:
    """What the sections `policy`, `budgets` and `suppressions` say."""
    said = faults.section(("policy",), data.get("policy"), _POLICY, Message("policy_sections"))
    return Policy(
        rules=_read_actions(("policy", "rules"), said, "rule_ids_to", faults),
        categories=_read_actions(("policy", "categories"), said, "categories_to", faults),
        severities={Severity[name]: action for name, action in _read_severities(said, faults)},
        budgets=tuple(_read_budgets(data.get("budgets"), faults)),
        suppressions=tuple(_read_suppressions(data.get("suppressions"), faults)),
    )


def read_tolerance(given: Any, faults: Faults) -> Tolerance:
    """What the section `compare` says."""
    said = faults.section(("compare",), given, tuple(Tolerance.model_fields), Message("compare_sections"))
    found: dict[str, float] = {}
    for name, value in said.items():
        path = ("compare", name)
        if name != "spread":
            read = faults.amount(path, value, (SHARE,))
            found |= {name: read[0]} if read else {}
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            faults.wrong(path, Message("spread_is", given=str(faults.text(path, value))))
        else:
            found[name] = float(value)
    return Tolerance(**found)


def unknown_names(
    policy: Policy, known: Mapping[str, tuple[str, ...]], mistake: Callable[..., Mistake]
) -> Iterator[Mistake]:
    """Rules and categories that a policy names and that do not exist; `known` is every id with its former ones."""
    for key in policy.rules:
        if not any(pattern_matches(key, names) for names in known.values()):
            yield mistake(("policy", "rules", key), *_say_unknown_rule(key, known))
    categories = {name.split("/", 1)[0] for name in known}
    for key in policy.categories:
        if key not in categories:
            what = Message("no_rule_of_category", name=key)
            yield mistake(("policy", "categories", key), what, suggest_known(key, categories))
    for number, one in enumerate(policy.suppressions):
        if one.rule and not any(pattern_matches(one.rule, names) for names in known.values()):
            yield mistake(("suppressions", number, "rule"), *_say_unknown_rule(one.rule, known), key=False)


def _say_unknown_rule(key: str, known: Mapping[str, tuple[str, ...]]) -> tuple[Message, Message]:
    ids = [name for names in known.values() for name in names]
    code = "pattern_matches_no_rule" if key.endswith("*") else "unknown_rule"
    return Message(code, name=key), suggest_rules(key, ids)


def _read_actions(path: Path_, said: Mapping[str, Any], of: str, faults: Faults) -> dict[str, Action]:
    given = faults.mapping(path, said.get(str(path[-1])), Message(of, actions=", ".join(ACTIONS)))
    read = ((key, _read_action((*path, key), value, faults)) for key, value in given.items())
    return {key: action for key, action in read if action}


def _read_severities(said: Mapping[str, Any], faults: Faults) -> Iterator[tuple[str, Action]]:
    names = tuple(Severity.__members__)
    path = ("policy", "severities")
    given = faults.section(path, said.get("severities"), names, Message("severities_to", actions=", ".join(ACTIONS)))
    for name, value in given.items():
        if action := _read_action((*path, name), value, faults):
            yield name, action


def _read_action(path: Path_, given: Any, faults: Faults) -> Action | None:
    if given is None:
        faults.wrong(path, Message("is_one_of_these", name=path[-1], allowed=", ".join(ACTIONS)), key=True)
        return None
    word = faults.word(path, given, ACTIONS)
    return next((action for action in ACTIONS if action == word), None)


def _read_budgets(given: Any, faults: Faults) -> Iterator[Budget]:
    for name, value in faults.section(("budgets",), given, BUDGETS, Message("limits")).items():
        path: Path_ = ("budgets", name)
        if isinstance(value, dict):
            faults.only(path, value, ("limit", "action"))
            action = _read_action((*path, "action"), value["action"], faults) if "action" in value else "error"
            read = faults.amount((*path, "limit"), value.get("limit"), BUDGETS[name])
        else:
            action, read = "error", faults.amount(path, value, BUDGETS[name])
        if read and action:
            yield Budget.model_validate({"name": name, "limit": read[0], "unit": read[1], "action": action})


def _read_suppressions(given: Any, faults: Faults) -> Iterator[Suppression]:
    if given is None:
        return
    if not isinstance(given, list):
        faults.wrong(("suppressions",), Message("is_list", name="suppressions"), Message("begin_with_dash"))
        return
    for number, entry in enumerate(given):
        if isinstance(entry, dict):
            yield from _read_suppression(("suppressions", number), entry, faults)
        else:
            faults.wrong(("suppressions", number), Message("suppression_is_mapping"))


def _read_suppression(path: Path_, entry: Mapping[str, Any], faults: Faults) -> Iterator[Suppression]:
    before = len(faults.mistakes)
    faults.only(path, entry, _SUPPRESSION)
    words = {name: _read_words((*path, name), entry.get(name), faults) for name in _SUPPRESSION}
    if not (words["rule"] or words["fingerprint"]):
        faults.wrong(path, Message("suppression_names"))
    if not words["reason"]:
        faults.wrong((*path, "reason"), Message("suppression_reason"), key=True)
    _check_fingerprint((*path, "fingerprint"), words["fingerprint"], faults)
    _check_day((*path, "expires"), words["expires"], faults)
    if len(faults.mistakes) == before:
        yield Suppression(**words, line=faults.document.line(path))


def _read_words(path: Path_, given: Any, faults: Faults) -> str:
    return (faults.text(path, given) or "").strip()


def _check_fingerprint(path: Path_, words: str, faults: Faults) -> None:
    if words and not FINGERPRINT.fullmatch(words):
        low = words.lower()
        meant = did_you_mean([low] if FINGERPRINT.fullmatch(low) else [])
        faults.wrong(path, Message("no_fingerprint", words=words), meant or Message("check_shows_it"))


def _check_day(path: Path_, words: str, faults: Faults) -> None:
    if not words:
        return
    try:
        date.fromisoformat(words if _DAY.fullmatch(words) else "")
    except ValueError:
        faults.wrong(path, Message("no_day", words=words), _day_meant(words))


def _day_meant(words: str) -> Message:
    """The day somebody may have meant who wrote it another way; year first, so that nothing is guessed."""
    parts = re.fullmatch(r"([0-9]{4})\D?([0-9]{1,2})\D?([0-9]{1,2})(?:[T ].*)?", words)
    try:
        day = date(*map(int, parts.groups())) if parts else None
    except ValueError:
        day = None
    return did_you_mean([day.isoformat()] if day else []) or Message("days_are_written")
