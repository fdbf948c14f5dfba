# SPDX-License-Identifier: Apache-2.0
"""What a command was given: a capture to diagnose, or the .json of a diagnosis made before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from advisor.commands.settings import catalog_of, language_of

if TYPE_CHECKING:
    import argparse

    from pydantic import BaseModel

    from advisor.errors import Both
    from advisor.facts.profile import Profile
    from advisor.findings import Diagnosis
    from advisor.rules.catalog import Settings

Model = TypeVar("Model", bound="BaseModel")


def is_saved(path: Path) -> bool:
    """Whether this names the .json of a diagnosis, not a capture."""
    return path.suffix.lower() == ".json" and not path.is_dir()


def given_diagnosis(path: Path, arguments: argparse.Namespace, settings: Settings | None) -> Diagnosis:
    """The diagnosis at this path: read from its .json, or made from the capture.

    Raises:
        InputError: Nothing there can be read.
    """
    return saved_diagnosis(path) if is_saved(path) else given(path, arguments, settings)[0]


def given(path: Path, arguments: argparse.Namespace, settings: Settings | None) -> tuple[Diagnosis, Profile]:
    """The diagnosis of the capture at this path, and its tables.

    Raises:
        InputError: Nothing there can be read.
    """
    from advisor.diagnosis import diagnose, open_profile
    from advisor.report.bar import Bar

    with Bar(language_of(arguments.lang)) as bar:
        profile = open_profile(path, jobs=arguments.jobs, progress=bar)
        return diagnose(profile, catalog_of(arguments.rules, settings), bar), profile


def saved_diagnosis(path: Path) -> Diagnosis:
    """The diagnosis in a .json file.

    Raises:
        InputError: There is none; the message says what is wrong with the file.
    """
    from advisor.errors import Both
    from advisor.findings import Diagnosis

    remedy = Both(
        "give a .json written by `advisor diagnose … -o report.json`",
        "请给出由 `advisor diagnose … -o report.json` 写出的 .json 文件",
    )
    return saved(path, Diagnosis, Both("a diagnosis", "诊断结果"), remedy)


def saved(path: Path, model: type[Model], called: Both, remedy: Both) -> Model:
    """What a .json file holds, as this model.

    Raises:
        InputError: It cannot be read or holds something else; the message says what is wrong with the file.
    """
    from pydantic import ValidationError

    from advisor.damage import because
    from advisor.errors import Both, InputError

    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        why = because(error)
        trouble = Both(f"{path} cannot be read: {why.en}", f"无法读取 {path}：{why.zh}")
        raise InputError(trouble, remedy) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            Both(
                f"{path} is not {called.en}: {where or 'the whole file'}: {first['msg']}",
                f"{path} 不是{called.zh}：{where or '整个文件'} 的内容不符合格式",
            ),
            remedy,
        ) from error
