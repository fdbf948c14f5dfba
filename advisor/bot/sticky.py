# SPDX-License-Identifier: Apache-2.0
"""One comment, kept up to date: found by its mark and its author, never two, never anybody else's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Literal

from msgspec import Struct

from advisor.bot import forge_errors as trouble
from advisor.bot.forge import Comment, Forge
from advisor.bot.rest import is_gone
from advisor.messages.errors import ForgeError

NAME = re.compile(r"[0-9A-Za-z]+(?:[._-][0-9A-Za-z]+)*")
"""What several comments on one pull request may be called. Two hyphens in a row would end the mark."""
Done = Literal["created", "updated", "unchanged"]


class Posted(Struct, frozen=True):
    """What became of the comment."""

    done: Done
    url: str = ""
    removed: int = 0
    """Duplicates of our own that another run had left."""


def comment_mark(name: str = "") -> str:
    """What the comment begins with; forges do not show it."""
    return f"<!-- advisor:diagnosis {name} -->" if name else "<!-- advisor:diagnosis -->"


def post_comment(forge: Forge, body: str, begins: str, author: str = "") -> Posted:
    """Brings the one comment that begins with this mark to this text.

    Two runs at the same moment may both find none and both write one. Each looks again after writing and keeps the
    oldest, so both keep the same. A request that was tried again after its answer got lost is tidied in the same way.

    Raises:
        ForgeError: The forge cannot be reached or says no.
    """
    me = author or _ask_own_login(forge)
    try:
        return _post_once(forge, body, begins, me)
    except ForgeError as error:
        if not is_gone(error):
            raise
        # taken away since we looked, by a person or by another run; where the whole place is missing this fails again
        return _post_once(forge, body, begins, me)


def _ask_own_login(forge: Forge) -> str:
    """Whose token it is. A token that may comment and may not ask that is told of `--as`."""
    try:
        me = forge.whoami()
    except ForgeError as error:
        if error.status not in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
            raise
        raise trouble.login_unknown(forge.name) from error
    if not me:
        raise trouble.login_unknown(forge.name)
    return me


def _post_once(forge: Forge, body: str, begins: str, me: str) -> Posted:
    own = _own_comments(forge.comments(), begins, me)
    created = None if own else forge.create(body)
    if created is not None:
        own = _seen_again(forge, created, begins, me)
    kept, *others = own
    done = _update_comment(forge, kept, body, is_new=created is not None and (kept.id == created.id or not others))
    for comment in others:
        forge.delete(comment)
    return Posted(done, kept.url, len(others))


def _seen_again(forge: Forge, created: Comment, begins: str, me: str) -> list[Comment]:
    """Our comments after writing one, oldest first; with that one even where the list lags behind.

    Raises:
        ForgeError: The comment does not look like ours, and so no later run would find it. It is taken away again.
    """
    listed = [comment for comment in forge.comments() if comment.id == created.id or _is_own(comment, begins, me)]
    own = _own_comments(listed, begins, me)
    known = next((comment for comment in listed if comment.id == created.id), None)
    if known is not None and not _is_own(known, begins, me):
        if known.author.lower() == me.lower() or _same_text(known.body, created.body):
            forge.delete(known)
        raise trouble.not_ours(forge.name, known.author, me)
    if known is not None or (not created.id and own):
        return own
    return sorted([*own, created], key=lambda comment: comment.id)


def _update_comment(forge: Forge, kept: Comment, body: str, *, is_new: bool) -> Done:
    """Gives the kept comment the text, unless it has it: another run's text stays when ours came first."""
    if is_new:
        return "created"
    if _same_text(kept.body, body):
        return "unchanged"
    forge.update(kept, body)
    return "updated"


def _own_comments(comments: Iterable[Comment], begins: str, me: str) -> list[Comment]:
    """Our comments of this name, oldest first. A person's comment that quotes the mark is not ours."""
    return sorted((comment for comment in comments if _is_own(comment, begins, me)), key=lambda comment: comment.id)


def _is_own(comment: Comment, begins: str, me: str) -> bool:
    return bool(me) and comment.author.lower() == me.lower() and comment.body.lstrip("\ufeff \r\n").startswith(begins)


def _same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for line ends and blanks at the end, which forges change."""
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]
