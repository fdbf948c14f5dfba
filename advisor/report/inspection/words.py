# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of an inspection, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    "inspection": _t("What was captured", "采集内容检查"),
    "can_look": _t("{can} of {of} rules can be checked.", "{of} 条规则中有 {can} 条可以检查。"),
    "cannot_look": _t("{blind} cannot, {other} do not apply to this run.", "{blind} 条缺少数据，{other} 条不适用。"),
    "all_there": _t("Every table that rules read was recorded.", "规则读取的数据表均已采集。"),
    "not_in_one": _t(
        "Not recorded, and not added by switching more on in the same recording: {tables}.",
        "未采集，且无法在同一次采集中靠加开开关得到：{tables}。",
    ),
    "nothing_here": _t("Nothing here can be diagnosed", "此处没有可诊断的数据"),
    "do": _t("What to do", "处理方法"),
    "record": _t("Record the rest", "补采配置"),
    "record_anew": _t("To record again", "重新采集的配置"),
    "one_configuration": _t(
        "One configuration for {recorder}: it keeps what was on and adds what the rules lack.",
        "以下完整配置适用于 {recorder}：保留原有开关，并补上规则所缺的内容。",
    ),
    "begin_with": _t("For {recorder}, covering what most rules read:", "适用于 {recorder}，覆盖大多数规则所需内容："),
    "option": _t("Option", "开关"),
    "records": _t("Records", "采集内容"),
    "asked_by": _t("Rules that ask for it", "需要它的规则"),
    "beside": _t("What more recordings, or other means, would add", "需另行采集或通过其他方式补充的内容"),
    "ranks": _t("Ranks", "Rank"),
    "stand_for": _t(
        "Ranks that were captured alike share a row; the ranks under “Read” stand for all of them.",
        "采集方式相同的卡合为一行；“已读取”列出的卡代表整行。",
    ),
    "read": _t("Read", "已读取"),
    "recorded": _t("Recorded", "采集内容"),
    "bytes": _t("Size", "大小"),
    "files": _t("Files", "文件"),
    "files_of": _t(
        "Files of rank {rank}: {read} read, {left} not", "rank {rank} 的文件：读取 {read} 个，未读取 {left} 个"
    ),
    "files_here": _t("Contents of the folder", "目录内容"),
    "used": _t("Read?", "是否读取"),
    "unused_": _t("read", "读取"),
    "unused_not looked into": _t("not opened: raw data, logs", "未查看（原始数据、日志等）"),
    "unused_folder": _t("folder", "目录"),
    "unused_packed": _t("not read: packed", "未读取：压缩文件"),
    "unused_left aside": _t(
        "not used: another capture of the rank counts, or it tells nothing on its own",
        "未使用：同一张卡另有采集，或单凭该文件无法诊断",
    ),
    "unused_refused": _t("not used, for the reason above", "未使用，原因见上文"),
    "unused_of no use": _t("known and not read: {why}", "已知但不读取：{why}"),
    "unused_no part": _t("holds nothing that is read", "不含所读取的数据"),
    "unused_cannot be opened": _t("cannot be opened", "无法打开"),
    "unused_not listed": _t("further names", "其余文件"),
    "found": _t("What was recognised", "识别结果"),
    "found_beside": _t("Also here", "此外还有"),
    "folder": _t("Folder", "目录"),
    "is": _t("What it is", "类型"),
    "whole_input": _t("the input itself", "输入本身"),
    "kind_capture": _t("capture ({family})", "采集数据（{family}）"),
    "kind_summary": _t("cluster summary", "集群分析结果"),
    "kind_unparsed": _t("recorded, not parsed yet", "已采集，尚未解析"),
    "kind_foreign": _t("output of a tool that is not supported ({tool})", "暂不支持的工具输出（{tool}）"),
    "kind_hollow": _t("output without result files", "无结果文件的输出目录"),
    "facts": _t("Tables", "数据表"),
    "counted": _t(
        "Rows of the ranks that were read: {ranks}. They were counted, not estimated.",
        "以下为已读取的卡（{ranks}）的行数，均为实际读取结果，并非估算。",
    ),
    "table": _t("Table", "表"),
    "rows": _t("Rows", "行数"),
    "users": _t("Rules that use it", "使用它的规则"),
    "without": _t("Without a value, or why missing", "无值的列，或缺失原因"),
    "there": _t("Present", "已有"),
    "missing": _t("Missing", "缺少"),
    "rules_that_can": _t("Rules that can be checked", "可以检查的规则"),
    "rules_beside": _t("Rules that do not apply to this run", "不适用的规则"),
    "rules_blind": _t("Rules that cannot be checked, and why", "无法检查的规则及原因"),
    "switch_stack": _t("stacks", "调用栈"),
    "switch_memory": _t("memory", "显存"),
    "switch_shapes": _t("shapes", "shape"),
    "without_switches": _t("without {switches}", "未开启{switches}"),
    "unknown": _t("not recorded", "未记录"),
    "more_with_o": _t("Every file, table and rule: write a report with -o", "全部文件、数据表与规则：用 -o 输出报告"),
    "trace": _t("GPU trace", "GPU trace"),
}

RECORDERS: Mapping[str, Text] = {
    "torch_npu": _t("the Ascend PyTorch Profiler (torch_npu)", "Ascend PyTorch Profiler（torch_npu）"),
    "mindspore": _t("the MindSpore Profiler", "MindSpore Profiler"),
    "msprof": _t("msprof", "msprof"),
    "atb": _t("ATB-Models and MindIE", "ATB-Models 与 MindIE"),
    "vllm": _t("a vLLM server", "vLLM 服务"),
    "sglang": _t("an SGLang server", "SGLang 服务"),
    "verl": _t("verl", "verl"),
    "verl-gpu": _t("verl on GPUs", "verl（GPU）"),
    "torch.profiler": _t("the PyTorch profiler on GPUs", "PyTorch profiler（GPU）"),
}

say = Wording(WORDS, OF_REPORTS)
"""The words of an inspection, else those that all reports share."""
