# SPDX-License-Identifier: Apache-2.0
"""What several commands need before they start: the settings in force, the rules, the language."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import PROJECT_FILE, SETTINGS_FILE
from advisor.cli.standard_error import tell

if TYPE_CHECKING:
    import argparse

    from advisor.fact_store.cache_folder import CacheFolder
    from advisor.messages.message import Message
    from advisor.messages.text import Language
    from advisor.policy.settings import Settings
    from advisor.rules.catalog import Catalog


def settings_of(arguments: argparse.Namespace) -> Settings | None:
    """The settings in force, if any; what they say of language, exit code, chip, job and cache counts where the command
    does not.

    Raises:
        UsageError: There is no such file, or no such chip.
    """
    from advisor.chips.chip_files import shipped_chips
    from advisor.model.job import told_job

    settings = _read_settings(arguments)
    told: str | None = getattr(arguments, "chip", None)
    chips = settings.chips if settings is not None else shipped_chips()
    arguments.chip = chips.told(told if told is not None or settings is None else settings.chip or None)
    workload, stack = (getattr(arguments, name, "") or getattr(settings, name, "") for name in ("workload", "stack"))
    arguments.job = told_job(workload or "", stack or "")
    arguments.cache = _cache_in_force(arguments, settings)
    return settings


def _cache_in_force(arguments: argparse.Namespace, settings: Settings | None) -> CacheFolder | None:
    """The cache of the command, else that of the settings; why it cannot be written is said on the side."""
    named: Path | None = getattr(arguments, "cache", None)
    if named is None and settings is None:
        return None
    from advisor.policy.settings import Settings

    def warn(said: Message) -> None:
        if not getattr(arguments, "quiet", False):
            tell(said.say(language_of(arguments.lang)))

    return (settings or Settings()).open_cache(named, warn)


def _read_settings(arguments: argparse.Namespace) -> Settings | None:
    path: Path | None = getattr(arguments, "config", None)
    if path is not None and not os.path.isfile(path):
        from advisor.messages.errors import UsageError
        from advisor.messages.message import Message

        other = "is_folder" if os.path.isdir(path) else "is_no_file" if os.path.exists(path) else "does_not_exist"
        raise UsageError(Message(other, path=path), Message("give_settings", file=SETTINGS_FILE))
    if path is None:
        path = _take_nearest_settings(arguments)
    if path is None:
        return None
    from advisor.policy.settings import Settings, SettingsError

    try:
        settings = Settings.read(path)
    except SettingsError as error:
        catalog_of(getattr(arguments, "rules", None) or (), error.settings)  # tells of unknown names in the same breath
        raise
    arguments.lang = arguments.lang or settings.language
    level = settings.level
    arguments.fail_on = getattr(arguments, "fail_on", None) or (level.name if level is not None else None)
    return settings


def _take_nearest_settings(arguments: argparse.Namespace) -> Path | None:
    """The settings that are found without being given; what lies in another folder is named, so that nobody wonders."""
    here = Path.cwd()
    found = found_settings(here)
    if found is None:
        return None
    shown = Path(os.path.relpath(found, here))
    if found.parent != here and not getattr(arguments, "quiet", False):
        from advisor.messages.message import Message

        said = Message("settings_from", file=shown.as_posix())
        tell(said.say(language_of(arguments.lang)))
    arguments.config = shown
    return shown


def found_settings(here: Path) -> Path | None:
    """The nearest settings from a folder up to the top of its repository; without one, up to the home folder.

    In each folder `advisor.yaml` wins over the table `[tool.advisor]` of a pyproject.toml.
    """
    home = Path(os.path.expanduser("~"))
    for folder in (here, *here.parents):
        if os.path.isfile(folder / SETTINGS_FILE):
            return folder / SETTINGS_FILE
        project = folder / PROJECT_FILE
        if os.path.isfile(project) and _speaks_of_advisor(project):
            return project
        if folder == home or os.path.exists(folder / ".git"):
            return None
    return None


def _speaks_of_advisor(project: Path) -> bool:
    from advisor.policy.pyproject import has_settings

    return has_settings(project)


def catalog_of(own: Sequence[Path], settings: Settings | None, only: Sequence[str] = ()) -> Catalog:
    """The shipped rules and those of these folders, as the settings leave them.

    Raises:
        UsageError: A folder does not exist, or no rule matches one of `only`.
    """
    from advisor.machine.shipped_files import shipped_folder
    from advisor.rules.catalog import Catalog

    catalog = Catalog.load(
        [shipped_folder("rules"), *rule_folders(own)] if own else [shipped_folder("rules")], settings
    )
    return catalog.select(only) if only else catalog


def rule_folders(given: Sequence[Path]) -> list[Path]:
    """These folders of rules, or the shipped ones.

    Raises:
        UsageError: One of them does not exist.
    """
    from advisor.machine.shipped_files import shipped_folder
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    for folder in given:
        if not os.path.exists(folder):
            raise UsageError(Message("does_not_exist", path=folder), Message("give_rule_folder"))
    return list(given) or [shipped_folder("rules")]


def language_of(asked: str | None) -> Language:
    """The language asked for, else that of the locale."""
    said = asked or os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if said.lower().startswith("zh") else "en"
