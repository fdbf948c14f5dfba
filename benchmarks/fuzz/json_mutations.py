# SPDX-License-Identifier: Apache-2.0
"""Damage to what a JSON document holds: keys, values, types, depth, events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.fuzz.odd_values import NUMBERS, WORDS

_RAW = re.compile(rb'"@raw:([^"]*)@"')
"""Stands for what no value of Python is written as."""
_DEPTHS = (30, 200, 900, 5000)


def _as_document(change: Callable[[Any, Random], Any]) -> Callable[[bytes, Random], bytes]:
    """The same for a file."""

    def mutate(content: bytes, chance: Random) -> bytes:
        try:
            held = json.loads(content)
            changed = json.dumps(change(held, chance)) if isinstance(held, dict | list) and held else ""
        except (ValueError, RecursionError):  # an earlier mutation left no document
            return content
        return _RAW.sub(lambda found: found[1], changed.encode()) or content

    mutate.__name__, mutate.__doc__ = change.__name__.lstrip("_"), change.__doc__
    return mutate


def _odd_value(chance: Random) -> Any:
    deep = chance.choice(_DEPTHS)
    return chance.choice((
        f"@raw:{chance.choice([one for one in NUMBERS if one.isascii()])}@",
        f"@raw:{chance.choice(('1e400', '-1e308', 'NaN', 'Infinity', '9' * 400, '1e31', '-1'))}@",
        chance.choice(NUMBERS), chance.choice(WORDS), None, True, [], {}, [[]], {"": None}, 0, -1, 2**63, 2**64,
        -(2**63), 0.5,
        f"@raw:{'[' * deep}{']' * deep}@",
    ))  # fmt: skip


def _place(held: Any, chance: Random) -> tuple[Any, Any]:
    """A container, at whatever depth, and a key in it."""
    while True:
        key = chance.choice(list(held)) if isinstance(held, dict) else chance.randrange(len(held))
        inner = held[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.15:
            return held, key
        held = inner


def _change_values(held: Any, chance: Random) -> Any:
    """Some values are odd."""
    for _ in range(chance.choice((1, 1, 3, 20))):
        inside, key = _place(held, chance)
        inside[key] = _odd_value(chance)
    return held


def _change_all_of_a_key(held: Any, chance: Random) -> Any:
    """A key holds the same odd value wherever it stands."""
    inside, key = _place(held, chance)
    return _replaced(held, key, _odd_value(chance)) if isinstance(inside, dict) else held


def _replaced(held: Any, key: str, value: Any) -> Any:
    if isinstance(held, dict):
        return {name: value if name == key else _replaced(inner, key, value) for name, inner in held.items()}
    return [_replaced(inner, key, value) for inner in held] if isinstance(held, list) else held


def _remove_keys(held: Any, chance: Random) -> Any:
    """Some keys or elements are gone."""
    for _ in range(chance.choice((1, 3))):
        if held:
            inside, key = _place(held, chance)
            del inside[key]
    return held


def _rename_key(held: Any, chance: Random) -> Any:
    """A key is called otherwise."""
    inside, key = _place(held, chance)
    if isinstance(inside, dict):
        inside[chance.choice((str(key).upper(), "", *WORDS, *NUMBERS))] = inside.pop(key)
    return held


def _copy_value(held: Any, chance: Random) -> Any:
    """A value stands in another place too."""
    source, target = _place(held, chance), _place(held, chance)
    target[0][target[1]] = json.loads(json.dumps(source[0][source[1]]))
    return held


def _wrap(held: Any, chance: Random) -> Any:
    """All of it lies deeper, or in another kind of container."""
    for _ in range(chance.choice((1, 2, 40))):
        held = [held] if chance.random() < 0.5 else {chance.choice(("", "traceEvents", "data")): held}
    return held


def _mix_elements(held: Any, chance: Random) -> Any:
    """Elements or keys stand in another order, some of them twice."""
    if isinstance(held, dict):
        names = list(held)
        chance.shuffle(names)
        return {name: held[name] for name in names}
    held = held + [chance.choice(held) for _ in range(chance.choice((0, 1, 20)))]
    chance.shuffle(held)
    return held


def _remove_elements(held: Any, chance: Random) -> Any:
    """Elements are gone: of one kind of event all or half, else either half of any list or object."""
    if isinstance(held, dict) and "schemaVersion" in held and isinstance(held.get("traceEvents"), list):
        return {**held, "traceEvents": _without_a_kind(held["traceEvents"], chance)}
    if isinstance(held, list) and isinstance(held[0], dict) and chance.random() < 0.8:
        return _without_a_kind(held, chance)
    inside, key = _place(held, chance)
    target = inside[key] if isinstance(inside[key], (dict, list)) and inside[key] else inside
    keys = list(target) if isinstance(target, dict) else list(range(len(target)))
    half = chance.choice((keys[: len(keys) // 2 + 1], keys[len(keys) // 2 :], keys[::2]))
    for one in reversed(half):
        del target[one]
    return held


def _without_a_kind(events: list[Any], chance: Random) -> list[Any]:
    kinds = sorted({_kind(one) for one in events if isinstance(one, dict)}) or [("", "")]
    gone, half = chance.choice(kinds), chance.random() < 0.5
    return [one for n, one in enumerate(events) if not isinstance(one, dict) or _kind(one) != gone or (half and n % 2)]


def _kind(event: dict[str, Any]) -> tuple[str, str]:
    return str(event.get("ph")), str(event.get("cat", ""))


change_values, change_all_of_a_key = _as_document(_change_values), _as_document(_change_all_of_a_key)
remove_keys, rename_key, copy_value = _as_document(_remove_keys), _as_document(_rename_key), _as_document(_copy_value)
wrap, mix_elements, remove_elements = _as_document(_wrap), _as_document(_mix_elements), _as_document(_remove_elements)
