# SPDX-License-Identifier: Apache-2.0
"""`advisor init`: write a commented advisor.yaml to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import SETTINGS_FILE, existing_folder, language_option
from advisor.cli.exit_codes import FINE
from advisor.cli.settings_in_force import language_of

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser

SCHEMA_FILE = "advisor.schema.json"


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "dir",
        type=existing_folder,
        nargs="?",
        default=Path(),
        metavar="DIR",
        help=one.say("where to write it (default: this folder)", "写到哪个目录（默认为当前目录）"),
    )
    one.add_argument(
        "--schema",
        action="store_true",
        help=one.say(
            f"write {SCHEMA_FILE} beside it, by which editors complete and check it; settings that are there stay",
            f"同时写出 {SCHEMA_FILE}，供编辑器补全和检查；已有的配置文件保持不变",
        ),
    )
    language_option(one)


def run(arguments: argparse.Namespace) -> int:
    """Writes what is not there yet; settings that are there stay, and may be given their schema."""
    from advisor.machine.output_files import write_new_file
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message
    from advisor.policy.settings_skeleton import new_settings

    top = Path(arguments.dir)
    text = new_settings(language_of(arguments.lang), SCHEMA_FILE if arguments.schema else "")
    files = {top / SETTINGS_FILE: text}
    if arguments.schema:
        kept = {} if (top / SETTINGS_FILE).exists() else files
        files = kept | {top / SCHEMA_FILE: _settings_schema()}
    for path, content in files.items():
        try:
            write_new_file(path, content.encode())
        except FileExistsError:
            hint = "edit_or_name_folder" if path.name == SETTINGS_FILE else "remove_or_name_folder"
            raise UsageError(Message("exists_already", path=path), Message(hint)) from None
        print(path)
    return FINE


def _settings_schema() -> str:
    import json

    from advisor.machine.shipped_files import shipped_folder
    from advisor.policy.settings_file import json_schema
    from advisor.rules.catalog import Catalog

    return json.dumps(json_schema(Catalog.load([shipped_folder("rules")]).rules), ensure_ascii=False, indent=2) + "\n"
