# SPDX-License-Identifier: Apache-2.0
"""Chips: what is known of each by its name, with the source of every number, and how people write the names.

Clocks are `cube_freq` of CANN's own `data/platform_config/<chip>.ini` (<https://github.com/hicann/runtime>, folder
`src/platform/platform_config`). Memory is what `npu-smi info` shows on machines with the chip, in MB of 1024² bytes, or
what that file says where nothing contradicts it. What has no source is left out, and so is what sources disagree on.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.message import Message

_GIB = 1024.0**3


class Chip(Struct, frozen=True):
    """One chip, or a family of them: all that its name tells."""

    name: str
    family: str = ""
    """The family that captures name in its place."""
    nominal_mhz: float = math.nan
    """Clock its AI Cores were built for; of a family the least of its members. NaN where unknown."""
    memory_bytes: float = math.nan
    """Device memory; of a family only where all members agree. NaN where unknown."""


CHIPS = (
    # 32768 MB: device-configmap.yaml of https://github.com/Project-HAMi/HAMi
    Chip("Ascend910A", "", 1000.0, 32 * _GIB),
    Chip("Ascend910B", "", 1500.0),  # the family of Atlas A2: 32 and 64 GB
    Chip("Ascend910B1", "Ascend910B", 1850.0, 64 * _GIB),
    # 65536 MB: device-configmap.yaml of https://github.com/Project-HAMi/HAMi
    Chip("Ascend910B2", "Ascend910B", 1800.0, 64 * _GIB),
    # 64 GB: https://github.com/hearth-project/hearth/releases/tag/v0.2.0-rc.1
    Chip("Ascend910B2C", "Ascend910B", 1800.0, 64 * _GIB),
    # 65536 MB: https://github.com/vllm-project/vllm-ascend/issues/1903
    Chip("Ascend910B3", "Ascend910B", 1800.0, 64 * _GIB),
    # 32768 MB: https://github.com/Project-HAMi/HAMi/issues/1860
    Chip("Ascend910B4", "Ascend910B", 1500.0, 32 * _GIB),
    # 65536 MB: https://github.com/Project-HAMi/HAMi-WebUI/issues/47; its .ini repeats the 32 GiB of Ascend910B4
    Chip("Ascend910B4-1", "Ascend910B", 1500.0, 64 * _GIB),
    Chip("Ascend910_93", "", 1500.0),  # the family of Atlas A3; each of two dies is a device of its own
    # 65536 MB per device: https://github.com/vllm-project/vllm-ascend/issues/2534
    Chip("Ascend910_9391", "Ascend910_93", 1850.0, 64 * _GIB),
    Chip("Ascend910_9392", "Ascend910_93", 1850.0, 64 * _GIB),
    Chip("Ascend910_9381", "Ascend910_93", 1800.0, 64 * _GIB),
    Chip("Ascend910_9382", "Ascend910_93", 1800.0, 64 * _GIB),
    Chip("Ascend910_9372", "Ascend910_93", 1800.0, 64 * _GIB),
    Chip("Ascend910_9362", "Ascend910_93", 1500.0),  # 32 GiB by its .ini, which has that of Ascend910B4-1 wrong too
    Chip("Ascend310"),
    Chip("Ascend310B"),
    Chip("Ascend310P"),
    Chip("Ascend310P3", "Ascend310P", 1060.0),  # 24e9 bytes by its .ini, 21527 MB by npu-smi
    Chip("Ascend950", "", 1650.0),  # 1650 MHz in all its files; the memory differs among them
)
"""All chips with a name that captures or users give."""

ALIASES = {"910c": "Ascend910_93", "a2": "Ascend910B", "a3": "Ascend910_93"}
"""What people call a family."""
MIXED_UP = {"Ascend910B": ("Ascend910_93",)}
"""Families that captures name for chips of others: those of Atlas A3 share a number with Ascend910B."""

_BY_NAME: Mapping[str, Chip] = {chip.name: chip for chip in CHIPS}
_FAMILIES = frozenset(chip.family for chip in CHIPS)
_NOISE = re.compile(r"[\s_-]+|^(huawei|昇腾|ascend|atlas)+")


def chip_named(words: str) -> Chip | None:
    """The chip that is meant: `Ascend910B3`, `ascend 910b3`, `910B3`, `910_9392`, `910C`; None for no chip."""
    key = _chip_key(words)
    found = next((chip for chip in CHIPS if _chip_key(chip.name) == key), None)
    return found or _BY_NAME.get(ALIASES.get(key, ""))


def nearest_chip(words: str) -> str:
    """The name that comes closest; empty where none does."""
    keys = {_chip_key(chip.name): chip.name for chip in CHIPS}
    near = difflib.get_close_matches(_chip_key(words), keys, 1, 0.55)
    return keys[near[0]] if near else ""


def told_chip(words: str) -> str:
    """The name of the chip that a user means.

    Raises:
        UsageError: There is no such chip; the message says which there are.
    """
    chip = chip_named(words)
    if chip is not None:
        return chip.name
    near, names = nearest_chip(words), chip_names()
    known = Message("did_you_mean_known", name=near, names=names) if near else Message("known_are", names=names)
    raise UsageError(Message("unknown_chip", name=words), known)


def chip_names() -> str:
    """All names, for a message."""
    return ", ".join(chip.name for chip in CHIPS)


def is_exact(name: str) -> bool:
    """Whether a recorded name stands for one chip and no family; of a name unknown here nothing is doubted."""
    return bool(name) and name not in _FAMILIES


def nominal_mhz(name: str | None) -> float:
    """The clock a chip was built for, MHz; NaN where its name does not tell."""
    chip = _BY_NAME.get(name or "")
    return chip.nominal_mhz if chip else math.nan


def memory_bytes(name: str | None) -> float:
    """The device memory of a chip; NaN where its name does not tell."""
    chip = _BY_NAME.get(name or "")
    return chip.memory_bytes if chip else math.nan


def agree_on_chip(recorded: str, told: str) -> tuple[str, str]:
    """The chip that counts, and a note of the run: what was recorded, unless what was told is a member of that family.

    The note is `told_chip=NAME` where the user's word counts, `untold_chip=NAME` where the capture contradicts it.
    """
    chip = _BY_NAME.get(told)
    if chip is None or told == recorded:
        return recorded, ""
    families = (recorded, *MIXED_UP.get(recorded, ()))
    if not recorded or (not is_exact(recorded) and chip.family in families):
        return told, f"told_chip={told}"
    own = _BY_NAME.get(recorded)
    vaguer = own is not None and told in (own.family, *MIXED_UP.get(recorded, ()))
    return recorded, "" if vaguer else f"untold_chip={told}"


def _chip_key(words: str) -> str:
    key = words.casefold()
    while (shorter := _NOISE.sub("", key)) != key:
        key = shorter
    return key
