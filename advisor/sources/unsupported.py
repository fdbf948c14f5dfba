# SPDX-License-Identifier: Apache-2.0
"""What to say about input that no family can open: what it is, and what to do."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from advisor.messages.damage import because
from advisor.messages.errors import InputError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.sources.detect import DEPTH
from advisor.sources.family import Family, Found
from advisor.sources.files.heads import head, is_gpu_trace, is_trace
from advisor.sources.listing import first_names, shown

TRACES_TRIED = 40
"""Files that may be traces, and are looked into to say what they are."""


def wanted(families: Sequence[Family]) -> Text:
    """What to give, as a request."""
    asked = [family.wanted for family in families if family.wanted]
    return Text("; ".join(one.en for one in asked), "；".join(one.zh for one in asked))


def check_reachable(path: Path, families: Sequence[Family]) -> None:
    """Refuse what is neither a folder nor a file that can be looked at.

    Raises:
        InputError: It is neither.
    """
    give = wanted(families)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(
            Message("does_not_exist", path=shown(path)),
            Message("check_the_path", request=give),
        ) from None
    except (OSError, ValueError) as error:
        why = because(error)
        what = Message("cannot_be_looked_at", path=shown(path), why=why)
        raise InputError(what, give) from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        what = Message("neither_folder_nor_file", path=shown(path))
        raise InputError(what, give)


def refused(path: Path, found: Found, families: Sequence[Family]) -> InputError:
    """One sentence about a path without a readable capture, and what to do."""
    known = next((why for family in families if (why := family.refuse(path, found))), None)
    if known:
        return known
    starts = map(head, found.json[:TRACES_TRIED])
    if any(is_trace(start) and is_gpu_trace(start) for start in starts):
        return _gpu(path, wanted(families))
    return InputError(*_folder(path, found, families)) if path.is_dir() else _file(path, wanted(families))


def mixed(path: Path, families: Sequence[Family]) -> InputError:
    """About captures of several profilers in one input."""
    names = Text(*(words.join(family.name for family in families) for words in (" and ", "、")))
    return InputError(
        Message("mixes_profilers", path=shown(path), names=names),
        Message("give_one_job"),
    )


def _gpu(path: Path, give: Text) -> InputError:
    return InputError(
        Message("gpu_trace", path=shown(path)),
        Message("give_ascend_profile", request=Text(give.en.removeprefix("give "), give.zh.removeprefix("请给出"))),
    )


def _file(path: Path, give: Text) -> InputError:
    if not head(path):
        return InputError(Message("file_is_empty", path=shown(path)), give)
    return InputError(Message("no_profile_file", path=shown(path)), give)


def _folder(path: Path, found: Found, families: Sequence[Family]) -> tuple[Message, Message | Text]:
    """What is said of a folder, and what to do."""
    if found.unreadable and not found.files:
        return (
            Message("cannot_be_listed", path=shown(path)),
            Message("check_permissions"),
        )
    if not found.files:
        nothing = Message("folder_is_empty", path=shown(path), levels=DEPTH)
        return nothing, wanted(families)
    holds = first_names(path)
    other = Message("no_ascend_profile", path=shown(path), names=holds)
    return other, wanted(families)
