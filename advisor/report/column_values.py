# SPDX-License-Identifier: Apache-2.0
"""What the values of a column are called, where they are out of a fixed set and no names of the profile."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Language, Text
from advisor.report.words import CAUSES, DAMAGE_KINDS, RECORDED, SIGNS, word_for

_t = Text

VALUES: Mapping[str, Mapping[str, Text]] = {
    "cause": CAUSES,
    "kind": {
        **DAMAGE_KINDS,
        "operator": _t("operator", "框架算子"),
        "optimizer": _t("optimizer", "优化器"),
        "data_loader": _t("data loader", "数据加载"),
        "enqueue": _t("enqueue", "入队"),
        "dequeue": _t("dequeue", "出队"),
        "api": _t("api", "编程接口"),
        "launch": _t("launch", "算子下发"),
        "graph": _t("graph", "图执行"),
        "communicate": _t("communicate", "通信"),
        "runtime": _t("runtime", "运行时"),
        "kernel": _t("kernel", "算子"),
        "comm": _t("collective", "通信"),
        "copy": _t("copy", "拷贝"),
    },
    "of": RECORDED,
    "by": {**RECORDED, **SIGNS},
    "told_by": SIGNS,
    "bound": {"compute": _t("compute", "计算"), "memory": _t("memory", "访存")},
    "way": {
        "read": _t("read", "读"),
        "write": _t("write", "写"),
        "received": _t("received", "接收"),
        "sent": _t("sent", "发送"),
    },
    "direction": {
        "forward": _t("forward", "前向"),
        "backward": _t("backward", "反向"),
        "forward+backward": _t("forward+backward", "前向+反向"),
        "backward+forward": _t("backward+forward", "反向+前向"),
    },
}
"""By column: a word for each of its values."""


def value_word(value: str, column: str, language: Language) -> str | None:
    """What a value out of a fixed set is called; None for a name from the profile."""
    return word_for(VALUES.get(column, {}), value, language)
