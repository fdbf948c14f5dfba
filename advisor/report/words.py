# SPDX-License-Identifier: Apache-2.0
"""Every fixed word a report says, in both languages, in one place."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Language, Text, TimesOf

_t = Text


class Wording:
    """Says fixed words by their names, with their holes filled; the first table that has a name counts."""

    def __init__(self, *tables: Mapping[str, Text]) -> None:
        self.words = {name: text for table in reversed(tables) for name, text in table.items()}

    def __call__(self, name: str, language: Language, times_of: TimesOf = "step", /, **values: object) -> str:
        """One of the words; `times_of` is what the times of the run are of."""
        return self.words[name].fill(language, times_of, **values)


_NO_SUM = _t(
    "Savings are estimates or upper bounds and do not add up; where two are close, the one with a ready-made remedy "
    "comes first.",
    "收益为估计值或上限，不可相加；两项接近时，有现成命令或代码的排在前面。",
)

WORDS: Mapping[str, Text] = {
    # the verdict
    "title": _t("What to fix first", "先改什么"),
    "report": _t("Profile diagnosis", "性能诊断报告"),
    "step_takes": _t("A step takes {time}: {parts}.", "单步耗时 {time}：{parts}。"),
    "window_takes": _t(
        "The captured window takes {time}: {parts}.",
        "采集窗口时长 {time}：{parts}。",
    ),
    "from_mark_to_mark": _t(" By the step marks of the program it is {time}.", "按程序中的 step 标记为 {time}。"),
    "step_only": _t("A step takes {time}.", "单步耗时 {time}。"),
    "window_only": _t("The captured window takes {time}.", "采集窗口时长 {time}。"),
    "work_takes": _t("The device works for {time} in all: {parts}.", "设备合计工作 {time}：{parts}。"),
    "work_only": _t("The device works for {time} in all.", "设备合计工作 {time}。"),
    "part": _t("{share} {name}", "{name} {share}"),
    "comma": _t(", ", "，"),
    "listed": _t(", ", "、"),
    "semicolon": _t("; ", "；"),
    "colon": _t(": ", "："),
    "full_stop": _t(".", "。"),
    "and_more": _t("… ({count} in all)", "……（共 {count}）"),
    "lead_fix": _t("Fix first", "首要问题"),
    "lead_look": _t("Known so far", "目前已知"),
    "lead_record": _t("Record again first", "请先重新采集"),
    "next_step": _t("Next", "下一步"),
    "same_time": _t("The same time also shows up as", "同一段时间还表现为"),
    "part_of": _t("Part of the time that shows up as", "属于以下现象的一部分时间"),
    "one_of_several": _t(
        "The folder holds more than one capture of a rank; this report covers {chosen}.",
        "目录中同一张卡有多份采集，本报告只针对 {chosen}。",
    ),
    "one_of_processes": _t(
        "Several processes that recorded at the same time have the same rank number; this report covers {chosen}.",
        "有多个同时采集的进程使用相同的 rank 编号，本报告只针对 {chosen}。",
    ),
    "not_read": _t("{count} {count|other was|others were} not read.", "另有 {count} 份未读取。"),
    "not_parsed": _t(
        "{count} {count|capture here is not parsed yet and was|captures here are not parsed yet and were} not read: "
        "parse {count|it|them} with the `analyse` of the profiler, a capture of msprof with `msprof --export=on`.",
        "另有 {count} 份采集尚未解析，未读取：请用采集所用 profiler 的 `analyse` 解析，"
        "msprof 的采集用 `msprof --export=on` 导出。",
    ),
    "inner_not_read": _t(
        "Not read because {count|it lies|they lie} inside the output of another capture: {inner_captures}.",
        "位于另一份采集的输出目录之内，未读取：{inner_captures}。",
    ),
    "not_parsed_names": _t("{count|It is|They are} {unparsed_names}.", "即 {unparsed_names}。"),
    "unexplained": _t(
        "The findings leave {share} of {the_step} unexplained, which shows up as: ",
        "另有占{the_step} {share} 的时间未能归因，表现为：",
    ),
    "read_with_care": _t("Read the numbers with care: ", "数字仅供参考："),
    "next_gain": _t("The next gain would be: ", "再往下可挖掘的是："),
    "let_pass": _t("The largest value that stayed within its threshold: ", "各规则测得但未超过阈值的，最大一项是："),
    "next_gain_wins": _t(" – {saving}.", "——{saving}。"),
    "next_operator": _t(
        "The longest operator is {name}, with {share} of {the_step}.",
        "耗时最长的算子是 {name}，占{the_step}的 {share}。",
    ),
    "held": _t(
        "{share} of the kernel time was held against what the chip can do; not: {rest}.",
        "kernel 时间中有 {share} 与芯片能力做了对比；未对比的有：{rest}。",
    ),
    "held_all": _t(
        "{share} of the kernel time was held against what the chip can do.",
        "kernel 时间中有 {share} 与芯片能力做了对比。",
    ),
    "hold_custom": _t(
        "What a custom kernel has to do follows from no shape: time it beside a library operator that computes the "
        "same on the same inputs.",
        "自定义算子的工作量无法由 shape 得知：请在相同输入下与功能相同的库算子对比耗时。",
    ),
    "hold_no_shapes": _t(
        "Record the shapes of operators, to hold them against the chip as well.",
        "请采集算子的 shape，以便与芯片能力对比。",
    ),
    "hold_short": _t(
        "Kernels this short are decided by their start-up: what helps is fewer of them, not quicker ones.",
        "这么短的算子由启动开销决定：有效的是减少个数，而不是让单个更快。",
    ),
    "hold_unknown_npu": _t(
        "Nothing names the chip: say which one it was with `--chip`, such as `--chip 910B3`, or as `chip` in "
        "advisor.yaml.",
        "采集数据未写明芯片型号：请用 `--chip`（如 `--chip 910B3`）或 advisor.yaml 中的 `chip` 指明。",
    ),
    "hold_unknown_gpu": _t(
        "What this GPU can do is not known: add it to `chips` in advisor.yaml, with the source of each number.",
        "该 GPU 的能力未知：请在 advisor.yaml 的 `chips` 中补充，并注明各数值的来源。",
    ),
    "held_in_run": _t("{share} of the kernel time; not: {rest}", "kernel 时间的 {share}；未对比的有：{rest}"),
    "held_in_run_all": _t("{share} of the kernel time", "kernel 时间的 {share}"),
    "held_against_chip": _t("Held against what the chip can do", "与芯片能力做了对比的"),
    "unheld_waits": _t("in kernels that wait for other ranks", "要等待其他卡的算子"),
    "unheld_ai_cpu": _t("on the AI CPU", "AI CPU 算子"),
    "unheld_custom": _t("in custom kernels", "自定义算子"),
    "unheld_short": _t("in kernels of 50 µs or less", "不超过 50 µs 的算子"),
    "unheld_no_shapes": _t("in kernels without recorded shapes", "未采集 shape 的算子"),
    "unheld_movement": _t("in copies and layout changes", "拷贝与排布转换"),
    "unheld_data_type": _t("in products of data types such as float32", "float32 等数据类型的矩阵乘"),
    "unheld_unknown_attention": _t("in attention whose operations are not known", "计算量未知的注意力"),
    "unheld_unknown_work": _t("in kernels whose work is not known", "工作量未知的算子"),
    "unheld_few_keys": _t("in attention over few keys", "key 较少的注意力"),
    "unheld_small_side": _t("in products and convolutions with a small side", "某一维较小的矩阵乘与卷积"),
    "unheld_fused": _t("in fused and weight-quantised products", "融合及权重量化的矩阵乘"),
    "unheld_other": _t("in others", "其他算子"),
    "nothing_found": _t(
        "Nothing needs fixing. Rules that found nothing wrong: {looked}.",
        "无需处理。检查通过的规则：{looked}。",
    ),
    "nothing_found_but": _t(
        "Nothing needs fixing in what was recorded. Rules that found nothing wrong: {looked}; not checked: {blind}.",
        "在已采集的内容中无需处理。检查通过的规则：{looked}；另有 {blind} 条未能检查。",
    ),
    "nothing_found_in_work": _t(
        "Nothing needs fixing in the work of the device, as far as it was recorded; what it waited for in between "
        "cannot be judged in this capture. Rules that found nothing wrong: {looked}; not checked: {blind}.",
        "就已采集的内容而言，设备上的任务本身无需处理；任务之间在等待什么，这份采集无法判断。"
        "检查通过的规则：{looked}；另有 {blind} 条未能检查。",
    ),
    "nothing_held": _t(
        "No rule found anything to fix, but whether the kernels could be quicker is not known: {held} of their "
        "time was held against what the chip can do. Rules that found nothing wrong: {looked}.",
        "没有规则发现需要处理的问题，但算子能否更快并不清楚：kernel 时间中仅有 {held} 与芯片能力做了对比。"
        "检查通过的规则：{looked}。",
    ),
    "nothing_held_but": _t(
        "No rule found anything to fix, but whether the kernels could be quicker is not known: {held} of their "
        "time was held against what the chip can do. Rules that found nothing wrong: {looked}; not checked: {blind}.",
        "没有规则发现需要处理的问题，但算子能否更快并不清楚：kernel 时间中仅有 {held} 与芯片能力做了对比。"
        "检查通过的规则：{looked}；另有 {blind} 条未能检查。",
    ),
    "nothing_held_in_work": _t(
        "No rule found anything to fix, but neither is it known whether the kernels could be quicker ({held} of their "
        "time was held against what the chip can do), nor what the device waited for in between. Rules that found "
        "nothing wrong: {looked}; not checked: {blind}.",
        "没有规则发现需要处理的问题，但算子能否更快并不清楚（kernel 时间中仅有 {held} 与芯片能力做了对比），"
        "任务之间在等待什么也无从判断。"
        "检查通过的规则：{looked}；另有 {blind} 条未能检查。",
    ),
    "nothing_found_in_little": _t(
        "Too little was recorded to say whether anything needs fixing: {blind} {blind|rule|rules} could not be "
        "checked. Rules that found nothing wrong: {looked}.",
        "采集内容太少，不足以判断是否有问题需要处理：{blind} 条规则未能检查。检查通过的规则：{looked}。",
    ),
    "nothing_checked": _t(
        "Nothing could be checked: this capture lacks what the rules need. This does not mean that all is well.",
        "无法做任何检查：采集数据缺少规则所需的内容。这不代表没有问题。",
    ),
    "asked_found_nothing": _t(
        "None of the rules asked for ({asked}) found anything that needs fixing; no other rule ran. Found nothing "
        "wrong: {looked}.",
        "指定的规则（{asked}）均未发现需要处理的问题，其他规则未参与检查。检查通过的规则：{looked}。",
    ),
    "asked_found_nothing_but": _t(
        "None of the rules asked for ({asked}) found anything that needs fixing; no other rule ran. Found nothing "
        "wrong: {looked}; not checked: {blind}.",
        "指定的规则（{asked}）均未发现需要处理的问题，其他规则未参与检查。"
        "检查通过的规则：{looked}；另有 {blind} 条未能检查。",
    ),
    "asked_found_trifles": _t(
        "What the rules asked for ({asked}) found is not worth acting on; no other rule ran.",
        "指定的规则（{asked}）发现的问题都不值得优先处理，其他规则未参与检查。",
    ),
    "asked_found_trifles_but": _t(
        "What the rules asked for ({asked}) found is not worth acting on; no other rule ran. Not checked: {blind}.",
        "指定的规则（{asked}）发现的问题都不值得优先处理，其他规则未参与检查；另有 {blind} 条未能检查。",
    ),
    "asked_checked_nothing": _t(
        "None of the rules asked for ({asked}) could check this capture, and no other rule ran. This does not mean "
        "that all is well.",
        "指定的规则（{asked}）均未能检查这份采集数据，其他规则也未参与检查。这不代表没有问题。",
    ),
    "counts": _t(
        "Rules: {total} · found something: {fired} · fine: {quiet} · not applicable: {na} · not checked: {blind}",
        "规则 {total} 条 · 发现问题 {fired} · 检查通过 {quiet} · 不适用 {na} · 未能检查 {blind}",
    ),
    "saves": _t("about {time} per step", "每步约可省 {time}"),
    "saves_in_all": _t("about {time}", "约可省 {time}"),
    "saves_at_most": _t("at most {time} per step", "每步至多可省 {time}"),
    "saves_at_most_in_all": _t("at most {time}", "至多可省 {time}"),
    "gain": _t("saving {saving}", "{saving}"),
    "about": _t("about", "约"),
    "at_most": _t("at most", "至多"),
    "noted": _t(" ({notes})", "（{notes}）"),
    "of_rank": _t("rank {rank}", "rank {rank}"),
    "worst_of": _t("worst of {count} ranks", "{count} 张卡中最严重"),
    "also_ranks": _t("also {ranks}", "{ranks} 也是"),
    "own_step": _t("whose step takes {time}", "该卡单步 {time}"),
    "own_window": _t("whose window takes {time}", "该卡窗口 {time}"),
    "own_work": _t("whose device works for {time}", "该卡设备工作 {time}"),
    "uneven": _t(
        "{time} (mean of {ranks} ranks; rank {rank} is the slowest, with {slowest})",
        "{time}（{ranks} 张卡的均值，rank {rank} 最慢，{slowest}）",
    ),
    "unlike_steps": _t("{time} (mean; {usual} is usual)", "{time}（均值，多数 step 为 {usual}）"),
    "no_saving": _t("saving not estimated", "未估算收益"),
    "wins_nothing": _t("no gain expected", "预计无收益"),
    "others_last": _t("no gain expected: another rank is the last to finish", "预计无收益：整体进度由其他卡决定"),
    # the time split
    "time_split": _t("Where the time goes", "时间去向"),
    "compute": _t("compute", "计算"),
    "comm": _t("exposed communication", "未掩盖通信"),
    "idle": _t("idle", "空闲"),
    "hidden_note": _t("{time} of communication hidden behind it", "其中掩盖了 {time} 的通信"),
    "exchange_note": _t(
        "{time} in kernels that exchange with other ranks and wait for them",
        "其中 {time} 为与其他卡交换数据的算子，含等待",
    ),
    "inside_wait_note": _t(
        "{time} of it waiting for other ranks inside kernels that also compute",
        "其中 {time} 为通算融合算子内部等待其他卡",
    ),
    "copy_note": _t("memory copies {time}", "内存拷贝 {time}"),
    "wait_note": _t("event waits {time}", "等待事件 {time}"),
    "no_split": _t("The capture does not say where the time goes.", "采集数据未包含时间拆解信息。"),
    # findings
    "findings": _t("Findings", "问题列表"),
    "details": _t("Findings in detail", "问题详情"),
    "rank_by": _t(
        f"Ordered by what can be won (uncertain upper bounds count half), causes before what they explain; symptoms "
        f"are under their causes (1.1 under 1). {_NO_SUM.en}",
        f"按可省时间排序（不确定的上限按一半计），成因排在其影响之前；现象列在其成因之下（1.1 属于 1）。{_NO_SUM.zh}",
    ),
    "no_sum": _NO_SUM,
    "saving": _t("Saving", "收益"),
    "severity": _t("Severity", "严重程度"),
    "confidence": _t("Confidence", "置信度"),
    "category": _t("Category", "类别"),
    "finding": _t("Finding", "问题"),
    "first_fix": _t("First step", "第一步"),
    "evidence": _t("Evidence", "证据"),
    "evidence_at": _t("at the worst place", "取自最严重处"),
    "measure": _t("Measure", "指标"),
    "value": _t("Value", "数值"),
    "threshold": _t("Threshold", "阈值"),
    "short_of": _t(" (threshold {threshold})", "（阈值 {threshold}）"),
    "short_of_less": _t(" (reported only below {threshold})", "（低于 {threshold} 才报告）"),
    "basis": _t("Why this threshold", "阈值依据"),
    "excerpt": _t("The rows behind it", "明细"),
    "rows_of": _t("{shown} of {total} rows", "{total} 行中的 {shown} 行"),
    "rows_all": _t("{total} {total|row|rows}", "共 {total} 行"),
    "since_start": _t("times count from the start of the capture", "时间从采集开始算起"),
    "seen_at": _t("Where", "位置"),
    "more_places": _t("and {count} more", "另有 {count} 处"),
    "one_of_places": _t("{place}, one of {count} places", "{place}，共 {count} 处"),
    "in_modules": _t("In the model", "所在模块"),
    "place_in_model": _t("{share} of that time in {module}", "其耗时的 {share} 在 {module}"),
    "called_from": _t("Called from", "调用位置"),
    "whole_run": _t("the run as a whole", "整个运行"),
    "rank": _t("rank {items}", "rank {items}"),
    "ranks": _t("ranks {items}", "rank {items}"),
    "host": _t("host {items}", "主机 {items}"),
    "hosts": _t("hosts {items}", "主机 {items}"),
    "ranks_of_host": _t("{host}: ranks {ranks}", "{host}：rank {ranks}"),
    "ranks_on_host": _t("{ranks} ({host})", "{ranks}（{host}）"),
    "all_of_host": _t("all of {host}", "{host} 的全部卡"),
    "step": _t("step {items}", "step {items}"),
    "steps": _t("steps {items}", "step {items}"),
    "stage": _t("pipeline stage {items}", "流水线 stage {items}"),
    # when it happened
    "after_mark": _t("{time} after its mark", "标记后 {time}"),
    "before_mark": _t("{time} before its mark", "标记前 {time}"),
    "into_step": _t("{time} into the step", "开始后 {time}"),
    "at_start_of_step": _t("at the start of the step", "自该步开始"),
    "before_step": _t("{time} before the step", "开始前 {time}"),
    "into_timeline": _t("{time} into the recording", "采集开始后 {time}"),
    "lasting": _t("lasting {time}", "持续 {time}"),
    "worst": _t("Worst", "最严重"),
    "occurrences": _t("When: the worst moments", "何时发生：最严重的时刻"),
    "event_name": _t("Event", "事件"),
    "event_word": _t("event", "事件"),
    "step_word": _t("the whole step", "整个 step"),
    "step_phases_word": _t("the step with the interval before it", "step 及其前的间隔"),
    "window_word": _t("the whole window", "整个窗口"),
    "clock_word": _t("clock", "频率采样"),
    "aside": _t(" ({words})", "（{words}）"),
    "peak_word": _t("peak of {name}", "{name} 的峰值"),
    "pause_word": _t("pause", "停顿"),
    "after_step": _t("After {the_step} began", "距{the_step}开始"),
    "in_timeline": _t("After the first event of the rank", "距该卡首个事件"),
    "how_counted": _t(
        "time after the start of {the_step}, duration · time after the first event of the rank · start as recorded",
        "距{the_step}开始的时间、时长 · 距该卡首个事件的时间 · 记录的开始时间",
    ),
    "lasts": _t("Lasts", "时长"),
    "recorded_start": _t("Start as recorded, ns", "记录的开始时间（ns）"),
    "fix": _t("How to fix it", "如何修改"),
    "care": _t("Take care", "注意"),
    "takes": _t("It takes {what}, which is scarce here", "会占用{what}，而此处{what}已经紧张"),
    "watch": _t("To watch afterwards", "修改后关注"),
    "watch_bare_value": _t(" ({value} now)", "（当前 {value}）"),
    "watch_value": _t(" ({value} now, threshold {threshold})", "（当前 {value}，阈值 {threshold}）"),
    "assumes": _t("The saving assumes", "收益的前提"),
    "alone": _t(
        "The worst rank alone would finish {us} sooner; another rank then decides when the step ends.",
        "最严重的卡自身可提前 {us}，但之后整步由其他卡决定。",
    ),
    "rank_costs": _t("rank {rank} {us}", "rank {rank} {us}"),
    "each_costs": _t(
        "Cost by rank: {ranks}. Fixing rank {rank} alone would win {us}; rank {next} then decides when the step ends.",
        "各卡的影响：{ranks}。只修复 rank {rank} 可节省 {us}，之后整步由 rank {next} 决定。",
    ),
    "alike_cost": _t(
        "These ranks cost the step about the same: the saving needs all of them fixed.",
        "这些卡的影响相当，全部修复才有上述收益。",
    ),
    "references": _t("Read more", "参考资料"),
    "caused_by": _t("Caused by", "根因"),
    "caused_in_part_by": _t("Caused by, for a smaller part", "部分原因"),
    "doubted_by": _t("Less certain here", "置信度下调"),
    "see_findings": _t("see {count|finding|findings} ", "见问题 "),
    "finding_says": _t("Finding {number}: ", "问题 {number}："),
    "doubts": _t("Findings above are less certain because of these", "以下问题降低了上述结论的置信度"),
    "explains": _t("Shows up as", "表现为"),
    "overridden": _t("set by the project", "由项目配置指定"),
    "preview": _t("preview", "试行"),
    "deprecated": _t("deprecated", "已弃用"),
    "more_findings": _t("Further findings in short: {count}", "另有 {count} 个问题，简要列出"),
    "left_out": _t(
        "Findings left out here: {count}; the JSON output holds them all",
        "此处略去 {count} 个问题，完整列表见 JSON 输出",
    ),
    "copy": _t("Copy", "复制"),
    "copied": _t("Copied", "已复制"),
    "copy_of": _t("Copy the command", "复制命令"),
    # charts
    "charts": _t("Charts", "图表"),
    "chart_missing": _t(
        "Charts missing from this report, because they could not be drawn: {names}.",
        "以下图表绘制失败，未包含在本报告中：{names}。",
    ),
    # the run
    "run": _t("The run", "运行信息"),
    "run_name": _t("Capture", "采集目录"),
    "framework": _t("Framework", "框架"),
    "workload": _t("Kind of job", "任务类型"),
    "stack": _t("Software stack", "软件栈"),
    "job_training": _t("training", "训练"),
    "job_inference": _t("inference", "推理"),
    "job_prefill": _t("inference, processing prompts (prefill)", "推理（prefill）"),
    "job_decode": _t("inference, generating tokens (decode)", "推理（decode）"),
    "job_mixed": _t("inference, prompts and generated tokens (prefill and decode)", "推理（prefill 与 decode 混合）"),
    "job_rollout": _t("reinforcement learning, rollouts alone (inference)", "强化学习，仅含 rollout（推理）"),
    "job_update": _t("reinforcement learning, updates alone (training)", "强化学习，仅含更新阶段（训练）"),
    "job_RL": _t("reinforcement learning (rollouts and updates)", "强化学习（rollout 与更新）"),
    "seen_operator": _t("{value}: operator {name}", "{value}；依据：算子 {name}"),
    "seen_call": _t("{value}: call {name}", "{value}；依据：调用 {name}"),
    "seen_mark": _t("{value}: mark {name}", "{value}；依据：打点 {name}"),
    "seen_line": _t("{value}: line {name}", "{value}；依据：代码 {name}"),
    "seen_setting": _t("{value}: environment variable {name}", "{value}；依据：环境变量 {name}"),
    "seen_forward": _t(
        "{value}: whole steps with {name} and no backward pass", "{value}；依据：完整 step 中有 {name} 而无反向计算"
    ),
    "seen_framework": _t("{value}: the framework", "{value}；依据：所用框架"),
    "seen_layout": _t("{value}: it wrote the parallel sizes ({name})", "{value}；依据：由其写入的并行规模（{name}）"),
    "seen_told": _t("{value}, given by the user", "{value}（由用户指定）"),
    "chip": _t("Chip", "芯片"),
    "cann": _t("CANN", "CANN"),
    "torch_npu": _t("torch_npu", "torch_npu"),
    "level": _t("Profiler level", "采集级别"),
    "captured": _t("Ranks captured", "已采集 rank"),
    "captured_of": _t("{ranks} ({count} of {world})", "{ranks}（{world} 中的 {count} 个）"),
    "captured_all": _t("{ranks} ({count})", "{ranks}（{count} 个）"),
    "recorded_steps": _t("Steps recorded", "已采集 step"),
    "logic": _t("When it fires", "触发条件"),
    "doing_captures": _t("opening captures", "打开采集数据"),
    "doing_timeline": _t("reading the timeline", "读取时间线"),
    "doing_database": _t("reading the database", "读取数据库"),
    "doing_ranks": _t("reading and analysing ranks", "读取并分析各卡"),
    "doing_rules": _t("applying rules", "执行规则"),
    "ranks_done": _t("{done} of {total}", "{done}/{total}"),
    "worker_reads": _t(
        "{address}: at rank {rank} for {taken}, {done} done",
        "{address}：正在读 rank {rank}，已用 {taken}；已完成 {done} 个",
    ),
    "worker_is_idle": _t("{address}: nothing to do, {done} done", "{address}：空闲；已完成 {done} 个"),
    "more_workers": _t("and {count} more {count|worker|workers}", "另有 {count} 个 worker"),
    "ranks_rate": _t(
        "{done} of {total}, {rate} a second, about {left} left", "{done}/{total}，每秒 {rate} 个，约剩 {left}"
    ),
    "few_steps": _t(
        "{count} ({steps}) – too few to tell what recurs from what happened once; record five after a warm-up",
        "{count} 个（{steps}）；步数过少，难以区分常态与偶发，建议预热后采集 5 个 step",
    ),
    "enough_steps": _t("{count} ({steps})", "{count} 个（{steps}）"),
    "engine": _t("Engine steps, medians", "引擎 step（中位数）"),
    "engine_idle": _t("Idle around its start", "起始处设备空闲"),
    "engine_prefill": _t("processing prompts (prefill)", "prefill"),
    "engine_decode": _t("generating tokens (decode)", "decode"),
    "engine_mixed": _t("both (mixed)", "prefill 与 decode 混合"),
    "engine_unknown": _t("not known", "未知"),
    "engine_by_marks": _t("marks of the engine", "引擎的标记"),
    "engine_by_calls": _t("its function that runs a step", "引擎执行 step 的函数"),
    "engine_by_repetition": _t("an estimate: what repeats on the device", "估计：设备上的重复规律"),
    "no_steps": _t("none marked (prof.step() was not called)", "未标记（未调用 prof.step()）"),
    "unplaced_steps": _t(
        "{count} ({steps}); when they begin was not given, so times are those of the whole window",
        "{count} 个（{steps}）；未提供各步的起止时间，耗时按整段统计",
    ),
    "steps_of_model": _t("{steps}, each a run of the model", "{steps}，每步为一次模型执行"),
    "no_steps_in_database": _t(
        "none in the database, into which MindSpore writes no marks of steps",
        "数据库中没有（MindSpore 不把 step 标记写入数据库）",
    ),
    "no_steps_of_msprof": _t(
        "none marked (msprof marks those of whole graphs)", "未标记（msprof 仅标记整图执行的 step）"
    ),
    "parallel": _t("Parallel sizes", "并行规模"),
    "source": _t("Read from", "数据来源"),
    "activities": _t("Activities", "采集项"),
    "size": _t("Input size", "输入大小"),
    "notes": _t("Notes", "备注"),
    "untried": _t(
        "no real capture of this profiler was at hand: its files are read as its program writes them, so check what "
        "surprises you in the timeline",
        "尚无该 profiler 的真实采集可供验证，按其写出代码的格式读取；结论若与预期不符，请对照时间线核实",
    ),
    "incomplete": _t("Not stopped properly", "未正常结束采集"),
    "text": _t("text export", "文本导出"),
    "database": _t("database export", "数据库导出"),
    "text+database": _t("text and database exports", "文本与数据库导出"),
    "insight": _t("files for MindSpore Insight", "MindSpore Insight 文件"),
    "cluster": _t("cluster analysis output", "集群分析结果"),
    "made_by": _t("Made by advisor {version}", "由 advisor {version} 生成"),
    # what was looked at
    "rules_short": _t("Rules", "规则"),
    "all_rules": _t("Every rule and its outcome", "全部规则与结论"),
    "thresholds": _t("Further thresholds in force", "其他生效阈值"),
    "checked": _t("What was checked", "检查了什么"),
    "unchecked": _t("What was not checked, and how to record it", "未检查的内容与补采方法"),
    "summary_only": _t(
        "A cluster summary holds only step times and communication. Diagnose the folder with its captures "
        "(`*_ascend_pt`) before recording anything again: most of what is missing here is in them.",
        "集群分析结果只含 step 时间与通信数据。补采之前请先诊断各卡的采集目录（`*_ascend_pt`），"
        "此处缺少的内容大多在其中。",
    ),
    "raw_beside_only": _t(
        "These files sum up raw data that lies beside them in `PROF_*` folders. Diagnose one of those before recording "
        "anything again: single kernels and collectives are in it where msprof has exported it.",
        "这些文件由旁边 `PROF_*` 目录中的原始数据汇总而来。补采之前请先单独诊断其中一个："
        "若 msprof 已导出，逐个 kernel 与通信都在其中。",
    ),
    "unchecked_short": _t("Not checked", "未检查"),
    "record_more": _t("{rules} could not be checked", "{rules}未能检查"),
    "look_everywhere": _t("{rules} could not be checked, or not on every rank", "{rules}未能检查或未能检查全部卡"),
    "numbers": _t("Numbers", "数据"),
    "rule_count": _t("{count} {count|rule|rules}", "{count} 条规则"),
    "needs": _t("not recorded: {tables}", "未采集：{tables}"),
    "no_reason": _t("no reason given", "未给出原因"),
    "rule": _t("Rule", "规则"),
    "result": _t("Outcome", "结论"),
    "reason": _t("Reason", "原因"),
    "rows_lost_of": _t("{rows} of {total}", "{total} 处中的 {rows} 处"),
    "rows_lost_all": _t("all {total}", "全部 {total} 处"),
    "unread": _t("Input that could not be read", "未能读取的输入"),
    "file": _t("File", "文件"),
    "place": _t("Place", "位置"),
    "what": _t("What was wrong", "问题"),
    "rows": _t("Rows left out", "略去行数"),
    "more_unread": _t("Further entries in the JSON output: {count}", "另有 {count} 条见 JSON 输出"),
    "more_unread_short": _t("{count} more in the report (-o)", "另有 {count} 处，见报告（-o）"),
    "against": _t("Against the baseline", "与基线相比"),
    "written_to": _t("Report", "报告"),
    "written_tables": _t("Tables", "表格"),
    "more_in_report": _t("Further findings in the report: {count}", "报告中另有 {count} 个问题"),
    "more_of_all": _t("Further findings: {count}", "另有 {count} 个问题"),
    "more_findings_short": _t(
        "Further findings: {count}; write a report with -o", "另有 {count} 个问题，用 -o 输出完整报告"
    ),
    # controls
    "search": _t("Search findings", "搜索问题"),
    "no_match": _t("No finding matches.", "没有匹配的问题。"),
    "theme": _t("Light or dark", "切换深浅色"),
    "keys": _t("search, next and previous finding", "搜索、下一个与上一个问题"),
    "skip": _t("Skip to the findings", "跳到问题列表"),
    "contents": _t("Contents", "目录"),
}

NOTES: Mapping[str, Text] = {
    "other_captures": _t("older captures of the same ranks, not used: {value}", "同一张卡的 {value} 份较早采集未使用"),
    "at_once_captures": _t(
        "recorded at the same time by other processes: {value}", "其中 {value} 份由其他进程同时采集"
    ),
    "chosen": _t("read in their place: {value}", "实际读取：{value}"),
    "msprof_captures": _t(
        "msprof captures, not used because the framework's profiler recorded too: {value}",
        "另有 {value} 份 msprof 采集未使用，以框架 profiler 的采集为准",
    ),
    "job_sizes": _t(
        "ranks disagree on how many the job has: {value}; these may be several jobs",
        "各卡记录的任务总卡数不一致：{value}，可能来自不同任务",
    ),
    "cann_versions": _t("ranks differ in their version of CANN: {value}", "各卡的 CANN 版本不一致：{value}"),
    "torch_npu_versions": _t(
        "ranks differ in their version of torch_npu: {value}", "各卡的 torch_npu 版本不一致：{value}"
    ),
    "ranks_by_order": _t(
        "not every file names its rank: captures without are numbered by the order of their names; give "
        "`profiler_info_*.json` too",
        "部分采集的文件未写明 rank，按名称顺序编号；请一并提供 `profiler_info_*.json`",
    ),
    "traces_by_order": _t(
        "no trace names its rank: processes are numbered by the order of their names; call `init_process_group` before "
        "the profiler starts, or write `rank_N` into the names",
        "trace 未写明 rank，各进程按名称顺序编号；请在 profiler 启动前调用 `init_process_group`，"
        "或在文件名中写明 `rank_N`",
    ),
    "other_device": _t(
        "recorded on a device that PyTorch calls {value}: write that where code in the remedies says `cuda`",
        "采集自 PyTorch 中名为 {value} 的设备：处理方法的代码中写作 `cuda` 之处，请换成该名称",
    ),
    "unparsed_captures": _t(
        "captures not parsed yet, not used: {value}; parse them with `analyse` of the profiler that recorded them",
        "{value} 份采集尚未解析，未使用；可用采集所用 profiler 的 `analyse` 解析",
    ),
    "unparsed_names": _t("these are {value}", "即 {value}"),
    "inner_captures": _t(
        "not read because they lie inside the output of another capture: {value}; to have them read, give them alone",
        "位于另一份采集的输出目录之内，未读取：{value}；如需读取，请单独给出",
    ),
    "unreadable_folders": _t("folders that could not be opened: {value}", "{value} 个目录无法打开"),
    "cluster_summary": _t(
        "there is a `cluster_analysis_output` beside the captures", "采集数据旁有 `cluster_analysis_output`"
    ),
    "raw_beside": _t(
        "{value} `PROF_*` folders with the raw data of these files lie beside them; to have one read, give that folder",
        "这些文件旁有 {value} 个 `PROF_*` 原始数据目录（文件由其汇总而来）；如需读取，请单独给出其中一个",
    ),
    "source": _t("made from `{value}`", "由 `{value}` 得到"),
    "told_chip": _t(
        "chip given by `--chip` or the settings, because the capture does not name it: {value}",
        "采集数据未写明具体芯片型号，按 `--chip` 或配置文件：{value}",
    ),
    "own_chip": _t(
        "chip specifications from the settings: {value}",
        "芯片参数取自配置文件：{value}",
    ),
    "untold_chip": _t(
        "the chip was given as {value}, but the capture names another one, which is used",
        "`--chip` 或配置文件给出的 {value} 与采集数据中的芯片型号不符，以采集数据为准",
    ),
}
"""How the input was chosen: what the notes of a run say."""

SEVERITIES: Mapping[str, Text] = {
    "critical": _t("critical", "严重"),
    "high": _t("high", "高"),
    "medium": _t("medium", "中"),
    "low": _t("low", "低"),
    "info": _t("info", "提示"),
}

RESOURCES: Mapping[str, Text] = {
    "device_memory": _t("device memory", "显存"),
    "host_memory": _t("host memory", "主机内存"),
    "processors": _t("host CPU time", "主机 CPU"),
    "launching": _t("time on the threads that launch kernels", "下发线程的时间"),
}
"""What steps of remedies may take more of, by how rules name it."""

CONFIDENCES: Mapping[str, Text] = {
    "high": _t("high", "高"),
    "medium": _t("medium", "中"),
    "low": _t("low", "低"),
}

CATEGORIES: Mapping[str, Text] = {
    "capture": _t("capture quality", "采集质量"),
    "host": _t("host", "Host 侧"),
    "compute": _t("compute", "计算"),
    "comm": _t("communication", "通信"),
    "ranks": _t("ranks", "快慢卡"),
    "pipeline": _t("pipeline", "流水线并行"),
    "memory": _t("memory", "内存"),
    "io": _t("input data", "数据加载"),
    "env": _t("environment", "环境配置"),
}

OUTCOMES: Mapping[str, Text] = {
    "fired": _t("found", "发现问题"),
    "quiet": _t("checked, nothing wrong", "检查通过"),
    "not applicable": _t("does not apply", "不适用"),
    "skipped": _t("not checked", "未检查"),
    "failed": _t("the rule itself failed", "规则执行出错"),
}

say = Wording(WORDS)


def say_aside(words: str, language: Language) -> str:
    """Words in the brackets of the language, set off from what stands before."""
    return say("aside", language, words=words)


def say_row_count(shown: int, total: int, language: Language) -> str:
    """How many rows there are, and how many of them are shown where these are fewer, in brackets."""
    name = "rows_of" if shown < total else "rows_all"
    return say_aside(say(name, language, shown=f"{shown:,}", total=f"{total:,}"), language)


def say_rule_count(count: int, language: Language) -> str:
    """How many rules."""
    return say("rule_count", language, count=count)


def word_for(table: Mapping[str, Text], key: str, language: Language, times_of: TimesOf = "step") -> str | None:
    """The word for a value out of a fixed set; None for one that is not in it."""
    return table[key].say(language, of=times_of) if key in table else None
