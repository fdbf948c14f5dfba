# SPDX-License-Identifier: Apache-2.0
"""What of a file could not be read, why, and where in it."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    # files
    "holds_nothing": Text("is empty", "文件为空"),
    "trace_is_empty": Text("it is empty", "文件为空"),
    "half_written": Text(
        "was left in the middle of a change, as the -journal beside it shows, so that rows of it may be wrong or gone: "
        "open a copy of both once with sqlite3, which undoes the change, or parse the capture again",
        "写入中途被中断（旁边的 -journal 文件表明），部分行可能有误或丢失：请将两者一并复制，用 sqlite3 打开副本一次"
        "以撤销该写入，或重新解析",
    ),
    "is_packed": Text("is packed; unpack it with gunzip", "是 gzip 压缩文件，请先用 gunzip 解压"),
    "folder_for_file": Text("is a folder, and no file of that name lies in it", "是目录，其中没有同名文件"),
    "folder_unreadable": Text("is a folder that cannot be opened ({why})", "目录无法打开（{why}）"),
    "holds_no_results": Text(
        "holds no file by a name that profilers give to results: copy it again, or parse it again where it was "
        "recorded",
        "其中没有 profiler 命名的结果文件：请重新拷贝，或在采集机器上重新解析",
    ),
    "link_to_nothing": Text("is a link to nothing", "是指向不存在目标的链接"),
    "link_to_system": Text(
        "is a link into /proc, /sys or /dev, and is not followed", "是指向 /proc、/sys 或 /dev 的链接，不予跟随"
    ),
    "cannot_be_opened": Text("cannot be opened ({why})", "无法打开（{why}）"),
    "file_unreadable": Text("cannot be read ({why})", "无法读取（{why}）"),
    "cannot_be_read_further": Text("cannot be read further ({why})", "后续内容无法读取（{why}）"),
    "table_cannot_be_read_further": Text(
        "{table} cannot be read further ({why})", "{table} 的后续内容无法读取（{why}）"
    ),
    "no_profiler_table": Text(
        "holds no table that a profiler writes, but {names}", "其中没有 profiler 写出的表，只有 {names}"
    ),
    "begins_with_comment": Text(
        "it begins with a comment, and JSON has none: give it as the profiler wrote it",
        "以注释开头，而 JSON 不允许注释：请提供 profiler 原样写出的文件",
    ),
    "is_no_json": Text("is no JSON", "不是 JSON"),
    "headings_without_end": Text(
        "has a first line, that of the headings, which does not end within {longest}",
        "首行（表头）超过 {longest} 仍未结束",
    ),
    "ends_in_zeros": Text("ends in zero bytes, for it was not written to its end", "末尾全是零字节，文件没有写完"),
    "no_complete_json": Text("is no complete JSON ({why})", "不是完整的 JSON（{why}）"),
    "no_json_container": Text("it is no JSON array or object", "不是 JSON 数组或对象"),
    "lacks_key": Text("it has no {key}", "缺少 {key}"),
    "columns_separated_by": Text(
        "its columns are separated by `{mark}`: give it as the profiler wrote it, with commas",
        "各列以 `{mark}` 分隔：请提供 profiler 原样写出、以逗号分隔的文件",
    ),
    "is_utf16": Text("is written in UTF-16: save it as UTF-8", "编码为 UTF-16：请另存为 UTF-8"),
    "holds_too_much": Text(
        "holds more than {size} bytes once unpacked, more than a trace of its size does",
        "解压后超过 {size} 字节，远超同等大小 trace 的正常范围",
    ),
    "unpacks_to_too_much": Text(
        "it holds far more once unpacked than captures of its size do", "解压后的大小远超同等大小的采集数据"
    ),
    "too_many_members": Text("it holds more than {limit} members", "成员超过 {limit} 个"),
    "packed_alone": Text(
        "it is one file packed with {tool}, which is not read: unpack it, or pack it with gzip",
        "是用 {tool} 压缩的单个文件，暂不支持：请先解压，或改用 gzip 压缩",
    ),
    "packed_with_zstandard": Text("it is packed with Zstandard, which is not read", "是 Zstandard 压缩，暂不支持"),
    "archive_damaged": Text("is damaged; what comes after is lost ({why})", "已损坏，其后的内容无法读取（{why}）"),
    "member_leads_out": Text("would lie outside of the archive, or too deep in it", "路径超出压缩包或层级过深"),
    "member_no_file": Text("is a link or a device, and is not followed", "是链接或设备，不予跟随"),
    "member_encrypted": Text("is encrypted", "已加密"),
    "archive_ends_early": Text("the archive ends early", "压缩包不完整，提前结束"),
    "packing_unknown": Text("it is packed in a way that is not read", "采用了不支持的压缩方式"),
    "member_size_lost": Text("the size of a member is lost", "成员的大小已丢失"),
    "member_checksum_wrong": Text("its checksum does not fit", "校验和不符"),
    "no_member_due": Text("no member where one is due", "应有成员处没有成员"),
    "zeros_for_member": Text("zeros where a member is due", "应有成员处全是零字节"),
    "member_head_too_long": Text("the head of a member is too long", "成员的头部过长"),
    "member_holds_nothing": Text("it holds no content", "没有内容"),
    "member_damaged": Text("cannot be unpacked whole ({why})", "无法完整解压（{why}）"),
    "lacks_column": Text("has no column `{column}`", "缺少列 `{column}`"),
    "step_rows_repeated": Text(
        "rows that repeat the step of a rank; each step counts once", "重复的行：同一 rank 的同一 step 只计一次"
    ),
    "step_rows_disagree": Text(
        "rows of one rank and step that contradict each other; none of them counts",
        "同一 rank、同一 step 的多行相互矛盾，均不计入",
    ),
    "step_times_impossible": Text(
        "no times of a step: more than a day, or a hundred times as long or as short as on the other ranks",
        "不可能是单步耗时：超过一天，或与其他 rank 相差百倍以上",
    ),
    "communication_contradicted": Text(
        "the communication of a step is not the sum of its parts, overlapped and not; it does not count",
        "step 的通信时间不等于已掩盖与未掩盖两部分之和，不予采用",
    ),
    "rows_repeated": Text(
        "rows that repeat another one: the same kernel, stream and time; each counts once",
        "行与其他行重复（同一算子、同一流、同一时刻），每个只计一次",
    ),
    "totals_repeated": Text("rows that repeat another one; each total counts once", "行与其他行重复，每项合计只计一次"),
    "memory_impossible": Text(
        "more memory than there was: than the whole process held, or than any device has; it does not count",
        "显存数值不可能：超过整个进程的占用或任何设备的容量，不予采用",
    ),
    "ends_early": Text("the file ends early", "文件不完整，提前结束"),
    "begins_again": Text(
        "the file begins once more behind its end; nothing is read from there on",
        "文件在其结尾之后又重新开始，其后的内容不予读取",
    ),
    "packed_damaged": Text(
        "what is packed is damaged here, and nothing that follows can be unpacked",
        "压缩数据在此处损坏，其后的内容无法解压",
    ),
    "checksum_wrong": Text(
        "its checksum does not fit: all of it was unpacked, and some of it is not what was packed",
        "校验和不符：内容已全部解压，但其中有与原文件不同之处",
    ),
    "device_ends_early": Text(
        "the device is recorded for less time than the program: kernels that were launched at the end are missing",
        "device 的记录时间短于程序：末尾下发的 kernel 缺失",
    ),
    "ends_in_quotes": Text("ends inside a quoted cell", "文件在引号内结束"),
    "several_devices": Text(
        "holds several devices for one rank; the first is read", "同一 rank 含多个 device，只读取第一个"
    ),
    "object_expected": Text("holds something else where an object is due", "应为对象处是其他内容"),
    # ranks that workers were lost over
    "rank_set_aside": Text(
        "was set aside: two workers were lost over it, one after the other ({first}; {second})",
        "已跳过：先后有两个 worker 在读取该 rank 时失效（{first}；{second}）",
    ),
    "worker_died": Text("died, probably for lack of memory", "进程退出，很可能是内存不足"),
    "worker_out_of_memory": Text("ran out of memory", "内存不足"),
    "worker_too_slow": Text("was not done after {limit} s", "{limit} 秒后仍未完成"),
    # rows and events
    "uneven_rows": Text("rows with too few or too many cells", "行的列数过少或过多"),
    "zeros_within": Text(
        "zero bytes where rows or events were, which are lost", "数据行或事件的位置全是零字节，这部分内容已丢失"
    ),
    "no_usable_number": Text("`{column}` holds no usable number", "`{column}` 不是可用的数值"),
    "number_with_comma": Text(
        "`{column}` holds numbers with commas in them, as spreadsheets write them: give the file as the profiler "
        "wrote it",
        "`{column}` 的数值中带有逗号（表格软件另存时的写法）：请提供 profiler 原样写出的文件",
    ),
    "number_rounded": Text(
        "`{column}` holds times without their last digits, as spreadsheets write them (1.7E+15): give the file as the "
        "profiler wrote it",
        "`{column}` 的时间丢失了末尾数字（表格软件另存时的写法，如 1.7E+15）：请提供 profiler 原样写出的文件",
    ),
    "no_usable_value": Text("{table}: {column} holds no usable value", "{table}：{column} 没有可用的值"),
    "no_usable_value_at": Text("`{key}` holds no usable value", "`{key}` 的值不可用"),
    "no_pair_of_ranks": Text("what was sent is not listed by two ranks", "收发双方不是两个 rank 编号"),
    "cell_no_whole_number": Text("{column} is no whole number", "{column} 不是整数"),
    "arrows_lack_an_end": Text(
        "links from launches to tasks, all of which lack one end", "从下发到任务的连线全部缺少一端"
    ),
    "torn_gradient_arrows": Text(
        "links from the forward to the backward pass lack one end", "前向到反向的连线缺少一端"
    ),
    "kernels_without_task": Text("kernels whose task is not in TASK", "TASK 中没有这些 kernel 的任务"),
    "names_gone": Text(
        "names of events are gone from STRING_IDS: their numbers stand for them, and what kind some were is not known",
        "STRING_IDS 中缺少部分事件的名称：以其编号代替，其中部分事件的类型无从得知",
    ),
    "names_no_operator": Text(
        "names no operator, though the capture holds collectives", "未列出任何算子，而采集中有集合通信"
    ),
    "rows_for_steps": Text(
        "holds {rows} {rows|row|rows} for {steps} {steps|step|steps}, so that it is not known which is whose",
        "有 {rows} 行而 step 数为 {steps}，无法对应",
    ),
    "slice_is_gone": Text("is not there, though later slices are", "缺失，而其后的分片存在"),
    "holds_no_event": Text("holds no event of a host or a device", "不含 host 或 device 事件"),
    "holds_no_device_work": Text("holds no work of the device of its rank", "不含该 rank 的 device 任务"),
    "no_row_below_headings": Text("has headings and no row", "只有表头，没有数据行"),
    "operators_of_cores_gone": Text(
        "is not there, and with it the operators on AI Cores, though {file} is",
        "不存在，缺少 AI Core 算子，而 {file} 存在",
    ),
    "numbers_left_out": Text(
        "lacks {rows} {rows|row|rows} by the numbers of the others", "从其余行的编号看，缺少 {rows} 行"
    ),
    "averages_are_gone": Text(
        "ends before the row of averages, which is written last", "缺少写在最后的平均值行，文件不完整"
    ),
    "shares_do_not_add_up": Text(
        "lacks rows: the shares of those that are there add up to {share} %", "各行占比之和仅为 {share} %，缺少数据行"
    ),
    "steps_without_size": Text(
        "has no size of the queue for {rows} of {steps} {steps|step|steps}",
        "{steps} 个 step 中有 {rows} 个没有队列长度",
    ),
    "sums_exceed_step": Text(
        "computation and communication last longer than the steps they are of",
        "计算与通信时间之和超过所属 step 的时长",
    ),
    "attention_marks_unusable": Text(
        "marks of attention calls that are cut off or hold no arguments", "注意力调用的打点被截断或不含入参"
    ),
    "peers_unusable": Text(
        "tasks between ranks whose peer is no number of a rank", "卡间任务的对端不是有效的 rank 编号"
    ),
    "line_unusable": Text("lines without the numbers that are due", "行中缺少应有的数值"),
    "no_elapse_time": Text("operators without an elapse time", "算子没有耗时"),
    "entry_no_object": Text("an entry is no object", "条目不是对象"),
    "event_no_json": Text("event is no valid JSON", "事件不是合法的 JSON"),
    "event_no_object": Text("event is no object", "事件不是对象"),
    "event_without_phase": Text("event has no phase", "事件缺少 ph 字段"),
    "duration_unusable": Text("duration is missing, negative or too large", "时长缺失、为负或过大"),
    "name_is_missing": Text("name is missing", "名称缺失"),
    "time_is_missing": Text("time is missing", "时间缺失"),
    "time_no_decimal": Text("time is no decimal number", "时间不是十进制数"),
    "time_not_in_us": Text(
        "time is too large for µs, in which traces count: written in ns?",
        "时间数值过大，不像以 µs 为单位（trace 的时间单位）：是否写成了 ns？",
    ),
    "time_too_large": Text("time is too large", "时间过大"),
    "link_id_no_number": Text("id of a link is no number", "连线的 id 不是数字"),
    "link_id_too_large": Text("id of a link is too large", "连线的 id 过大"),
    "times_rounded": Text(
        "times were written as floating-point numbers, and keep no digits below {step}",
        "时间戳被写成浮点数，{step} 以下的数字已丢失",
    ),
    # reasons
    "nested_too_deeply": Text("nested too deeply", "嵌套过深"),
    "rows_out_of_order": Text("its rows are out of order", "行号次序错乱"),
    "leads_in_circles": Text("it leads in circles", "页面循环引用"),
    "no_utf8": Text("bytes that are no UTF-8", "含有非 UTF-8 字节"),
    "permission_denied": Text("permission denied", "没有读写权限"),
    "unknown_reason": Text("unknown reason", "原因未知"),
    "no_space_left": Text("no space left on device", "磁盘空间不足"),
    "quota_exceeded": Text("disk quota exceeded", "超出磁盘配额"),
    "file_system_read_only": Text("read-only file system", "文件系统为只读"),
    "no_such_file": Text("no such file or directory", "文件或目录不存在"),
    "input_output_error": Text("input/output error", "读写出错"),
    "file_name_too_long": Text("file name too long", "文件名过长"),
    "is_directory": Text("is a directory", "是目录"),
    "not_open": Text("bad file descriptor", "未打开"),
    "quoted": Text("{words}", "`{words}`"),
    "quoted_of_system": Text("{words}", "`{words}`"),
    # places
    "at_row": Text("row {n}", "第 {n} 行"),
    "after_row": Text("after row {n}", "第 {n} 行之后"),
    "at_byte": Text("byte {n}", "第 {n} 字节"),
    "at_table_row": Text("{table}, row {n}", "{table} 第 {n} 行"),
    "at_stored_row": Text("{table} row {n}", "{table} 第 {n} 行"),
    "after_table_row": Text("{table}, after row {n}", "{table} 第 {n} 行之后"),
}
