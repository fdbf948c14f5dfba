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
    "an_explanation": Text("an explanation", "解释结果"),
    "an_inspection": Text("an inspection", "采集内容清单"),
    "a_verification": Text("a verification", "验证结果"),
    "a_manifest": Text("the manifest of a store of facts", "事实库的清单文件"),
    "of_other_kind": Text("{path} is {kind}, and {called} is wanted here", "{path} 是{kind}，此处需要{called}"),
    "of_other_version": Text(
        "{path} was written by another version of advisor: its format is `{format}`, and this version reads `{known}`",
        "{path} 由其他版本的 advisor 写出：其格式为 `{format}`，当前版本只能读取 `{known}`",
    ),
    "use_that_version": Text(
        "use the version that wrote it, or write it again with this one", "请使用写出它的版本，或用当前版本重新生成"
    ),
    "of_somebody_else": Text(
        "{path} is not {called}: advisor did not write it as one", "{path} 不是{called}：并非由 advisor 写出"
    ),
    "path_unreadable": Text("{path} cannot be read: {why}", "无法读取 {path}：{why}"),
    "saved_number": Text(
        "{path} is not {called}: it holds a number that is none ({why})", "{path} 不是{called}：其中含有非数值（{why}）"
    ),
    "of_other_release": Text(
        "{path} was written by advisor {wrote}, and this is {own}, which cannot read it: {why}",
        "{path} 由 advisor {wrote} 写出，当前版本 {own} 无法读取：{why}",
    ),
    "not_of_form": Text("{path} is not {called}: {why}", "{path} 不是{called}：{why}"),
    "saved_file_is_empty": Text("the file is empty", "文件为空"),
    "json_ends_early": Text(
        "it is cut off: the JSON ends too early, in line {line}", "文件不完整：JSON 在第 {line} 行提前结束"
    ),
    "no_json_from": Text("no JSON from line {line}, column {column} on", "第 {line} 行第 {column} 列起不是合法的 JSON"),
    "is_of_other_form": Text(
        "`{name}` does not hold what advisor writes there", "`{name}` 的内容与 advisor 写出的格式不符"
    ),
    "several_stores": Text("{path} holds several stores of facts", "{path} 中有多个事实库"),
    "no_store": Text("{path} is no manifest of a store of facts: {why}", "{path} 不是事实库的清单文件：{why}"),
    "other_store_format": Text(
        "its format is `{format}`, and this version reads `{known}`", "其格式为 `{format}`，当前版本只能读取 `{known}`"
    ),
    "write_facts_again": Text(
        "write the facts of the capture again: `advisor facts ./prof -o facts/`",
        "请重新导出采集数据的事实：`advisor facts ./prof -o facts/`",
    ),
    "other_row_count": Text("holds {rows} {rows|row|rows} and not {told}", "实有 {rows} 行，应为 {told} 行"),
    "details_alone": Text(
        "{name} holds {files} alone, which tells nothing without the kernels or the timeline of the same capture",
        "{name} 中只有 {files}，没有同一次采集的 kernel 明细或时间线，单独无法诊断",
    ),
    "give_list_of_kernels": Text(
        "give the whole export: kernels are read from `op_summary_*.csv` or from the timeline `msprof_*.json`",
        "请提供完整的导出目录：算子从 `op_summary_*.csv` 或时间线 `msprof_*.json` 读取",
    ),
    "give_whole_capture": Text(
        "give the whole folder of the capture, with `kernel_details.csv` and `trace_view.json`",
        "请给出完整的采集目录，其中应有 `kernel_details.csv` 与 `trace_view.json`",
    ),
    "headings_alone": Text(
        "{name} holds no measurement that can be read: no row follows the heading in {files}",
        "{name} 中没有可读取的性能数据：{files} 只有表头，没有数据行",
    ),
    "nothing_measured": Text("{name} holds no measurement that can be read", "{name} 中没有可读取的性能数据"),
    "not_exported": Text(
        "{path} holds raw data of msprof that has not been exported: it has no mindstudio_profiler_output",
        "{path} 是 msprof 采集的原始数据，尚未导出，缺少 mindstudio_profiler_output",
    ),
    "database_renamed": Text(
        "{path} holds no profile that can be read; {name} is not named as msprof names its databases",
        "{path} 中没有可读取的性能数据；{name} 的文件名不符合 msprof 数据库的命名规则",
    ),
    "give_the_database": Text(
        "msprof names them msprof_<14 digits>.db; if it wrote this one, give the file itself: {command}",
        "msprof 导出的数据库名为 msprof_<14 位数字>.db；如确由 msprof 导出，请直接指定该文件：{command}",
    ),
    "of_one_operator": Text(
        "{path} is what `msprof op` wrote of one operator: how busy its cores were, and nothing of a job around it",
        "{path} 是 `msprof op` 对单个算子的采集结果：只有各核的占用情况，没有算子所在任务的信息",
    ),
    "record_the_program": Text(
        "look at it in MindStudio Insight; to learn what the operator costs a program, record that one: "
        "msprof --output=./prof --ai-core=on --aic-metrics=PipeUtilization ./app",
        "请用 MindStudio Insight 查看；若要了解该算子在程序中的代价，请采集整个程序："
        "msprof --output=./prof --ai-core=on --aic-metrics=PipeUtilization ./app",
    ),
    "of_requests": Text(
        "{path} is what msServiceProfiler tells of the requests and batches of a server, and nothing of the device",
        "{path} 是 msServiceProfiler 对推理服务请求与 batch 的记录，没有 device 上的信息",
    ),
    "record_the_server": Text(
        "look at it in MindStudio Insight; to learn what the device does, give what the server's profiler records: "
        "*_ascend_pt of `vllm serve --profiler-config`, or PROF_* of msprof",
        "请用 MindStudio Insight 查看；若要了解 device 上的情况，请给出服务的 profiler 采集结果："
        "`vllm serve --profiler-config` 生成的 *_ascend_pt，或 msprof 的 PROF_*",
    ),
    "not_parsed": Text(
        "{path} holds raw profiling data that has not been parsed: it has no ASCEND_PROFILER_OUTPUT",
        "{path} 是尚未解析的原始采集数据，缺少 ASCEND_PROFILER_OUTPUT",
    ),
    "run_on_cann": Text("on a machine with CANN run: {command}", "请在安装了 CANN 的机器上执行：{command}"),
    "timeline_packed": Text("{path} is a timeline packed with gzip", "{path} 是用 gzip 压缩的时间线"),
    "unpack_first": Text("unpack it first: {command}", "请先解压：{command}"),
    "capture_without_output": Text(
        "{path} is a capture without its ASCEND_PROFILER_OUTPUT; it holds {names}",
        "{path} 是采集目录，但缺少 ASCEND_PROFILER_OUTPUT，只有 {names}",
    ),
    "output_without_results": Text(
        "{path} holds an ASCEND_PROFILER_OUTPUT without any file of results; it holds {names}",
        "{path} 的 ASCEND_PROFILER_OUTPUT 中没有任何结果文件，只有 {names}",
    ),
    "copy_or_parse_again": Text(
        "copy the capture again, or parse it again where it was recorded", "请重新拷贝采集目录，或在采集机器上重新解析"
    ),
    "mixes_frameworks": Text(
        "{path} mixes captures of PyTorch (_ascend_pt) and of MindSpore (_ascend_ms), such as {first} and {second}",
        "{path} 中混有 PyTorch（_ascend_pt）和 MindSpore（_ascend_ms）的采集数据，例如 {first} 与 {second}",
    ),
    "give_one_job": Text("give one job at a time", "请一次只给出一个任务的数据"),
    "give_one_job_such_as": Text("give one job at a time, such as {one}", "请一次只给出一个任务的数据，例如 {one}"),
    "record_or_copy_again": Text(
        "copy the capture again from the machine where it was recorded, or record again",
        "请从采集机器上重新拷贝，或重新采集",
    ),
    "tables_without_rows": Text(
        "{name} holds a database with tables but without rows", "{name} 中的数据库只有表结构，没有数据行"
    ),
    "no_profile": Text(
        "{path} holds no profile that can be read; it holds {names}",
        "{path} 中没有可读取的 profiling 数据，只有 {names}",
    ),
    "neither_folder_nor_file": Text("{path} is neither a folder nor a file", "{path} 既不是目录也不是文件"),
    "give_as_dash": Text(
        "send it to the standard input and write `-` for its path, or give a folder or a file",
        "请将其送入标准输入并以 `-` 作为路径，或直接给出目录或文件",
    ),
    "trace_without_device": Text(
        "{path} holds traces of the PyTorch profiler without anything that ran on a device",
        "{path} 中的 PyTorch profiler trace 不含任何设备侧任务",
    ),
    "trace_without_kernels": Text(
        "{path} holds traces with the calls of a program into the device, without the kernels that it launched",
        "{path} 中的 trace 有下发 kernel 的调用，却没有这些 kernel 本身",
    ),
    "record_kernels_too": Text(
        "record again: let the program wait for the device before the profiler stops, and keep another profiler (nsys, "
        "DCGM) off it meanwhile",
        "请重新采集：profiler 停止前先同步设备，且采集期间不要有其他 profiler（nsys、DCGM）占用设备",
    ),
    "trace_without_launches": Text(
        "{path} holds traces of a program that launched nothing on the device while it was recorded",
        "{path} 中的 trace 在采集期间没有向设备下发任何任务",
    ),
    "record_where_work_is": Text(
        "record where the model runs: in the process that runs it, and past the start of its first step",
        "请在模型运行之处采集：即运行模型的进程，且首个 step 已经开始",
    ),
    "trace_of_foreign_device": Text(
        "{path} holds traces of work on {device} devices, which are not read",
        "{path} 中的 trace 采自 {device} 设备，暂不支持读取",
    ),
    "record_device_activity": Text(
        "record the device beside ProfilerActivity.CPU, such as ProfilerActivity.CUDA for GPUs of NVIDIA and AMD",
        "采集时除 ProfilerActivity.CPU 外再加入设备侧的活动，例如 NVIDIA、AMD GPU 使用 ProfilerActivity.CUDA",
    ),
    "trace_unreadable": Text("{path} cannot be read: {why}", "{path} 无法读取：{why}"),
    "no_profile_file": Text(
        "{path} is no file of a profile that can be read", "{path} 不是可读取的 profiling 数据文件"
    ),
    "folder_is_empty": Text(
        "{path} is empty: no file in it or in {levels} levels of folders below",
        "{path} 为空：该目录及其下 {levels} 层子目录中没有文件",
    ),
    "cannot_be_looked_at": Text("{path} cannot be looked at ({why})", "无法访问 {path}（{why}）"),
    "file_is_empty": Text("{path} is empty (0 bytes)", "{path} 为空（0 字节）"),
    "more_than_a_profile": Text(
        "{path} holds more than {limit} files and folders", "{path} 下的文件与目录超过 {limit} 个"
    ),
    "give_profile_folder": Text("give the folder of the profile itself", "请直接给出采集数据所在目录"),
    "cannot_be_listed": Text("{path} cannot be listed", "无法列出 {path} 的内容"),
    "folder_in_it_unreadable": Text(
        "{path} holds no profile that can be read; {folder} in it cannot be listed: {why}",
        "{path} 中没有可读取的 profiling 数据；无法列出其中的 {folder}：{why}",
    ),
    "make_readable": Text(
        "make it readable for the user who runs this, such as with `chmod -R a+rX`, or run this as its owner",
        "请为当前用户加上读权限（例如由文件所有者执行 `chmod -R a+rX`），或改用文件所有者运行",
    ),
    "check_permissions": Text("check the permissions of the folder", "请检查目录权限"),
    "check_the_path": Text("check the path", "请检查路径"),
    "summary_without_rank": Text(
        "{path} holds a cluster summary without a readable rank", "{path} 的集群分析结果中没有可读取的 rank"
    ),
    "run_cluster_again": Text("run the cluster analysis again", "请重新执行集群分析"),
    "several_jobs": Text(
        "{path} holds files of several jobs for MindSpore Insight: more than one folder has the same rank",
        "{path} 含有多个任务的 MindSpore Insight 文件：不止一个目录有同一 rank",
    ),
    "traces_of_several_jobs": Text(
        "{path} holds traces of several jobs, such as {first} and {second}",
        "{path} 含有多个任务的 trace，例如 {first} 与 {second}",
    ),
    "mixes_profilers": Text(
        "{path} mixes captures of {names}, such as {places}", "{path} 中混有 {names} 的采集数据，例如 {places}"
    ),
    "give": Text("give {what}", "请给出{what}"),
    "one_empty_file": Text(
        "{name} holds nothing: its one file of results is empty (0 bytes)",
        "{name} 没有数据：1 个结果文件均为空（0 字节）",
    ),
    "empty_files": Text(
        "{name} holds nothing: each of its {count} files of results is empty (0 bytes)",
        "{name} 没有数据：{count} 个结果文件均为空（0 字节）",
    ),
    "cannot_be_unpacked": Text("{path} cannot be unpacked: {why}", "{path} 无法解压：{why}"),
    "nothing_unpacked": Text("nothing in {path} can be unpacked: it {damage}", "{path} 中没有可解压的内容：{damage}"),
    "unpack_it_yourself": Text("unpack it, and give the folder", "请自行解压后给出目录"),
    "nothing_and_damage": Text("{what}: {file} {damage}", "{what}：{file} {damage}"),
}
