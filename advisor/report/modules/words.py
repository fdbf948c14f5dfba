# SPDX-License-Identifier: Apache-2.0
"""Every fixed word about the modules of a model, in both languages, and the code that marks them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

from advisor.messages.text import Language, Text, fill_holes
from advisor.report.columns import COLUMNS
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    "modules": _t("Where in the model the time goes", "模型结构耗时"),
    "sheet": _t("Modules of the model", "模型结构耗时"),
    "inside": _t(
        "Of the kernel time of {the_step} of rank {rank}, {inside} belongs to modules.",
        "rank {rank} {the_step}的算子时间中，{inside} 属于模块。",
    ),
    "leading": _t(
        "The largest part: `{module}` takes {share} of {the_step}.",
        "最集中处：`{module}` 占{the_step}的 {share}。",
    ),
    "leading_kernels": _t(
        "The largest part: `{module}` takes {share} of the kernel time.",
        "最集中处：`{module}` 占算子时间的 {share}。",
    ),
    "source_mark": _t("{ranges} marked {ranges|call|calls}", "打点标记的模块调用 {ranges} 次"),
    "source_python": _t("{ranges} {ranges|call|calls} on the Python stack", "Python 调用栈中的模块调用 {ranges} 次"),
    "linked": _t(
        "of the kernel time of the whole recording, {share} traced to a call of the host",
        "整个采集过程的算子时间中，{share} 可追溯到 host 调用",
    ),
    "crossing": _t(
        "{count} {count|call begins inside another call and ends after it; it is|calls begin inside another call and "
        "end after it; they are} left out",
        "{count} 次调用在另一次调用内开始、在其后结束，已忽略",
    ),
    "no_backward": _t(
        "The backward pass is not linked to the forward pass in this capture: its kernels count outside of modules.",
        "采集数据中没有前向与反向的关联，反向算子计入模块之外。",
    ),
    "unmarked": _t("No modules are known for {ranks}.", "{ranks} 没有模块信息。"),
    "tree": _t("Modules of rank {rank}", "rank {rank} 的模块"),
    "shares": _t(
        "Times {per_step}, shares of {the_step}. `*` stands for the numbers of modules that were merged.",
        "时间为{per_step}耗时，占比为占{the_step}的比例；`*` 表示合并了编号不同的模块。",
    ),
    "shares_kernels": _t(
        "Times {per_step}, shares of the kernel time. `*` stands for the numbers of modules that were merged.",
        "时间为{per_step}耗时，占比为占算子时间的比例；`*` 表示合并了编号不同的模块。",
    ),
    "time": _t("Kernel time", "算子时间"),
    "own": _t("Own", "自身"),
    "forward": _t("Forward", "前向"),
    "backward": _t("Backward", "反向"),
    "recompute": _t("Recomputed", "重计算"),
    "comm": _t("Collectives", "集合通信"),
    "kernels": _t("Kernels", "kernel 数"),
    "outside": _t("elsewhere", "模块之外"),
    "operators": _t("Operators in the order of their calls", "按调用顺序的算子"),
    "operator": _t("Operator", "框架算子"),
    "launched": _t("Kernels on the device", "device 侧 kernel"),
    "phase": _t("Pass", "阶段"),
    "total": _t("Total", "总耗时"),
    "mean": _t("Mean", "平均耗时"),
    "rows_left": _t(
        "{count} more in the spreadsheet, the CSV and the database.", "另有 {count} 行，见 xlsx、csv 与 db 输出。"
    ),
    "more_with_o": _t(
        "Operators and their kernels: write a report with -o (.html, .md, .xlsx, .csv, .db)",
        "算子与 kernel 明细：用 -o 输出报告（.html、.md、.xlsx、.csv、.db）",
    ),
    "nothing": _t("No modules are known in this capture", "采集数据中没有模块信息"),
    "how": _t(
        "Kernels can be assigned to modules only where module calls were recorded, along with framework operators.",
        "只有采集了模块调用与框架算子，才能把 kernel 归到模块。",
    ),
    "two_ways": _t("There are two ways to record them.", "有以下两种方法。"),
    "how_mark": _t(
        "Mark the modules that matter, which costs little: name the classes of your model. The marks are read from the "
        "database and from the timeline.",
        "只标记关注的模块，开销小：在集合中列出模型中的类名。标记会从 db 与 timeline 中读取。",
    ),
    "how_attention": _t(
        "Where the model calls fused attention, mark its arguments too: what a mask leaves out and how long packed "
        "sequences are decides its MFU, and shapes do not tell it.",
        "若模型使用融合注意力，还需标记其入参：掩码跳过的部分与变长序列的长度决定 MFU，而 shape 中没有这些信息。",
    ),
    "attention": _t("MFU of attention", "注意力的 MFU"),
    "attention_unmarked": _t(
        "The MFU of attention is not known: no mark tells what its masks leave out. This code marks it:",
        "注意力的 MFU 未知：没有打点说明掩码跳过的部分。打点代码如下：",
    ),
    "attention_unmarked_short": _t(
        "The MFU of attention is not known: no mark tells what its masks leave out. The report (-o) shows the code "
        "that marks it.",
        "注意力的 MFU 未知：没有打点说明掩码跳过的部分。打点代码见 -o 输出的报告。",
    ),
    "how_stack": _t(
        "Record Python calls with `with_stack=True`: nothing in the program changes, but the host becomes slower.",
        "用 `with_stack=True` 采集 Python 调用：无需改代码，但会拖慢 host。",
    ),
    "or_stack": _t(
        "Or record Python calls with `with_stack=True`: nothing in the program changes, but the host becomes slower.",
        "或用 `with_stack=True` 采集 Python 调用：无需改代码，但会拖慢 host。",
    ),
    "modules_left": _t(
        "Modules that are deeper or take less than {share} of the kernel time, listed only in the report (-o): {count}",
        "层级更深或占算子时间不足 {share} 的模块未在此列出，见 -o 输出的报告：{count} 个",
    ),
    "ranks_left": _t("Ranks that are not shown here: {count}", "未在此列出的卡：{count} 张"),
    "how_mindspore": _t(
        "Mark the cells that matter (PyNative mode, MindSpore 2.7 and newer): name the classes of your model. The "
        "marks are read from the timeline: no database of MindSpore tells which thread passed an operator on.",
        "在动态图（PyNative）模式下标记关注的 Cell（MindSpore 2.7 及以上）：在集合中列出模型中的类名。标记从 timeline "
        "中读取：MindSpore 的 db 不记录算子由哪个线程转交而来。",
    ),
    "how_mindspore_graph": _t(
        "In graph mode cells are compiled and cannot be marked; there the name of an operator tells its cells.",
        "图模式下 Cell 已被编译，无法打点；算子名中已含所属的 Cell。",
    ),
    "how_msprof": _t(
        "msprof records neither framework operators nor Python calls: use the framework's own profiler.",
        "msprof 不采集框架算子与 Python 调用，请使用框架自带的 profiler。",
    ),
}
_COMMENTS: Mapping[str, Text] = {
    "your_classes": _t("classes of your model", "模型中的类"),
    "older_option": _t("older versions: msprof_tx=True", "旧版本：msprof_tx=True"),
    "before_imports": _t("before other code imports these functions by name", "须在其他代码按名称导入这些函数之前执行"),
    "mark_is_full": _t("a mark holds no more: without the lengths", "超出打点长度上限：不带序列长度"),
}
"""What stands in comments of the code that marks."""
Marking = Literal["modules_of_pytorch", "modules_of_mindspore", "attention"]
"""Code that marks the calls of modules, or the arguments of fused attention; each is a file of the folder `markings`.

Older versions of MindSpore know no domains of marks:
<https://www.mindspore.cn/docs/en/r2.7.1/api_python/mindspore/mindspore.profiler.mstx.html>.
"""


def marking_code(name: Marking, language: Language) -> str:
    """The code, its comments in the language of the reader."""
    written = files(__package__).joinpath("markings", f"{name}.txt").read_text("utf-8")
    return fill_holes(written, _COMMENTS, language)


say = Wording(WORDS, OF_REPORTS, COLUMNS)
"""These words, else those that all reports share, else those of columns."""
