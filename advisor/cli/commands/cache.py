# SPDX-License-Identifier: Apache-2.0
"""`advisor cache`: show or clear what is kept of captures that were read before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import config_option, language_option, named_path
from advisor.cli.exit_codes import FINE
from advisor.cli.settings_in_force import language_of, settings_of

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser
    from advisor.fact_store.cache_folder import CacheFolder


def words(cache: Parser) -> None:
    """What the command understands."""
    actions = cache.add_subparsers(metavar="ACTION", title=cache.say("actions", "操作"), required=True)
    for name, help_text, work in (
        (
            "show",
            cache.say(
                "how much is kept, of which captures, and when it was used last",
                "显示缓存了哪些采集数据、占用多少、最近何时使用",
            ),
            _show_cache,
        ),
        ("clear", cache.say("remove all that is kept", "清空缓存"), _clear_cache),
    ):
        one = actions.add_parser(name, help=help_text)
        one.add_argument(
            "cache",
            type=named_path,
            nargs="?",
            metavar="DIR",
            help=cache.say(
                "the folder that --cache was given (default: `cache` of the settings)",
                "--cache 使用的目录（默认取配置中的 `cache`）",
            ),
        )
        config_option(one)
        language_option(one)
        one.set_defaults(run=work)


def _show_cache(arguments: argparse.Namespace) -> int:
    from advisor.messages.message import Message
    from advisor.report.prose import clean_line
    from advisor.units import show_value

    cache = _cache_of(arguments)
    used: dict[str, list[tuple[float, int]]] = {}
    for entry, head in cache.heads():
        used.setdefault(head.capture, []).append((entry.used_s, entry.size_bytes))
    sizes = {name: sum(size for _, size in entries) for name, entries in used.items()}
    count, size = sum(map(len, used.values())), show_value(sum(sizes.values()), "B")
    total = Message("cache_holds", path=cache.folder, entries=count, captures=len(used), size=size)
    print(total.say(language_of(arguments.lang)))
    for name in sorted(used, key=lambda name: (-max(used[name])[0], name)):
        last = max(used[name])[0]
        # a name that cannot move what a terminal shows: anybody may have written it who may write the cache
        print(f"  {_utc_words(last)}  {len(used[name]):>6}  {show_value(sizes[name], 'B'):>9}  {clean_line(name)}")
    return FINE


def _utc_words(seconds: float) -> str:
    """A moment, s since the epoch, as people write it."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _clear_cache(arguments: argparse.Namespace) -> int:
    from advisor.messages.errors import UsageError, reason_of_error
    from advisor.messages.message import Message
    from advisor.units import show_value

    cache = _cache_of(arguments)
    try:
        entries, size = cache.remove_all()
    except OSError as error:
        what = Message("cache_not_cleared", path=cache.folder, why=reason_of_error(error))
        raise UsageError(what, Message("allow_removal")) from error
    done = Message("cache_cleared", path=cache.folder, entries=entries, size=show_value(size, "B"))
    print(done.say(language_of(arguments.lang)))
    return FINE


def _cache_of(arguments: argparse.Namespace) -> CacheFolder:
    """The cache that is named, else that of the settings.

    Raises:
        UsageError: None is named, or it is no folder.
    """
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    settings_of(arguments)
    cache: CacheFolder | None = arguments.cache
    if cache is None:
        raise UsageError(Message("no_cache_named"), Message("name_cache"))
    if not Path(cache.folder).is_dir():
        there = os.path.lexists(cache.folder)
        what = Message("is_no_folder", folder=cache.folder) if there else Message("does_not_exist", path=cache.folder)
        raise UsageError(what, Message("name_cache"))
    return cache
