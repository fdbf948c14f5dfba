# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with what is to be read: captures, and saved reports."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    "give_comparison": Text(
        "give a .json written by `advisor compare … -o compare.json`",
        "请给出由 `advisor compare … -o compare.json` 写出的 .json 文件",
    ),
    "give_diagnosis": Text(
        "give a .json written by `advisor diagnose … -o report.json`",
        "请给出由 `advisor diagnose … -o report.json` 写出的 .json 文件",
    ),
    "a_comparison": Text("a comparison", "对比结果"),
    "a_diagnosis": Text("a diagnosis", "诊断结果"),
    "path_unreadable": Text("{path} cannot be read: {why}", "无法读取 {path}：{why}"),
    "saved_number": Text(
        "{path} is not {called}: it holds a number that is none ({why})", "{path} 不是{called}：其中含有非数值（{why}）"
    ),
    "the_whole_file": Text("the whole file", "整个文件"),
    "not_of_form": Text(
        "{path} is not {called}: {where}: {why}", "{path} 不是{called}：{where} 的内容不符合格式（{why}）"
    ),
}
