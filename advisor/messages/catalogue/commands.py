# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with what a command or a call is asked: names, options, files to write, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    "no_case": Text("none of these rules holds a case, so nothing was tested", "这些规则都没有用例，未做任何测试"),
    "write_cases": Text(
        "write cases under `tests:`, see docs/writing-rules.md", "请在 `tests:` 下编写用例，见 docs/writing-rules.md"
    ),
    # the words of a command line
    "command_and_error": Text("{command}: error: ", "{command}：错误："),
    "words_do_not_fit": Text('it does not fit: "{said}"', "命令行有误：“{said}”"),
    "option_is_ambiguous": Text("`{option}` may be any of {names}", "`{option}` 可能是 {names} 中的任何一个"),
    "takes_no_value": Text("takes no value", "不带取值"),
    "argument": Text("argument {name}: {what}", "参数 {name}：{what}"),
    "one_folder_for_all": Text(
        "give the one folder that holds them all: {folder}; where other captures lie in it too, a new one with links "
        "to these",
        "请给出包含它们的那一个目录：{folder}；若其中还有其他采集数据，请新建一个目录，只放指向它们的链接",
    ),
    "arguments_required": Text("the following arguments are required: {names}", "缺少参数：{names}"),
    "unknown_arguments": Text("unrecognized arguments: {words}", "无法识别的参数：{words}"),
    "format_by_suffix": Text(
        "the suffix of a report says its format, as in -o report.html; -o markdown:- writes to the standard output",
        "报告格式由后缀决定，例如 -o report.html；-o markdown:- 写到标准输出",
    ),
    "value_by_option": Text("give it behind its option: {option} {name}", "请写在选项之后：{option} {name}"),
    "help_lists_options": Text("`{command} -h` lists the options", "`{command} -h` 列出全部选项"),
    "finding_by_option": Text("name one finding with --finding {name}", "用 --finding {name} 指定某一条问题"),
    "invalid_choice": Text("invalid choice: {given} (choose from {choices})", "无效的取值 {given}（可选：{choices}）"),
    "diagnose_it": Text("advisor diagnose {path}", "advisor diagnose {path}"),
    "expected_one_argument": Text("expected one argument", "缺少取值"),
    "empty_path": Text("empty; give a path", "为空，请给出路径"),
    "no_such_folder": Text("no folder `{path}`", "没有目录 `{path}`"),
    "no_whole_number": Text("`{given}` is no whole number", "`{given}` 不是整数"),
    "at_least_one": Text("at least 1", "至少为 1"),
    "not_from_zero": Text("not a number from 0 on", "不是大于或等于 0 的数"),
    # what is asked of a command
    "no_table": Text("no table `{name}`", "没有表 `{name}`"),
    "needs_baseline": Text("`{asks}` needs a baseline to compare with", "`{asks}` 需要与基线对比，但未给出基线"),
    "give_baseline": Text(
        "give --baseline main.json, or --fail-on {level}",
        "请用 --baseline main.json 给出基线，或改用 --fail-on {level}",
    ),
    "give_another_name": Text("give another file name", "请换一个文件名"),
    "no_such_report": Text("{path}: no report is written as `{suffix}`", "{path}：不支持 `{suffix}` 格式的报告"),
    "format_without_file": Text("`{given}` names no file", "`{given}` 未给出文件"),
    "file_behind_format": Text(
        "write it behind the colon, as in {name}:FILE; {name}:- writes to the standard output",
        "请在冒号后写明文件，如 {name}:FILE；{name}:- 写到标准输出",
    ),
    "known_suffixes": Text(
        "known suffixes are {known}; any other name is written with FORMAT:FILE, where FORMAT is one of {names}",
        "支持的后缀：{known}；其他文件名请写成 FORMAT:FILE，FORMAT 可取 {names}",
    ),
    "no_folder_for": Text("{path}: the folder {folder} does not exist", "{path}：目录 {folder} 不存在"),
    "make_folder": Text("make the folder first", "请先创建该目录"),
    "is_no_file": Text("{path} is no regular file", "{path} 不是普通文件"),
    "is_folder": Text("{path} is a folder", "{path} 是目录"),
    "file_in_folder": Text("name a file in it, such as {file}", "请给出其中的文件名，例如 {file}"),
    "is_disk": Text(
        "{path} is a disk, and a report would replace what is on it", "{path} 是磁盘设备，写入报告会覆盖其中的数据"
    ),
    "is_input": Text("{path} is the input", "{path} 是输入文件"),
    "standard_output": Text("the standard output", "标准输出"),
    "two_reports": Text("two reports are to be written to {place}", "有两份报告要写到同一处：{place}"),
    "place_each": Text("give each a place of its own", "请为每份报告指定不同的位置"),
    "inside_capture": Text(
        "{path} lies inside the capture, and captures are never written to", "{path} 位于采集目录内，采集目录不允许写入"
    ),
    "inside_input": Text(
        "{path} lies inside the input {given}, where facts would be mixed with the captures",
        "{path} 位于输入目录 {given} 内，写入的事实数据会与采集数据混在一起",
    ),
    "give_folder_outside": Text("give a folder outside of it, such as {path}", "请指定输入目录之外的目录，例如 {path}"),
    "cache_not_written": Text(
        "nothing is kept in {path}: {why}; what was read is read again next time",
        "无法写入缓存目录 {path}：{why}；下次仍需重新读取",
    ),
    "cache_holds": Text(
        "{path}: {size}; entries: {entries}, captures: {captures}",
        "{path}：{captures} 份采集数据的 {entries} 条缓存，共 {size}",
    ),
    "cache_cleared": Text("{path}: removed {size}; entries: {entries}", "{path}：已删除 {entries} 条缓存，共 {size}"),
    "cache_not_cleared": Text("{path} cannot be cleared: {why}", "无法清空 {path}：{why}"),
    "allow_removal": Text(
        "run it as who may write into the folder, or remove the folder where it lies",
        "请以对该目录有写权限的用户运行，或在其所在机器上删除该目录",
    ),
    "no_cache_named": Text("no cache is named", "未指定缓存目录"),
    "name_cache": Text(
        "give the folder that --cache was given, or set `cache` in the settings",
        "请给出 --cache 所用的目录，或在配置文件中设置 `cache`",
    ),
    "give_file_outside": Text("give a file outside of it", "请把输出写到采集目录之外"),
    "store_in_the_way": Text(
        "{path} holds something else than a store of facts, which is not replaced",
        "{path} 中已有其他内容，不是事实库，不会覆盖",
    ),
    "give_new_folder": Text("give a folder that is not there yet", "请指定一个尚不存在的目录"),
    "facts_written": Text(
        "{path}: {tables} {tables|table|tables}, {rows} {rows|row|rows}, {size}. Ask them with `cd {quoted} && "
        "duckdb -init views.sql`, or diagnose them with `advisor diagnose {quoted}`",
        "{path}：{tables} 张表，{rows} 行，{size}。可用 `cd {quoted} && duckdb -init views.sql` 查询，或用 "
        "`advisor diagnose {quoted}` 诊断",
    ),
    "cannot_be_written": Text("{path} cannot be written: {why}", "无法写入 {path}：{why}"),
    "written_before": Text("written before that: {files}", "此前已写入：{files}"),
    "standard_output_lost": Text("the standard output cannot be written: {why}", "无法写入标准输出：{why}"),
    "no_temporary_file": Text(
        "what came on the standard input cannot be kept in a temporary file: {why}",
        "无法将标准输入的内容写入临时文件：{why}",
    ),
    "name_temporary_folder": Text(
        "name a folder with room in the environment variable TMPDIR", "请用环境变量 TMPDIR 指定有空间的目录"
    ),
    "folder_gone": Text("the folder that this was started in is no longer there", "当前工作目录已不存在"),
    "go_elsewhere": Text("change to another folder and start again", "请切换到其他目录后重试"),
    "broke_down": Text("it broke down at {place}: {kind}: {why}", "程序在 {place} 处异常退出：{kind}：{why}"),
    "report_bug": Text(
        "this is a mistake in advisor, not of yours: please report it with what --debug prints",
        "这是 advisor 自身的缺陷：请加 --debug 重新执行，并附上输出反馈给维护者",
    ),
    "memory_ran_out": Text("memory ran out", "内存不足"),
    "needs_less_memory": Text(
        "try again with --jobs 1, with fewer ranks, or where there is more memory",
        "请加 --jobs 1 重试，减少 rank 数，或换到内存更大的机器",
    ),
    "needs_distributed": Text("--on needs the package distributed of Dask", "--on 需要安装 Dask 的 distributed 包"),
    "install_cluster": Text(
        "install it: pip install 'ascend-advisor[cluster]'", "请安装：pip install 'ascend-advisor[cluster]'"
    ),
    "no_modules_told": Text("{path} tells no modules of its model", "{path} 中没有模块信息"),
    "without_quiet_how_to_record": Text("without -q it is shown how to record them", "去掉 -q 可查看采集方法"),
    "no_cluster_address": Text(
        "`{given}` is no address of a Dask scheduler: give one such as dask://host:8786",
        "`{given}` 不是 Dask 调度器地址：请写成 dask://host:8786 的形式",
    ),
    "no_scheduler": Text("no Dask scheduler answers at {address}: {why}", "{address} 没有 Dask 调度器应答：{why}"),
    "give_scheduler": Text(
        "start one with `dask scheduler`, and give the address that it prints",
        "请用 `dask scheduler` 启动调度器，并使用它打印的地址",
    ),
    "no_dask_there": Text(
        "what answers at {address} is no Dask scheduler, or one that hangs",
        "{address} 上应答的不是 Dask 调度器，或调度器已卡死",
    ),
    "give_scheduler_port": Text(
        "give the address that `dask scheduler` prints as tcp://…, which is not that of its dashboard",
        "请使用 `dask scheduler` 打印的 tcp://… 地址，不是 dashboard 的地址",
    ),
    "workers_lost_over_all": Text("workers were lost over every rank ({why})", "读取每张卡的 worker 都失效了（{why}）"),
    "allow_more_memory": Text(
        "each was tried alone: give each worker more memory and one thread, or record fewer steps",
        "已逐个单独重试：请为每个 worker 提供更多内存并只用一个线程，或减少采集的 step 数",
    ),
    "allow_more_time": Text(
        "each was tried twice: allow more seconds with `--rank-limit`, or record fewer steps",
        "每张卡已尝试两次：请用 `--rank-limit` 放宽时限（秒），或减少采集的 step 数",
    ),
    "scheduler_lost": Text("the scheduler {address} is gone", "与调度器 {address} 的连接中断"),
    "no_worker_left": Text("no worker of {address} is left", "{address} 已没有可用的 worker"),
    "no_worker_there": Text("{address} has no worker that can be used", "{address} 没有可用的 worker"),
    "start_workers": Text(
        "start some with `dask worker tcp://host:8786 --nthreads 1`",
        "请用 `dask worker tcp://host:8786 --nthreads 1` 启动 worker",
    ),
    "cluster_done_so_far": Text(
        "{done} of {total} ranks were done; start the cluster again, or go on without --on",
        "{total} 个 rank 中已完成 {done} 个；请重新启动集群，或去掉 --on 在本机执行",
    ),
    "worker_without_advisor": Text("{who} has no advisor", "{who} 上没有安装 advisor"),
    "worker_of_other_version": Text(
        "{who} has advisor {found}, and here it is {here}", "{who} 上的 advisor 版本为 {found}，本机为 {here}"
    ),
    "install_everywhere": Text(
        "install the same on the scheduler, all workers and here: pip install 'ascend-advisor[cluster]=={version}'",
        "请在调度器、所有 worker 和本机安装同一版本：pip install 'ascend-advisor[cluster]=={version}'",
    ),
    "worker_sees_no_capture": Text(
        "the worker {who} does not see {path} as it is here", "worker {who} 看不到 {path}，或其内容与本机不同"
    ),
    "worker_sees_no_store": Text(
        "a worker does not see {path}, where the facts are written", "有 worker 看不到写入 facts 的目录 {path}"
    ),
    "share_the_store": Text(
        "write the facts to a folder that all workers share under the same path",
        "请将 facts 写到所有 worker 以相同路径共享的目录中",
    ),
    "share_the_folder": Text(
        "give the capture unpacked, on a folder that all workers share under the same path",
        "请把采集数据解压后放在所有 worker 以相同路径共享的目录中",
    ),
    "make_room": Text("make room there, or give a file on another disk", "请清理空间，或换到其他磁盘"),
    "the_standard_input": Text("the standard input", "标准输入"),
    "give_writable": Text("give a file in a folder you may write to", "请换到有写权限的目录"),
    "needs_xlsxwriter": Text("spreadsheets need the package XlsxWriter", "输出 xlsx 需要安装 XlsxWriter"),
    "install_xlsx": Text(
        "pip install 'ascend-advisor[xlsx]', or give a .csv", "pip install 'ascend-advisor[xlsx]'，或改用 .csv"
    ),
    "no_such_statistic": Text("there is no table `{name}`", "没有名为 `{name}` 的统计表"),
    "nothing_counted": Text("{path} gives none of these tables: {names}", "{path} 无法给出这些统计表：{names}"),
    "no_such_key": Text("the table {table} has no key `{name}`", "统计表 {table} 没有 `{name}` 这一分组列"),
    "several_tables_in_one_stream": Text(
        "as {format} the standard output holds one table, and several are asked for",
        "标准输出以 {format} 格式只能写一张统计表，而请求了多张",
    ),
    "ask_for_one_table": Text(
        "name one with --of, or write files: -o stats.csv, or all tables at once: -o json:-",
        "用 --of 指定其中一张，或输出到文件：-o stats.csv，或一次输出全部：-o json:-",
    ),
    "keys_do_not_name_rows": Text(
        "rows of the table {table} cannot be put together by {names} alone", "统计表 {table} 的行无法只按 {names} 合并"
    ),
    "give_these_keys": Text("give all of these as keys: {names}", "分组列需包含：{names}"),
    "no_finding_numbered": Text("no finding `{number}`", "没有编号为 `{number}` 的问题"),
    "findings_numbered": Text(
        "findings are numbered {numbers}, as the report shows them", "报告中的问题编号：{numbers}"
    ),
    "no_findings_numbered": Text("this capture has no findings", "该采集数据没有发现问题"),
    "nothing_asked": Text("neither a rule nor a finding is named", "未指定规则或问题"),
    "there_are": Text("there are {names}", "现有：{names}"),
    "no_diagnosis_asked": Text(
        "a finding is looked up in a diagnosis, and none is given", "查找问题需要一份诊断，但未给出"
    ),
    "give_capture_or_report": Text(
        "give the capture, or a saved report with --in", "请给出采集目录，或用 --in 给出已保存的报告"
    ),
    "several_findings": Text("several findings begin with `{start}`", "有多个问题以 `{start}` 开头"),
    "give_more_of_it": Text("give more of it: {names}", "请多给几位：{names}"),
    "too_short_for_finding": Text("`{start}` is too short for a finding", "`{start}` 太短，无法确定问题"),
    "give_at_least": Text("give at least {count} characters of it", "请至少给出 {count} 位"),
    "names_findings": Text("`{name}` names {count} findings", "`{name}` 对应 {count} 个问题"),
    "no_finding_before": Text("the first capture has no finding `{name}`", "修改前的采集中没有问题 `{name}`"),
    "name_too_short": Text(
        "`{name}` is too short: at least {count} characters of a fingerprint",
        "`{name}` 过短：至少给出指纹的前 {count} 位",
    ),
    "name_one_of": Text("name one of: {names}", "请指定其中之一：{names}"),
    "has_no_findings": Text("it has no findings at all", "其中没有发现任何问题"),
    "a_saved_comparison": Text("a saved comparison", "已保存的对比结果"),
    "other_chip": Text(
        "the capture names {chip}, which counts: not {told}, as it was told",
        "采集数据中的芯片型号为 {chip}，以其为准，忽略指定的 {told}",
    ),
    "anchor_not_there": Text(
        "{anchor} of --anchor is not in {root}: code hosts show nothing there. Give a file of the source code, or its "
        "folder with --source-root",
        "--anchor 指定的 {anchor} 不在 {root} 中，代码平台无法标注：请指定源码中的文件，"
        "或用 --source-root 指定源码目录",
    ),
    "a_saved_diagnosis": Text("a saved diagnosis", "已保存的诊断结果"),
    "not_a_capture": Text("{path} is {kind}, not a capture", "{path} 是{kind}，不是采集数据"),
    "give_its_capture": Text("give the capture it was made from", "请给出生成它的采集目录"),
    "render_again": Text("write it again with: advisor render {path}", "可用以下命令重新输出：advisor render {path}"),
    "settings_from": Text("settings from {file}", "使用的配置文件：{file}"),
    "does_not_exist": Text("{path} does not exist", "{path} 不存在"),
    "give_settings": Text("give a file of settings such as {file}", "请给出配置文件，例如 {file}"),
    "no_rule_matches": Text("no rule matches {patterns}", "没有规则匹配 {patterns}"),
    "give_rule_folder": Text("give a folder of rule files", "请给出存放规则文件的目录"),
    "one_standard_input": Text("the standard input can be read only once", "标准输入只能读取一次"),
    "give_one_as_file": Text("give one of the two as a file", "请将其中之一改为文件"),
    "fail_on_option": Text("--fail-on: `{given}` is no severity", "--fail-on：`{given}` 不是严重程度"),
    "fail_on_words": Text(
        "give none, info, low, medium, high or critical; with a baseline also new:high or worse:high",
        "可取 none、info、low、medium、high、critical；给出基线时还可写 new:high 或 worse:high",
    ),
    "needs_mcp": Text("the package `mcp`, version 2.3 or later, is not installed", "未安装 `mcp` 包（2.3 及以上版本）"),
    "install_mcp": Text('install it: pip install "ascend-advisor[mcp]"', '请安装：pip install "ascend-advisor[mcp]"'),
    "too_wide_a_root": Text("{folder} is too wide to be read by default", "默认开放 {folder} 范围过大"),
    "name_roots": Text("name the folders of captures with --root DIR", "请用 --root DIR 指定存放采集数据的目录"),
    "exists_already": Text("{path} exists already", "{path} 已存在"),
    "edit_or_name_folder": Text("edit that file, or name another folder", "请直接修改该文件，或指定其他目录"),
    "remove_or_name_folder": Text(
        "remove that file to have it written anew, or name another folder", "请先删除该文件再重新生成，或指定其他目录"
    ),
    "choose_id_or_edit": Text("choose another id, or edit that file", "换一个规则 id，或直接修改该文件"),
    "path_is_empty": Text("the path is empty; give that of a capture or of a file", "路径为空，请给出采集或文件的路径"),
    "no_comparison_given": Text("{given} is no comparison", "{given} 不是对比结果"),
    "compare_first": Text(
        "compare both captures first: `advisor.verify(advisor.compare(before, after), finding)`",
        "请先对比两份采集：`advisor.verify(advisor.compare(before, after), finding)`",
    ),
    "capture_and_report": Text("both a capture and a report are given", "同时给出了采集目录和报告"),
    "give_one_of_two": Text("give one of the two", "请只给出其中之一"),
    "did_you_mean_known": Text("did you mean `{name}`? known are {names}", "是不是 `{name}`？可用：{names}"),
    "known_are": Text("known are {names}", "可用：{names}"),
    "name_rule_or_finding": Text(
        "name a rule such as host/free-time, or a finding with --finding",
        "请给出规则（例如 host/free-time），或用 --finding 指定问题",
    ),
    "name_rule_or_these": Text(
        "name a rule such as host/free-time, or a finding with --finding: {names}",
        "请给出规则（例如 host/free-time），或用 --finding 指定问题：{names}",
    ),
    "no_finding": Text("no finding `{start}`", "没有问题 `{start}`"),
    "no_finding_of_rule": Text("no finding `{start}` of rule `{rule}`", "没有规则 `{rule}` 的问题 `{start}`"),
}
