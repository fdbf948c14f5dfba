# SPDX-License-Identifier: Apache-2.0
"""`advisor render`: write a report again from a saved .json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.arguments import finding_options, language_option, named_path, output_options
from advisor.commands.handing import chart_renderer, hand_out
from advisor.commands.settings import settings_of

if TYPE_CHECKING:
    import argparse


def words(one: argparse.ArgumentParser) -> None:
    """What the command understands."""
    one.add_argument("path", type=named_path, help="a .json written by diagnose")
    output_options(one)
    language_option(one)
    finding_options(one)
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads a diagnosis and writes it."""
    from pydantic import ValidationError

    from advisor.damage import because
    from advisor.errors import Both, InputError
    from advisor.findings import Diagnosis
    from advisor.report import check_outputs

    settings_of(arguments)
    outputs = check_outputs(arguments.output, arguments.path)
    with chart_renderer(outputs) as charts:
        try:
            diagnosis = Diagnosis.model_validate_json(arguments.path.read_bytes())
        except OSError as error:
            why = because(error)
            raise InputError(
                Both(f"{arguments.path} cannot be read: {why.en}", f"无法读取 {arguments.path}：{why.zh}"),
                Both("give the .json of a diagnosis", "请给出诊断输出的 .json 文件"),
            ) from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(
                Both(
                    f"{arguments.path} is not a diagnosis: {where or 'the whole file'}: {first['msg']}",
                    f"{arguments.path} 不是诊断结果：{where or '整个文件'} 的内容不符合格式",
                ),
                Both(
                    "give a .json written by `advisor diagnose … -o report.json`",
                    "请给出由 `advisor diagnose … -o report.json` 写出的 .json 文件",
                ),
            ) from error
        return hand_out(diagnosis, arguments, outputs, charts)
