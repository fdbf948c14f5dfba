# SPDX-License-Identifier: Apache-2.0
"""What the columns and tables that rules read hold, in Chinese: by what the reference of facts, which is in English,
says of them. A sentence that changes there has to be said anew here.
"""

from __future__ import annotations

from collections.abc import Mapping

COLUMN_MEANINGS: Mapping[str, str] = {
    "Global rank of the process.": "进程的全局 rank。",
    "Step number as the job counted it; missing when the job never called step().": (
        "任务自己的 step 编号；任务从未调用 step() 时缺失。"
    ),
    "How often per step.": "平均每步的次数。",
    "Operator type.": "算子类型。",
    "Device time per step.": "平均每步的设备耗时。",
    "Kind of operator.": "通信算子的种类。",
    "Step; missing where only queues were recorded, as what follows.": (
        "单步耗时；只采集了队列信息时缺失，下列各项同此。"
    ),
    "Name.": "名称。",
    "The part with no kernel beside it.": "其中没有任何 kernel 并行、未被掩盖的部分。",
    "Payload.": "通信数据量。",
    "Shapes of the inputs.": "输入的形状。",
    "The call on which most of the time was spent.": "耗时最多的那个调用。",
    "Start to end.": "从开始到结束的时长。",
    (
        "Kind of work: `matmul`, `convolution`, `attention`, `elementwise`, `reduction` (norms, "
        "softmax, pooling), `movement` (copies, layout, indexing, casts), `optimizer` (and Foreach), "
        "`ai_cpu`, `custom` (not of CANN, such as Triton kernels) or `other`."
    ): (
        "工作种类：`matmul`、`convolution`、`attention`、`elementwise`、`reduction`（归一化、softmax、"
        "池化）、`movement`（拷贝、格式与布局转换、索引、类型转换）、`optimizer`（含 Foreach）、"
        "`ai_cpu`、`custom`（非 CANN 自带，如 Triton kernel）或 `other`。"
    ),
    "Mean duration.": "平均时长。",
    (
        "`data_loader`, `synchronise` (reads included), `read` (a value brought to the host), `drain` "
        "(a wait that is no part of a read or a copy, as of ASCEND_LAUNCH_BLOCKING), `blocking_copy`, "
        "`compile` (an operator), `graph_compile` (a part of the program, as torch.compile and Triton "
        "do), `gc`, `start_up` (calls into the software of the device that do what happens once, such "
        "as loading code), `allocate` (device memory from the driver), `pin` (host memory), "
        "`cpu_operator` (operators that compute on the host what was copied from the device; without "
        "their copies to and fro but in `lost_us`), `unqueued` (launching calls of a rank without a "
        "second thread for them), and `host`: all other work of the host, one row per call that filled "
        "the pauses, missing where none did."
    ): (
        "`data_loader`（数据加载）、`synchronise`（同步，含读取）、`read`（把设备上的值读回 host）、"
        "`drain`（既非读取也非拷贝的等待，如 ASCEND_LAUNCH_BLOCKING 所致）、"
        "`blocking_copy`（阻塞式拷贝）、`compile`（编译算子）、`graph_compile`（编译程序片段，如 "
        "torch.compile、Triton）、`gc`（垃圾回收）、`start_up`（只发生一次的设备软件调用，如加载代码）、"
        "`allocate`（向驱动申请显存）、`pin`（锁页内存）、`cpu_operator`（在 host 上计算设备数据的算子；"
        "除 `lost_us` 外不含来回拷贝）、`unqueued`（没有第二个线程代为下发的 rank 上的下发调用），以及 "
        "`host`：host 的其他工作，每行对应填满停顿最多的一个调用，没有这样的调用时缺失。"
    ),
    "How often, nested calls counted once. For `host`: tasks that began late for it.": (
        "次数，嵌套调用只计一次。`host`：因此晚启动的任务数。"
    ),
    (
        "The longest. For `host`: the longest pause before one of those tasks, without what other kinds fill of it."
    ): "最长的一次。`host`：这些任务之前最长的停顿，不含被其他种类占去的部分。",
    "The part during which the device was free. For `host`: those pauses together.": (
        "其中设备空闲的部分。`host`：这些停顿的合计。"
    ),
    (
        "How much sooner the step would end without these calls: launches move up by their time, and "
        "the device follows as far as its other work allows. Of waits and reads the last of each step "
        "stays, for a job may read its loss once. For `unqueued`: if a second thread made these calls. "
        "For `host`: without all of these kinds but the last, against a host that launches early enough "
        "except after it waited."
    ): (
        "没有这些调用时单步可提前多久结束：下发提前相应时间，设备在其余工作允许的范围内跟上。"
        "等待与读取保留每步的最后一次，因为任务读一次 loss 是正常的。`unqueued`：改由第二个线程下发时。"
        "`host`：除最后一种外其余种类都不存在，并与除等待之后外都能足够早下发的 host 相比。"
    ),
    "Part of the kernel time.": "占 kernel 总耗时的比例。",
    "Part of the step.": "占单步的比例。",
    "Value as recorded; empty text for a variable that was recorded as unset.": (
        "记录到的值；空文本表示该变量被记录为未设置。"
    ),
    "Together, nested calls counted once; missing for `host`.": "合计，嵌套调用只计一次；`host` 缺失。",
    "Iteration interval: until the forward pass begins.": "迭代间隔：从 step 开始到前向开始。",
    "Name, such as ASCEND_LAUNCH_BLOCKING.": "名称，例如 ASCEND_LAUNCH_BLOCKING。",
    (
        "Their part of the kernel time, times the part of the step that computes: what runs at the same "
        "time counts once, and the shares of all types add up to no more than the step."
    ): "占 kernel 耗时的比例乘以单步中计算所占比例：同时运行的只计一次，所有类型之和不超过一步。",
    "Part of these in which it was empty.": "其中队列为空的比例。",
    "Pipeline stage, from 0; missing when there is no pipeline or it is unknown.": (
        "流水线 stage，从 0 起；没有流水线或未知时缺失。"
    ),
    "Waiting for peers; missing where the profiler tells it from nothing else.": (
        "等待其他 rank 的时间；profiler 未将其与其他时间区分时缺失。"
    ),
    (
        "Core type; the one with most time where a type ran on several. What ran on the AI CPU has its own row."
    ): "核类型；一种算子在多种核上运行时取耗时最多的。在 AI CPU 上运行的另列一行。",
    "Data types of the inputs.": "输入的数据类型。",
    "The value as a number, where it is one; true is 1, false is 0.": ("值为数字时的数值；true 为 1，false 为 0。"),
    "HCCS, RDMA, PCIE, SIO.": "链路类型：HCCS、RDMA、PCIE、SIO。",
    "Computation of its rank and step with no communication beside it: what could hide more of it.": (
        "同一 rank、同一 step 中没有通信并行的计算：还可用来掩盖该通信的部分。"
    ),
    "Send, receive or batchSendRecv.": "点到点通信：send、receive 或 batchSendRecv。",
    "The part of that in which no rank was waited for, as far as waiting is known.": (
        "其中没有在等待任何 rank 的部分，以已知的等待为限。"
    ),
    (
        "The part per step in which no kernel of another type ran, nor a collective at whose end the "
        "device stood still (that one would take as long anyway). Kernels on a side stream that the "
        "main stream does not wait for count for nothing. Without these kernels the step would be so "
        "much shorter."
    ): (
        "平均每步中没有其他类型的 kernel 在运行、"
        "也没有使设备等到其结束的通信的部分（后者本来就要这么久）。主流不等待的旁路流上的 kernel 不计。"
        "没有这些 kernel，单步会缩短这么多。"
    ),
    "Blocks, the smallest seen.": "block 数，取最小值。",
    "Ranks of the same stage, itself not counted.": "同一 stage 的其他 rank 数，不含自身。",
    "What is looked for, a file in `patterns/` of the rules, forward and backward.": (
        "所查找的模式：规则的 `patterns/` 中的一个文件，含前向与反向。"
    ),
    "Chains per step.": "平均每步的算子串数。",
    "Kernels per chain.": "每串的 kernel 数。",
    "Kernels of the chains, conversions between them included, per step.": (
        "平均每步这些算子串的 kernel 耗时，含串内的类型转换。"
    ),
    (
        "What fused operators would still need per step: what is bound by memory as many passes over "
        "its tensors as they must make, at the pace of the longest kernel of each chain; attention its "
        "matrix products."
    ): (
        "改用融合算子后平均每步仍需的时间：访存受限的按必须遍历张量的次数、以各串最长 kernel "
        "的速度计算；attention 按其矩阵乘计算。"
    ),
    (
        "Pauses per step, from the first kernel of each chain to its last: no kernel ran, and no copy "
        "on the same stream; missing where nobody knows which pauses are the job's."
    ): (
        "平均每步从各串首个 kernel 到最后一个之间的停顿：既没有 kernel，同一流上也没有拷贝；"
        "无法得知哪些停顿属于任务时缺失。"
    ),
    (
        "How much sooner a step would end with fused operators in place of the chains: by a replay with "
        "one launch each (`removals`); what removing the chains wins, less what fused operators need, "
        "where launches were not recorded."
    ): (
        "以融合算子替换这些串后单步可提前多久结束：按每串只下发一次进行重放（`removals`）；"
        "未采集下发时，取去掉这些串的收益减去融合算子所需时间。"
    ),
    (
        "What would no longer go through memory per step: the tensors that the kernels read and write, "
        "less those of the passes that fused operators make; missing unless all shapes and data types "
        "were recorded."
    ): (
        "平均每步不再经过显存的数据量：各 kernel 读写的张量减去融合算子必须遍历的部分；形状与数据类型未全部采集时缺失。"
    ),
    (
        "tp, pp, dp …; missing when unknown. Of groups that nothing describes, `tp` where a served "
        "model reduces in each of its layers."
    ): ("通信域的用途：tp、pp、dp 等；未知时缺失。没有任何描述、而推理模型在每层都用它做规约的通信域记为 `tp`。"),
    (
        "The part by which a step would end sooner if all kernels of this type took no time, as in `operators`."
    ): "此类型的 kernel 都不耗时的话单步可提前结束的部分，与 `operators` 中相同。",
    "The same without the calls that launch nothing but these kernels; at most `unshared_us`, too.": (
        "同上，但不含只下发这些 kernel 的调用；同样不超过 `unshared_us`。"
    ),
    "How often the queue of the host was looked at; 0 where it was not.": ("查看 host 侧队列的次数；未查看时为 0。"),
    "Union of the kernels.": "所有 kernel 的并集时长。",
    "Size of one packet.": "单个数据包的大小。",
    "How many packets of this size, over all links.": "该大小的数据包数，各链路合计。",
    "Time these packets took together, links side by side added up.": "这些数据包的传输时间，并行的链路相加。",
    "Their bytes over that time: the bandwidth of one link.": "字节数除以该时间：单条链路的带宽。",
    "Time that passed: their share of the transit of the call.": ("实际经过的时间：在该次通信传输时间中所占的部分。"),
    (
        "The part of that which computation does not hide: the bare time of calls that follow each "
        "other without a pause, spread over what they moved on this kind of link; missing when not "
        "known."
    ): ("其中未被计算掩盖的部分：前后相接、没有停顿的各次通信的未掩盖时间，按该类链路上传输的数据分摊；未知时缺失。"),
    (
        "Data moving; what its links took where the profiler writes 0; missing where neither was measured."
    ): "实际传输数据的时间；profiler 写 0 时取各链路所用的时间；两者都没有时缺失。",
    "Start to end without waiting for ranks, as far as that is known.": (
        "从开始到结束，扣除已知的等待其他 rank 的时间。"
    ),
    "How the job is cut: `pipeline`, else `model`, else `data`; missing where not known.": (
        "任务的切分方式：`pipeline`，否则 `model`，否则 `data`；未知时缺失。"
    ),
    "From the last operator of the backward pass on.": "从反向的最后一个算子开始到 step 结束（拖尾）。",
    "Median duration of one; missing for totals.": "单次时长的中位数；汇总数据中缺失。",
    "The part of the device time in chains that one fused operator would replace (`fusible_chains`).": (
        "设备耗时中属于可由一个融合算子替换的算子串的部分（`fusible_chains`）。"
    ),
    "The same of chains whose fused operator serves inference alone; not in `chained_us`.": (
        "同上，但只计融合算子仅适用于推理的串；不含在 `chained_us` 中。"
    ),
    "Cube busy, weighted by time.": "Cube 单元忙的比例，按时间加权。",
    "Loading busy, weighted by time.": "搬入（MTE2）忙的比例，按时间加权。",
    (
        "In how many steps of the rank nearly all (four fifths) of what its kind loses lies, where that "
        "is half of them or fewer: those that lose more than a quarter of what the worst one does. "
        "Missing where no such few steps stand out, where fewer than three can be compared, and for "
        "`host`."
    ): (
        "这类损失的绝大部分（五分之四）落在该 rank 的几个 step 中，仅在不超过半数的 step 时给出："
        "即损失超过最严重 step 四分之一的那些。没有这样突出的 step、可比的 step 少于三个，以及 `host` "
        "时缺失。"
    ),
    "Step.": "单步耗时。",
    (
        "How much sooner a step of its peers would end if their communication took no time "
        "(`removals`), median: the most that a rank can cost them. Where their own hosts keep them busy "
        "as long it is less than they communicate. Missing where launches were not recorded."
    ): (
        "若同组其他 rank 的通信不耗时，它们的单步可提前多久结束（`removals`，中位数）：一个 rank "
        "最多能拖累它们这么多。它们自己的 host 同样使其忙碌时，小于其通信时间。未采集下发时缺失。"
    ),
    (
        "How much sooner a step would end if no other pipeline stage waited for its own "
        "(`stage_times`): the most that it can cost alone. Missing where there are no stages, or too "
        "little is known of one."
    ): (
        "若没有其他流水线 stage 等待本 stage，单步可提前多久结束（`stage_times`）："
        "它单独最多造成这么多损失。没有 stage 或所知太少时缺失。"
    ),
    "Communicator.": "通信域。",
    "Start.": "开始时刻。",
    (
        "From the first kernel or collective of the step to its last, and through the pause before the "
        "next step. Where msprof recorded a whole program and nothing in it is marked, no pause is "
        "known to be the job's: only the time of kernels and collectives, and free is missing."
    ): (
        "从该 step 的首个 kernel 或通信到最后一个，并包含到下一个 step 之前的停顿。msprof "
        "采集整个程序且没有任何标记时，无法得知停顿是否属于任务：只计 kernel 与通信的时间，空闲缺失。"
    ),
    "Collectives with no kernel beside them.": "没有 kernel 并行的通信（未掩盖）。",
    "All collectives of the run are of one communicator, and none is point to point.": (
        "本次运行的所有集合通信都在同一个通信域，且没有点到点通信。"
    ),
    "Formats of the inputs.": "输入的数据格式。",
    "Shapes of the outputs.": "输出的形状。",
    (
        "What they do to data where they compute nothing: `cast`, `move` (copy, transpose, cut, join) "
        "or `fill`; else `other`. An operator that does several has a row for each."
    ): (
        "不做计算的算子对数据做了什么：`cast`（类型转换）、`move`（拷贝、转置、切分、拼接）或 "
        "`fill`（填充）；其余为 `other`。一个算子做几件事时各列一行。"
    ),
    "The part per step in which nothing else ran on the device.": "平均每步中设备上没有其他任务并行的部分。",
    "Vector unit busy, weighted by time.": "Vector 单元忙的比例，按时间加权。",
    "It exchanges data inside, such as MatmulReduceScatter: its time holds waiting for other ranks.": (
        "内部进行数据交换（如 MatmulReduceScatter）：其耗时中含等待其他 rank 的时间。"
    ),
    "`env` (a variable), `profiler` (a switch), or of a snapshot `host`, `device`, `package`.": (
        "`env`（环境变量）、`profiler`（采集开关），或环境快照中的 `host`、`device`、`package`。"
    ),
    "Together.": "合计。",
    "Batches go to the device through a queue, ahead of the steps (data sinking).": (
        "批次通过队列先于 step 送到设备（数据下沉）。"
    ),
    "Most reserved.": "预留显存的峰值。",
    "Stage, from 0.": "stage，从 0 起。",
    "Communication per step, with such kernels.": "平均每步的通信时间，含内部带通信的 kernel。",
    "Device span of the step.": "该 step 在设备上的时长。",
    "File, relative to the input.": "文件，相对于输入路径。",
    "Line, row or byte offset of the first occurrence.": "首次出现的位置：行号、行序或字节偏移。",
    "What was wrong, in English.": "问题描述（英文）。",
    "`row` (some rows left out), `truncated`, `unreadable` (the file as a whole), `clock`.": (
        "`row`（部分行被略去）、`truncated`（被截断）、`unreadable`（整个文件无法读取）、`clock`（时间有误）。"
    ),
    "Rows or events left out.": "被略去的行或事件数。",
    "Part of the file's rows left out; 1 for a file that cannot be read.": (
        "文件中被略去的行所占比例；整个文件无法读取时为 1。"
    ),
    "`kernels`, or `totals` (of the profiler): then calls and time are those of the whole capture.": (
        "`kernels`，或 profiler 的 `totals`（汇总）：后者的次数与时间是整次采集的合计。"
    ),
    "Data moving, as in `collective_calls`.": "实际传输数据的时间，与 `collective_calls` 中相同。",
    "Waiting for peers, as in `collective_calls`.": "等待其他 rank 的时间，与 `collective_calls` 中相同。",
    "Neither, as in `collective_calls`.": "既非传输也非等待的时间，与 `collective_calls` 中相同。",
    "Other calls of its kind and communicator on this rank in this step.": (
        "该 rank 在这一 step 中同类、同通信域的其他调用数。"
    ),
    "Captured ranks that took part in it, this one included.": "参与该通信的已采集 rank 数，含自身。",
    "Elapse of the same call on the one of those where it was shortest.": (
        "同一次通信在其中耗时最短的 rank 上的时长。"
    ),
    "No earlier call of its communicator was recorded on this rank.": ("该 rank 上此前没有记录到该通信域的调用。"),
    "How long it was.": "等待的时长。",
    "Median tail of the peers.": "同组其他 rank 拖尾的中位数。",
    "Port of the device.": "设备的网口。",
    "Received or sent, whichever is more, over what it can carry; mean over the capture.": (
        "收发两者中较多的一方占链路能力的比例；整次采集的均值。"
    ),
    "Communication operator.": "通信算子。",
    "Core type; the one with most time where a type ran on several.": (
        "核类型；一种算子在多种核上运行时取耗时最多的。"
    ),
    "Part of the step, as in `operators`.": "占单步的比例，与 `operators` 中相同。",
    "Data type that is multiplied, such as BF16; missing where nothing is.": (
        "参与乘法的数据类型，例如 BF16；没有乘法时缺失。"
    ),
    "Cores with a cube unit, as in `chip_limits`; missing where none is used.": (
        "带 Cube 单元的核数，与 `chip_limits` 中相同；未用到时缺失。"
    ),
    "For how many requests: the median.": "请求数的中位数。",
    "Tokens it works on, with those that fill up a batch: the median.": (
        "处理的 token 数的中位数，含补齐 batch 的部分。"
    ),
    "Kernels per step.": "平均每步的 kernel 数。",
    "Their time.": "它们的耗时。",
    "Core type.": "核类型。",
    "Scalar unit busy, weighted by time.": "Scalar 单元忙的比例，按时间加权。",
    "How often.": "次数。",
    "The longest; missing when not recorded.": "最长的一次；未采集时缺失。",
    "Neither kernels nor collectives.": "既没有 kernel 也没有通信的时间。",
    "The part of free in which a memory copy runs; missing when only sums were recorded.": (
        "空闲中正在进行内存拷贝的部分；只有汇总数据时缺失。"
    ),
    "Start of the idle interval.": "空闲区间的开始时刻。",
    "Length; a hundredth of the step at least.": "时长；至少为单步的百分之一。",
    "Forward and backward pass.": "前向与反向。",
    "One GetNext on average; missing where none was recorded.": "单次 GetNext 的平均时长；没有记录时缺失。",
    "Stages of the pipeline.": "流水线的 stage 数。",
    "Kind of cost, as in `holdups`.": "开销的种类，与 `holdups` 中相同。",
    "What the step of this rank loses by it.": "该 rank 的单步因此损失的时间。",
    "Median of the other ranks in this step.": "这一 step 中其他 rank 的中位数。",
    "Mean of the stage.": "所在 stage 的均值。",
    (
        "Computation per step, without kernels that communicate inside: in those it waits for other ranks."
    ): "平均每步的计算时间，不含内部带通信的 kernel：其中含等待其他 rank 的时间。",
    "Median computation of the peers.": "同组其他 rank 计算时间的中位数。",
    "Median of the peers.": "同组其他 rank 的中位数。",
    "Free per step.": "平均每步的空闲时间。",
    "Median communication of the peers.": "同组其他 rank 通信时间的中位数。",
    (
        "Median of the longest of its kind and communicator in the other steps of its rank; missing without any."
    ): "该 rank 其他 step 中同类、同通信域最长一次的中位数；没有时缺失。",
    (
        "Its place in the step among calls of its kind and group, by start, from 0; calls that carry "
        "less than a tenth of the largest have none."
    ): "在该 step 的同类、同通信域调用中按开始时间的次序，从 0 起；数据量不足最大者十分之一的不编号。",
    (
        "Part of the kernels of its rank and step that began before it, by time or by number, whichever is less."
    ): "同一 rank、同一 step 中在其之前开始的 kernel 所占比例，按时间或按个数，取较小者。",
    "The part of the tail in which a collective runs; missing without collectives.": (
        "拖尾中有集合通信在运行的部分；没有集合通信时缺失。"
    ),
    "As in `port_counters`.": "与 `port_counters` 中相同。",
    "Packets received and sent during the capture; missing with less than two looks.": (
        "采集期间收发的包数；采样少于两次时缺失。"
    ),
    (
        "`prefill` (prompts are read), `decode` (each request gets its next tokens), `mixed` (both) or "
        "`unknown`. Marks say which. Else sizes do: a step reads prompts where the model works on more "
        "than twice as many rows as go through its last product; whether others get tokens in it is "
        "then told by operators alone, as is the phase where shapes were not recorded."
    ): (
        "`prefill`（读入 prompt）、`decode`（每个请求生成下一个 token）、`mixed`（两者兼有）或 "
        "`unknown`。由标记得知；没有标记时按规模判断："
        "模型处理的行数超过最后一个矩阵乘行数的两倍时为读入 prompt；其中是否还有其他请求在生成，"
        "仅由算子判断，未采集形状时的阶段也是如此。"
    ),
    (
        "What told where steps begin: `marks` of the engine around each, `calls` of its function that "
        "runs one, or `repetition`, an estimate by what repeats on the device."
    ): (
        "由什么得知 step 的起点：引擎在每步前后的 `marks`、引擎执行一步的函数 `calls`，或 "
        "`repetition`（按设备上的重复规律估计）。"
    ),
    "Steps; of those that were found by repetition only whole ones between two others.": (
        "step 数；按重复规律找到的只计前后都有 step 的完整 step。"
    ),
    (
        "From the start of a step to that of the next, the median: on the device, from the first kernel "
        "that each launched, else on the host."
    ): ("从一个 step 开始到下一个开始的时间（中位数）：以各步下发的首个 kernel 在设备上计，否则在 host 上计。"),
    (
        "Idle time of the device before a step, copies aside: from the last kernel of those before it "
        "to the first that the host launched in it, or between the two around its start where that is "
        "more. The median, 0 where the device is busy. By repetition what idles from the choice of "
        "tokens to the first layer."
    ): (
        "step 之前设备的空闲时间，拷贝除外：从此前各步的最后一个 kernel 到 host 在该步下发的首个 "
        "kernel，或其起点前后两个 kernel 之间，取较大者。取中位数，设备忙时为 0。"
        "按重复规律划分时为从采样 token 到第一层之间的空闲。"
    ),
    "What ran, where an operator may run several functions: traces of GPUs name it.": (
        "算子可能执行多种函数时实际执行的函数：GPU 的 trace 中有其名称。"
    ),
    (
        "Its inputs are float32: by their types, or where none were recorded by the name of the kernel, "
        "in which libraries for GPUs say it. Missing where neither tells."
    ): ("输入为 float32：按类型判断，未采集类型时按 kernel 名判断（GPU 的算子库在名称中注明）。两者都无法得知时缺失。"),
    "Mean duration if each took no longer than the fastest quarter of them.": (
        "若每次都不超过最快的四分之一，平均时长会是多少。"
    ),
    "Part of its time in kernels that may multiply float32 as HF32; missing when not recorded.": (
        "其耗时中允许以 HF32 计算 float32 乘法的 kernel 所占比例；未采集时缺失。"
    ),
    "It waits for other ranks inside, as in `operator_shapes`.": (
        "其内部会等待其他 rank，与 `operator_shapes` 中相同。"
    ),
    "The part in which no other kernel ran, as in `operators`.": (
        "没有其他 kernel 并行的部分，与 `operators` 中相同。"
    ),
    (
        "`dispatch` (aclopCompileAndExecute, built before or not) or `synchronise` (waits for the device)."
    ): "`dispatch`（aclopCompileAndExecute，无论此前是否已编译）或 `synchronise`（等待设备）。",
    "All kernels of the rank together, by their totals; missing when not recorded.": (
        "按汇总数据，该 rank 全部 kernel 的合计；未采集时缺失。"
    ),
    (
        "For `host`: how much of `lost_us` falls away where the step reads no value of the device, not "
        "even the last: what the host does after a read is hidden else. Missing in steps that read no "
        "more than two, and for all other kinds."
    ): (
        "`host`：若该 step 不从设备读取任何值（包括最后一次），`lost_us` 中可消除的部分；否则读取之后 "
        "host 所做的事会被掩盖。该 step 的读取不超过两次时，以及其他种类均缺失。"
    ),
    (
        "As in `gaps`, the causes that lie on the host; an interval that only begins in a wait is what "
        "came after: `python` where a call of the framework covers most of it, else `host_late`."
    ): (
        "成因在 host 的空闲，分类与 `gaps` 相同；仅起始于等待的区间归于其后的原因："
        "大部分被框架调用占据的为 `python`，否则为 `host_late`。"
    ),
    (
        "Part of it in which any recorded call ran on the host, ranges that hold other calls aside; "
        "missing where none was recorded."
    ): "其中 host 上有任何已记录的调用在运行的比例，包住其他调用的区间不计；没有记录时缺失。",
    (
        "The longest interval charged to the host in the middle one of the other steps; missing as above."
    ): "其他 step 的中间一步里归因于 host 的最长空闲区间；无从比较时缺失。",
    "Processors of the host that were neither idle nor waiting for files.": (
        "host 上既不空闲也不在等待文件的处理器数。"
    ),
    "Per step: GetNext within iteration intervals, which it should run ahead of.": (
        "平均每步落在迭代间隔内的 GetNext 时间，正常情况下它应提前完成。"
    ),
    (
        "Memory of the chip where its name tells, recorded or told (`--chip`), or where all chips agree "
        "whose cores run at the clock that its kernels counted; missing otherwise."
    ): (
        "芯片的显存容量：由记录或指明（`--chip`）的型号得知，或由 kernel 计得的时钟所对应、"
        "容量一致的所有芯片得知；否则缺失。"
    ),
    "Computation, of the rank in the middle, of two the quicker: a slow rank makes no stage heavy.": (
        "计算时间，取中间的 rank，只有两个时取较快者：单个慢卡不会使 stage 显得过重。"
    ),
    "Time in sends and receives not hidden behind computation, mean over its ranks.": (
        "未被计算掩盖的 send 与 receive 时间，取各 rank 的均值。"
    ),
    "Mean computation of all stages, each over its steps; missing where one was not captured.": (
        "所有 stage 计算时间的均值，各取其全部 step；有 stage 未采集时缺失。"
    ),
    (
        "What it loses beyond them, as far as they wait for it: at most by how much their exposed "
        "communication in this step or the next, on average, is longer than its own."
    ): ("比其他 rank 多损失、且其他 rank 因此等待它的部分：至多为它们在该步或下一步的未掩盖通信比它平均多出的时间。"),
    "The same of this rank in all steps in which it was held up most, spread over all steps.": (
        "该 rank 被拖累最多的所有 step 中的同一数值，分摊到全部 step。"
    ),
    "Recorded steps of the rank.": "该 rank 采集到的 step 数。",
    "Median span of the other steps; missing when there is no other.": (
        "其他 step 时长的中位数；没有其他 step 时缺失。"
    ),
    (
        "First or last recorded step. None is where three were recorded of which the first and the last "
        "are alike and the one between them is longer."
    ): "采集到的第一个或最后一个 step。采集了三个且首尾相近、中间一个更长时，没有一个算作边缘。",
    (
        "Span of the step beside it, of the one before where there are two; missing when there is no other."
    ): "相邻 step 的时长，两侧都有时取前一个；没有相邻 step 时缺失。",
    "Launches whose call and task were both recorded.": "调用与任务都有记录的下发数。",
    "Those whose task begins more than 1 ms before the call that launched it.": (
        "其中任务开始时刻比下发它的调用早 1 ms 以上的数量。"
    ),
    (
        "Shortest time from the start of a call to that of its task; below zero where a task began first."
    ): "从调用开始到任务开始的最短时间；任务先开始时为负。",
    "From the first of these calls to the last one.": "从其中第一个调用到最后一个的时间。",
    (
        "`overlap_analysis` (the lane of the timeline, or the table of that name), `step_trace_time` "
        "(StepTraceTime) or `op_statistic`."
    ): ("`overlap_analysis`（时间线中的泳道，或同名的表）、`step_trace_time`（StepTraceTime）或 `op_statistic`。"),
    "`compute` or `exposed_comm`.": "`compute` 或 `exposed_comm`。",
    "As the profiler summed it up: over the steps, or over the whole capture.": (
        "profiler 汇总的值：按 step 或按整次采集。"
    ),
    "The same time of kernels and collectives; for `op_statistic` their durations added up.": (
        "由 kernel 与集合通信得出的同一时间；`op_statistic` 为其时长之和。"
    ),
    "All the time the witness speaks of.": "该汇总所涵盖的全部时间。",
    "As in `holdups`; `host`, `drain` and `unqueued` aside.": (
        "与 `holdups` 中相同，不含 `host`、`drain` 与 `unqueued`。"
    ),
    "The call; of calls inside each other the outermost of its kind.": "调用；嵌套时取同类中最外层的一个。",
    "Length.": "时长。",
    "The part during which the device was free; missing where gaps are not known.": (
        "其中设备空闲的部分；无法得知空闲区间时缺失。"
    ),
    "Union of the kernels that are in the list; missing when there is no list.": (
        "列表中各 kernel 的并集时长；没有列表时缺失。"
    ),
    (
        "How much of the step the list of kernels contradicts: the profiler's own sums where they were "
        "recorded, else the idle time the rows themselves give; 0 for a list that is whole, missing "
        "when there is no list."
    ): (
        "单步中与 kernel 列表矛盾的时间：有 profiler 汇总时以其为准，否则以各行给出的空闲时间为准；"
        "列表完整时为 0，没有列表时缺失。"
    ),
    (
        "`intervals` (recomputed from events), `recorded` (the profiler's own sums), or `incomplete` "
        "(kernels are missing from the list and no sums were recorded)."
    ): ("`intervals`（由事件重新计算）、`recorded`（profiler 的汇总）或 `incomplete`（列表缺少 kernel 且没有汇总）。"),
    "Call stacks were recorded.": "采集了调用栈。",
    "Memory was recorded.": "采集了内存。",
    "text, database, text+database, trace, insight or cluster.": (
        "text、database、text+database、trace、insight 或 cluster。"
    ),
    "-1 for Level_none, 0 to 2 otherwise.": "Level_none 为 -1，其余为 0 至 2。",
    "Table that is looked at, as in `rank_coverage`.": "所考察的表，与 `rank_coverage` 中相同。",
    (
        "Table whose rows each need one of it; `collectives` by `collectives` are those of other members."
    ): "其每一行都需要对应行的表；`collectives` 对 `collectives` 指其他成员的通信。",
    "Rows that need one.": "需要对应行的行数。",
    "Of these, rows that have one.": "其中有对应行的行数。",
    (
        "How many rows without one follow each other in time, between two that have one; missing where "
        "only numbers are compared."
    ): "在两个有对应行的行之间，连续有多少行没有对应行；只能比较数量时缺失。",
    "File that holds the table, or table of the database.": "该表所在的文件，或数据库中的表。",
    "Steps were marked with prof.step().": "用 prof.step() 标记了 step。",
    "The profiler was stopped properly.": "profiler 正常结束。",
    "The start, counted from 1970; missing where clocks count from the start of a host.": (
        "开始时刻，自 1970 年起算；时钟自 host 启动起算时缺失。"
    ),
    "The end, counted likewise.": "结束时刻，起算方式相同。",
    "From its first kernel or collective to the begin of its work; part of no span.": (
        "从首个 kernel 或通信到正式工作开始的时间；不计入任何时长。"
    ),
    "Kernels and collectives in that time.": "这段时间内的 kernel 与通信数。",
    "Further captures of the same rank that were left aside.": "同一 rank 未被采用的其他采集份数。",
    "How long it took, by the profiler's sums or else from start to end on the host.": (
        "耗时，按 profiler 的汇总，否则按 host 上从开始到结束。"
    ),
    "The longest of the other steps, told in the same way.": "其他 step 中最长的一个，计法相同。",
    "Kernels, collectives and copies, what runs at once counted once.": (
        "kernel、通信与拷贝的时间，同时运行的只计一次。"
    ),
    "Pauses between them.": "它们之间的停顿。",
    "Pauses together.": "停顿合计。",
    "The median one; missing where there is none, as what follows.": ("停顿的中位数；没有停顿时缺失，下列各项同此。"),
    "The longest one.": "最长的一次停顿。",
    "Calls that another rank made too: the same kind, step, communicator and number.": (
        "其他 rank 也发出的调用：种类、step、通信域与序号均相同。"
    ),
    (
        "Of these, calls that were the same operation on no other rank: brought to one clock they did "
        "not end together. They are compared with nothing."
    ): "其中在其他 rank 上都不是同一次操作的调用：换算到同一时钟后并未同时结束，不与任何调用比较。",
    "Its part of all exposed collective time of this rank and step.": ("占该 rank、该 step 全部未掩盖通信的比例。"),
    "Union of the collectives.": "所有集合通信的并集时长。",
    "Collectives with kernels beside them.": "有 kernel 并行的集合通信时间。",
    "Time in pipeline sends and receives not hidden behind computation.": (
        "未被计算掩盖的流水线 send 与 receive 时间。"
    ),
    "Neither; missing likewise.": "两者都不是的时间；同样可能缺失。",
    "From the end of the one whose turn was before to its start; 0 where they overlap.": (
        "从前一个次序的调用结束到它开始的时间；有重叠时为 0。"
    ),
    "Packets dropped meanwhile.": "期间丢弃的包数。",
    "Packets with errors meanwhile.": "期间出错的包数。",
    "Packets sent again after a time-out meanwhile.": "期间超时重传的包数。",
    "Notifications of congestion (CNP) meanwhile.": "期间的拥塞通知（CNP）数。",
    "Requests to pause (PFC) meanwhile.": "期间的暂停请求（PFC）数。",
    "That size is a multiple of 512 bytes.": "该大小为 512 字节的整数倍。",
    "tp, pp, dp …; missing when unknown.": "tp、pp、dp 等；未知时缺失。",
    "Host of its members.": "其成员所在的 host。",
    "Members of the communicator.": "通信域的成员数。",
    "Captured ranks on that host.": "该 host 上已采集的 rank 数。",
    (
        "Traffic over HCCS or SIO leads from each member to each other, from rank to rank of the run; "
        "missing where none was recorded on that host."
    ): ("按本次运行中 rank 间的流量，HCCS 或 SIO 能从每个成员通到其他每个成员；该 host 上没有此类记录时缺失。"),
    "Time that passed, as in `moves`, all calls together.": "实际经过的时间，与 `moves` 中相同，各次调用合计。",
    "The part of that which computation does not hide, as in `moves`.": ("其中未被计算掩盖的部分，与 `moves` 中相同。"),
    "Bytes moved over the time that passed.": "传输字节数除以实际经过的时间。",
    "Of all bytes that the rank moved for this communicator: over HCCS or SIO.": (
        "该 rank 为此通信域传输的全部字节中，经 HCCS 或 SIO 的比例。"
    ),
    "Median bandwidth of one HCCS link on that host in large packets; missing without any.": (
        "该 host 上单条 HCCS 链路传输大包时带宽的中位数；没有时缺失。"
    ),
    "Their median elapse; missing where there are none.": "其时长的中位数；没有时缺失。",
    "Their median payload.": "其数据量的中位数。",
    "Its longest wait for another rank; missing where it is less than half of the call.": (
        "等待另一 rank 最长的一次；不足该次调用一半时缺失。"
    ),
    (
        "The rank it waited for in the end, from captured rank to captured rank; missing where not known."
    ): "逐个已采集的 rank 追溯后，最终等待的 rank；未知时缺失。",
    "Place of that rank in the communicator.": "该 rank 在通信域中的位置。",
    "Ranks for which this rank waited as long, or nearly, as in `collective_calls`.": (
        "该 rank 同样（或几乎同样）等待的 rank，与 `collective_calls` 中相同。"
    ),
    "That rank was not captured; missing where it is not known who it is.": (
        "被等待的 rank 未被采集；不知道是谁时缺失。"
    ),
    (
        "That rank came late itself, and was not held up by another one in this call; missing if not known."
    ): "被等待的 rank 是自己来晚，并非在这次通信中被别的 rank 拖住；未知时缺失。",
    (
        "Other calls of its kind and communicator in this step that wait for most of their time for the "
        "same rank, which was not captured and came late in each."
    ): "这一 step 中同类、同通信域里大部分时间都在等同一个未采集且每次都来晚的 rank 的其他调用。",
    "Those waits, computation aside.": "这些等待的时间，计算除外。",
    "Kind of collective.": "集合通信的种类。",
    "Type of the operator that began last before; missing where none did in the step.": (
        "在其之前最后开始的算子的类型；该 step 中没有时缺失。"
    ),
    "Type of the first operator that begins when it has ended; missing likewise.": (
        "其结束后最先开始的算子的类型；同样可能缺失。"
    ),
    "Name of the former, where the collective is exposed longest.": "未掩盖时间最长处，前一个算子的名称。",
    "Name of the latter, there.": "该处后一个算子的名称。",
    "With no kernel beside them, per step.": "平均每步没有 kernel 并行的时间。",
    "Kind of operator, as in `collectives`.": "算子种类，与 `collectives` 中相同。",
    "HCCS, RDMA, PCIE, SIO. The SDMA sum of the files is left out: it counts them again.": (
        "链路类型：HCCS、RDMA、PCIE、SIO。文件中的 SDMA 合计不计：它会重复计算前几项。"
    ),
    "Size of one packet (MB of the files are 1e6 bytes).": "单个数据包的大小（文件中的 MB 为 1e6 字节）。",
    "How many packets of this size.": "该大小的数据包数。",
    "Time these packets took together.": "这些数据包合计的时间。",
    "What the port can carry each way.": "网口每个方向的能力。",
    (
        "The part about its middle, in one piece, with no kernel beside it; 0 where one runs at its middle."
    ): "围绕其中点、连续且没有 kernel 并行的部分；中点有 kernel 运行时为 0。",
    (
        "Of the pause in computation in which that part lies, from one kernel to the next, what no "
        "collective takes; missing where there is none, or no kernel comes before or after."
    ): ("该部分所在的计算停顿（前后两个 kernel 之间）中没有集合通信的时间；没有这样的停顿，或前后没有 kernel 时缺失。"),
    "Bandwidth of one such link by the name of the chip, recorded or told; missing where unknown.": (
        "按芯片型号（记录或指明）得知的单条同类链路带宽；未知时缺失。"
    ),
    "The rank it waited for longest; missing where nothing tells who that is.": (
        "等待最久的 rank；没有信息说明是谁时缺失。"
    ),
    "Place of that rank in the communicator; missing where none was recorded.": (
        "该 rank 在通信域中的位置；没有记录时缺失。"
    ),
    "That rank had not come when the wait began; missing where the wait does not tell.": (
        "等待开始时该 rank 尚未到达；等待本身无法说明时缺失。"
    ),
    (
        "The part of that wait for a rank that was not captured and had not come when it began: all of "
        "it, or 0; missing where no wait was recorded, or nothing tells for whom."
    ): ("其中等待某个未采集、且等待开始时尚未到达的 rank 的部分：全部或 0；没有记录等待，或无法得知等的是谁时缺失。"),
    "The longest waits of all calls of its rank for that rank together.": (
        "该 rank 的所有调用中等待那个 rank 的最长等待之和。"
    ),
    "Ranks that took part and were captured.": "参与且已采集的 rank 数。",
    "Elapse on the rank where it was shortest: the time it really takes.": (
        "耗时最短的 rank 上的时长：真正需要的时间。"
    ),
    "Elapse on the rank that waited longest.": "等待最久的 rank 上的时长。",
    "Mean over the ranks of elapse minus the shortest elapse.": "各 rank 时长减去最短时长的均值。",
    (
        "The part of that in which stages of a pipeline that ended their last micro-batch wait for "
        "those that did not yet, as in `stage_times`; missing without stages."
    ): (
        "其中已结束最后一个 micro-batch 的流水线 stage 等待尚未结束者的部分，与 `stage_times` 中相同；"
        "没有 stage 时缺失。"
    ),
    "The rank with the shortest elapse: it came last, the others waited.": (
        "时长最短的 rank：它最后到达，其他 rank 在等它。"
    ),
    "Mean over the ranks of the part with no kernel beside it.": "没有 kernel 并行的部分，取各 rank 的均值。",
    "Cycles in which the vector unit waits for a bank or bank group of its buffer, weighted by time.": (
        "Vector 单元等待其缓冲区的 bank 或 bank group 的周期占比，按时间加权。"
    ),
    "The same for instructions that need the same unit.": "同上，指等待同一单元的指令。",
    (
        "One product of two matrices, without batches, groups or quantisation, that waits for no other "
        "rank: what a chip does best. Missing where no shapes were recorded."
    ): ("两个矩阵的单次乘法，不含 batch、分组与量化，也不等待其他 rank：芯片最擅长的计算。未采集形状时缺失。"),
    "A row of a factor ends within 512 bytes, on GPUs within 16; missing of others than products.": (
        "某个因子的一行不以 512 字节（GPU 为 16 字节）对齐结束；非乘法缺失。"
    ),
    "Operations per second, in 10^12.": "每秒运算次数，单位 10^12。",
    "Inputs and outputs per second.": "每秒的输入与输出数据量。",
    "What its operations take at the peak for this data type; missing where unknown.": (
        "以该数据类型的峰值完成其运算所需的时间；未知时缺失。"
    ),
    "The most of the peak that products reach on this chip, as in `chip_limits`.": (
        "乘法在该芯片上能达到的峰值比例的上限，与 `chip_limits` 中相同。"
    ),
    "What its bytes take at the full bandwidth of the device memory.": "以显存的全部带宽传输其数据所需的时间。",
    "Part of the peak that it uses (model FLOPs utilisation).": "达到峰值的比例（MFU）。",
    "Part of the bandwidth that it uses.": "达到带宽的比例。",
    "The larger of `compute_us` and `memory_us`; missing unless both are known.": (
        "`compute_us` 与 `memory_us` 中较大者；两者不全时缺失。"
    ),
    "`expected_us` over its mean duration.": "`expected_us` 除以平均时长。",
    (
        "The largest `roofline_share` of kernels of the same family and data type on this rank, the "
        "quickest tenth of their time left aside."
    ): "该 rank 上同类工作、同数据类型的 kernel 中最大的 `roofline_share`，不计其中最快的十分之一时间。",
    "`compute` or `memory`: which of the two takes longer; missing unless both are known.": (
        "`compute` 或 `memory`：两者中耗时较长的；两者不全时缺失。"
    ),
    (
        "Of these, those while requests are being answered: mixed ones, and right after one that generates."
    ): "其中有请求正在生成时的 step：mixed 的 step，以及紧接在生成之后的 step。",
    "Shapes of the inputs; one, or that of the output, is the shape of a cache.": (
        "输入的形状；其中之一或输出的形状即某个 cache 的形状。"
    ),
    "Different input shapes in the step; missing when none was recorded.": (
        "该 step 中不同的输入形状数；未采集时缺失。"
    ),
    "Those that no earlier step had; missing likewise.": "此前的 step 中未出现过的形状数；同样可能缺失。",
    "Longest of all.": "所有中最长的一次。",
    "Highest recorded.": "记录到的最高频率。",
    (
        "Clock it was built for: that of info.json, else the least of all chips of its name; missing if unknown."
    ): "设计频率：取自 info.json，否则取同名芯片中最低的；未知时缺失。",
    "The larger of highest and nominal.": "最高频率与标称频率中较大者。",
    "Lowest recorded.": "记录到的最低频率。",
    "Mean over time.": "按时间的均值。",
    "Part of the time below 95 % of the full clock.": "低于满频 95 % 的时间占比。",
    "Computation per step during the time counted in `low_share`.": ("计入 `low_share` 的时间内平均每步的计算时间。"),
    (
        "L2 cache: requests it answered over all, of aic_metrics=L2Cache, else the mean of l2_cache by time."
    ): "L2 cache：命中的请求占全部请求的比例，取自 aic_metrics=L2Cache，否则取 l2_cache 按时间的均值。",
    (
        "A Gather along the last axis of its input, by its shapes; missing for others and where they do not tell."
    ): "沿输入最后一维的 Gather，按形状判断；其他算子及形状无法说明时缺失。",
    "The module below those around it, with `/` between; missing for what is in none.": (
        "模块及其外层模块，以 `/` 分隔；不在任何模块中的缺失。"
    ),
    "Modules of this name that were told apart by their number or that of another.": (
        "同名而以自身或外层的编号区分的模块数。"
    ),
    "Time of its kernels per step.": "平均每步其 kernel 的耗时。",
    "The part that no module inside of it has.": "其中不属于任何内层模块的部分。",
    "The part in the backward pass, without what is computed again.": "反向的部分，不含重计算。",
    "The part that is computed again inside the backward pass.": "在反向内重新计算的部分。",
    "Time per step of the collectives it launched, hidden or not.": (
        "平均每步由其下发的集合通信时间，无论是否被掩盖。"
    ),
    "The same part of the time in which the device computes, as a part of the step.": (
        "设备计算时间中相应的部分，按占单步的比例表示。"
    ),
    (
        "Part of the peak of the chip that its products, convolutions and attention use in all of its "
        "kernel time; missing where there are none, or the operations of too many or the peak are not "
        "known."
    ): (
        "其乘法、卷积与 attention 在全部 kernel 耗时内达到芯片峰值的比例；没有这些算子、"
        "运算量大多未知或峰值未知时缺失。"
    ),
    "Part of its kernel time in the one module inside of it that takes most.": (
        "其 kernel 耗时中，耗时最多的单个内层模块所占比例。"
    ),
    "Kernel as large as its stride, nothing padded; missing where shapes do not tell.": (
        "卷积核与步长相同且无填充；形状无法说明时缺失。"
    ),
    "The part per step in which no other kernel ran, as in `operators`.": (
        "平均每步没有其他 kernel 并行的部分，与 `operators` 中相同。"
    ),
    (
        "What matrix multiplications as large would take per step, at the mean rate at which those of "
        "the same data type run on this rank; missing where none of 20 µs or more did."
    ): (
        "同等规模的矩阵乘平均每步所需的时间，按该 rank 上同数据类型矩阵乘的平均速度计算；没有 20 µs "
        "以上的矩阵乘时缺失。"
    ),
    (
        "How most of it shows: `checkpoint` (inside a call of checkpointing), `module` (modules called "
        "inside of backward operators), `name` (MindSpore names the copies), or `layers` (layers of "
        "several kinds run again among backward operators; then what follows the last of them is not "
        "counted)."
    ): (
        "其大部分由什么看出：`checkpoint`（在重计算的调用内）、`module`（反向算子内调用的模块）、"
        "`name`（MindSpore 为副本命名）或 `layers`（多种层在反向算子之间再次运行；"
        "此时其最后一个之后的不计）。"
    ),
    "Kernels that are launched again.": "再次下发的 kernel 数。",
    "Part of the device's memory that is taken at the peak; missing where that was not recorded.": (
        "峰值时占用的设备显存比例；未采集时缺失。"
    ),
    "Operator types in order.": "按顺序的算子类型。",
    "How often per step, none overlapping another.": "平均每步的次数，互不重叠。",
    "These operators per step.": "平均每步这些算子的耗时。",
    "The part per step in which nothing else ran.": "平均每步没有其他任务并行的部分。",
    "The longest operator of each, per step: about what one kernel would need.": (
        "平均每步各串中最长的算子：合成一个 kernel 大约所需的时间。"
    ),
    "Pauses between them per step; of each sequence no more than its operators take.": (
        "平均每步它们之间的停顿；每串不超过其算子的耗时。"
    ),
    "Mean duration if each took no longer than the fastest quarter of them, as in `operator_shapes`.": (
        "若每次都不超过最快的四分之一，平均时长会是多少，与 `operator_shapes` 中相同。"
    ),
    (
        "It reads or writes where indices say, as gathering, scattering and embedding do, keeps the "
        "indices it finds, as pooling and sorting do, or adds up along an axis."
    ): "按索引读写（如 gather、scatter、embedding），保留所得索引（如池化、排序），或沿某一维求和。",
    (
        "What all its inputs and outputs take at that bandwidth, at most what it has to move; where "
        "outputs were not recorded, twice the inputs of operators that write no more than they read. "
        "Missing of operators that use the cube unit."
    ): (
        "以该带宽传输其全部输入与输出所需的时间，至多为必须传输的部分；未采集输出时，"
        "写不多于读的算子按输入的两倍计。使用 Cube 单元的算子缺失。"
    ),
    "How many per step ran beside communication.": "平均每步与通信并行的次数。",
    "How many per step ran with none of it beside them.": "平均每步完全不与通信并行的次数。",
    "Median duration beside communication.": "与通信并行时时长的中位数。",
    "Median duration without.": "不并行时时长的中位数。",
    "The former over the latter.": "前者与后者之比。",
    "Device time per step of those beside communication.": "平均每步与通信并行者的设备耗时。",
    "What these would take at the median of those without.": "按不并行时的中位数，它们所需的时间。",
    "How much longer they take than that, all together; 0 where they are shorter.": (
        "合计比该时间多出的部分；更短时为 0。"
    ),
    "The quickest quarter beside communication takes longer than the slowest quarter without.": (
        "与通信并行的最快四分之一仍慢于不并行的最慢四分之一。"
    ),
    "Their time in a quick step, on average.": "在快 step 中的平均耗时。",
    "Their time in a slow step, on average.": "在慢 step 中的平均耗时。",
    "The latter over the former.": "后者与前者之比。",
    "What they take beyond a quick step, spread over all steps.": "比快 step 多出的耗时，分摊到全部 step。",
    "How much more of their time lay beside communication in slow steps than in quick ones.": (
        "慢 step 中与通信并行的耗时比快 step 多出的部分。"
    ),
    "Shapes of their inputs, or the blocks they were split into, were recorded.": (
        "采集了输入的形状，或其切分的 block 数。"
    ),
    "Steps of the rank that were compared.": "参与比较的 step 数。",
    "Those of them in which the kernels of the rank are slow.": "其中 kernel 偏慢的 step 数。",
    "Number of the first slow step.": "第一个慢 step 的编号。",
    "All steps from the first slow one on are slow.": "从第一个慢 step 起全部偏慢。",
    "How clearly slow and quick steps lie apart, as in `operator_shapes`.": (
        "慢 step 与快 step 分得多开，与 `operator_shapes` 中相同。"
    ),
    "Part of all kernel time of these steps that was compared.": ("这些 step 的全部 kernel 耗时中参与比较的比例。"),
    (
        "How much sooner a step of the rank would end, on average, if all its kernels were as quick in "
        "every step; their whole excess where the rank could not be replayed."
    ): ("若每步的 kernel 都同样快，该 rank 的单步平均可提前多久结束；无法重放该 rank 时取全部超出的部分。"),
    (
        "The busiest pipe of all (cube, vector, scalar, loading, storing, moving within the core); "
        "missing unless loading, scalar and an arithmetic unit were recorded."
    ): (
        "最忙的流水单元（Cube、Vector、Scalar、搬入、搬出、核内搬运）；除非搬入、Scalar "
        "与某个计算单元都已采集，否则缺失。"
    ),
    "The fused operator as CANN names it, or what runs over all tensors at once.": (
        "融合算子在 CANN 中的名称，或一次处理所有张量的做法。"
    ),
    "`training` or `inference` where that operator serves it alone, else missing.": (
        "融合算子只用于训练或只用于推理时为 `training` 或 `inference`，否则缺失。"
    ),
    "The pattern says what to do; else a rule of its own does.": "修改方法由该模式给出；否则由单独的规则给出。",
    "Conversions and copies between the members of the chains, per step.": ("平均每步各串成员之间的类型转换与拷贝。"),
    "The operator type that takes most of that time; missing where nothing stands there.": (
        "占其中时间最多的算子类型；其间没有算子时缺失。"
    ),
    (
        "How much sooner a step would end if each took no longer than the fastest quarter of them; "
        "their whole excess where the rank could not be replayed."
    ): "若每次都不超过最快的四分之一，单步可提前多久结束；无法重放该 rank 时取全部超出的部分。",
    (
        "Standard deviation of the duration over its mean; where every step has as many calls, from the "
        "mean of those at the same place of a step."
    ): "时长的标准差与均值之比；每个 step 的调用数相同时，以各 step 同一位置的均值为基准。",
    (
        "Steps in which they take longer than in the others, parted where their times lie furthest "
        "apart; missing where not every step has as many of them, where fewer than two steps are slow "
        "or quick, and where the slow ones came first. The first step is left out."
    ): (
        "耗时比其他 step 长的 step 数，以耗时相差最大处为界；各 step 的个数不同、慢或快的 step "
        "少于两个、慢的在前时缺失。首个 step 不计。"
    ),
    "Their mean time in slow steps over that in quick ones; missing as above.": (
        "慢 step 与快 step 平均耗时之比；同样可能缺失。"
    ),
    "What they take in slow steps beyond a quick one, spread over all steps; missing as above.": (
        "慢 step 比快 step 多出的耗时，分摊到全部 step；同样可能缺失。"
    ),
    (
        "How clearly both levels lie apart: the gap between them as a part of the gap and the larger "
        "spread on one of them; 1 where there is no spread."
    ): "两个水平分得多开：其间距占间距与较大离散度之和的比例；没有离散度时为 1。",
    "The time of all other kernels of the rank in these slow steps over that in the quick ones.": (
        "在这些慢 step 中，该 rank 其他所有 kernel 的耗时与快 step 中之比。"
    ),
    (
        "The innermost module that nearly all of it is in, with `/` between; missing where there is none."
    ): "几乎全部所在的最内层模块，以 `/` 分隔；没有时缺失。",
    "Kernels.": "kernel 数。",
    "Part of their time in kernels that the forward pass that is trained on has as well.": (
        "其耗时中，参与训练的前向中同样存在的 kernel 所占比例。"
    ),
    "Name of the variable.": "变量名。",
    (
        "How much shorter a step would be without waits for the device that are no part of a read or a "
        "copy, the last of each step aside (`holdups`, `drain`); missing where that is not known."
    ): ("若没有既非读取也非拷贝的设备等待（每步最后一次除外），单步会缩短多久（`holdups`，`drain`）；未知时缺失。"),
    "As in `engine_steps`; missing in the row of all kernels of the rank.": (
        "与 `engine_steps` 中相同；该 rank 全部 kernel 的一行缺失。"
    ),
    "Kernels whose launch was recorded.": "记录了下发的 kernel 数。",
    "Host calls that launched them; one that replays a graph launches many.": (
        "下发它们的 host 调用数；重放图的一次调用下发很多 kernel。"
    ),
    "These kernels together.": "这些 kernel 的合计耗时。",
    (
        "How much shorter a step would be with a host that launches early enough (`holdups`, `host`), "
        "by what this phase launches, but for pauses of more than 1 ms; missing where that is not known."
    ): (
        "若 host 下发得足够早，单步会缩短多久（`holdups`，`host`），按该阶段下发的部分计，不含超过 1 ms "
        "的停顿；未知时缺失。"
    ),
    (
        "How much of a step the phase takes on the device, from the end of what came before it: the "
        "most that it can lose. Missing in the row of all kernels."
    ): "该阶段在设备上占单步的时间，自此前工作结束起算：它最多能损失这么多。全部 kernel 的一行缺失。",
    (
        "Such calls for each kernel that ran, listed with a launch or not, in the tenth of the steps of "
        "the engine with fewest: at most so many. One where each is launched by itself, few where "
        "graphs are replayed. Missing where steps are not known."
    ): (
        "平均每个运行过的 kernel（无论是否有下发记录）对应的下发调用数，取引擎 step 中最少的十分之一："
        "至多如此。逐个下发时为 1，重放图时很小。step 未知时缺失。"
    ),
    "Of these, those of which the idle time before them is known; not of the first one seen.": (
        "其中之前的空闲时间已知的 step；不含首个。"
    ),
    "`comm` or `copy`.": "`comm` 或 `copy`。",
    "Kind of collective, or `copy`.": "集合通信的种类，或 `copy`。",
    "Length of the long task.": "长任务的时长。",
    "A synchronising host call waited for it.": "有同步的 host 调用在等待它。",
    "Vertical links in the stretch that follows, without a break.": "随后一段不间断的竖直下发连线数。",
    "Idle time of the device in that stretch.": "该段内设备的空闲时间。",
    "Kernels, collectives and copies whose launch was recorded, as in `dispatches`.": (
        "记录了下发的 kernel、通信与拷贝数，与 `dispatches` 中相同。"
    ),
    "Those with a vertical link.": "其中下发连线竖直（设备在等下发）的数量。",
    "How long the device had been idle before the late ones, together.": "晚到的任务之前设备空闲的总时间。",
    "The longest of these; missing without any.": "其中最长的一次；没有时缺失。",
    "Calls that launch one kernel, of kernels alike in type and shapes all but the first.": (
        "只下发一个 kernel 的调用，同类型同形状的 kernel 不计第一个。"
    ),
    "Median time of such a call.": "这类调用耗时的中位数。",
    "Calls that took more than ten times as long.": "耗时超过其十倍的调用数。",
    "The longest call.": "最长的一次调用。",
    "How long the device was idle in what those calls took beyond the usual time, in all steps.": (
        "在所有 step 中，这些调用超出通常耗时的部分里设备的空闲时间。"
    ),
    "They last at least so long, and less than 1 µs longer; missing without a duration.": (
        "时长至少为此值、且超出不到 1 µs；没有时长时缺失。"
    ),
    "How many, in all steps.": "所有 step 中的数量。",
    "Median duration of all kernels of the rank.": "该 rank 全部 kernel 时长的中位数。",
    (
        "Host calls that launched kernels of the rank over those kernels, at most 1: one that replays a "
        "graph launches many. Missing where no launch was recorded."
    ): (
        "下发该 rank 的 kernel 的 host 调用数与 kernel 数之比，至多为 1：重放图的一次调用下发很多。没有下发记录时缺失。"
    ),
    "What told where steps begin: `marks`, `calls` or `repetition`, as in `engine_steps`.": (
        "由什么得知 step 的起点：`marks`、`calls` 或 `repetition`，与 `engine_steps` 中相同。"
    ),
    "For how many requests each of them generates; missing of graphs whose shapes were not recorded.": (
        "其中每个 step 为多少个请求生成；图的形状未采集时缺失。"
    ),
    "Steps.": "step 数。",
    "Steps in which the host replays a captured graph, of the model or a part of it.": (
        "其中 host 重放已捕获的图（整个模型或其一部分）的 step 数。"
    ),
    "Host calls per step that launch: mean. One that replays a graph launches all that it holds.": (
        "平均每步用于下发的 host 调用数；重放图的一次调用下发图中的全部。"
    ),
    "From the start of such a step to that of the next, on the host: the median.": (
        "这类 step 开始到下一个开始的时间（host 上，中位数）。"
    ),
    (
        "Idle time of the device from the start of a step that replays a graph to that of the next, on "
        "the host, copies aside: the mean; missing where that is not known."
    ): "重放图的 step 从开始到下一个开始（host 上）期间设备的空闲时间，拷贝除外，取均值；未知时缺失。",
    "The same of the steps that replay none.": "不重放图的 step 的同一数值。",
    "For `host`: its kind, as in `host_calls`; missing for all others.": (
        "`host`：该调用的类别，与 `host_calls` 中相同；其他种类缺失。"
    ),
    (
        "The longest of its kind in the middle one of the other steps of the rank; missing without others."
    ): "该 rank 其他 step 的中间一步里同类最长的一次；没有其他 step 时缺失。",
    (
        "The same of all rows of this rank, kind and call: over all steps, of three and more without "
        "what the longest of a step is longer than that of the other steps."
    ): (
        "该 rank 同类、同调用的所有行合计：涵盖全部 step；有三步及以上时，不计某一步的最长一次比其他 step 多出的部分。"
    ),
    "Logical processors.": "逻辑处理器数。",
    "Neither idle nor waiting for files, mean over the samples and processors.": (
        "既不空闲也不在等待文件的比例，对采样与处理器取均值。"
    ),
    "Waiting for files, likewise.": "等待文件的比例，同样取均值。",
    "Device busy with computation.": "设备忙于计算的时间。",
    "Device neither computing nor communicating; copies and event waits included.": (
        "设备既不计算也不通信的时间；含拷贝与等待事件。"
    ),
    "From the host's start of the step to the first device work.": "从 host 开始该 step 到设备的首个任务。",
    (
        "The marked step that the host was in at the middle of the interval, which may be the next one: "
        "a step of the device ends where the next one begins to run. Missing outside of all marks."
    ): (
        "区间中点时 host 所在的已标记 step，可能已是下一个：设备上的 step 在下一个开始运行时结束。"
        "在所有标记之外时缺失。"
    ),
    "The host call that covers most of the interval, where one does.": "覆盖该区间大部分的 host 调用（若有）。",
    "Device span of its step.": "所在 step 在设备上的时长。",
    "Median span of the other steps of the rank; missing when there is no other.": (
        "该 rank 其他 step 时长的中位数；没有其他 step 时缺失。"
    ),
    "First or last recorded step, as in `step_spans`.": ("采集到的第一个或最后一个 step，与 `step_spans` 中相同。"),
    (
        "What its kernels take beyond their like in quick steps, as in `operator_paces`, where the step is longer."
    ): "该 step 更长时，其 kernel 比快 step 的同类多出的耗时，与 `operator_paces` 中相同。",
    (
        "What its longest pause of the host has beyond those of other steps, as in `stalls`, where it is longer."
    ): "该 step 的 host 最长停顿更长时，比其他 step 多出的部分，与 `stalls` 中相同。",
    (
        "What the kind of host cost that counts most loses in it beyond the middle one of the other "
        "steps, as in `holdups`, where it is longer."
    ): ("影响最大的一种 host 开销在该 step 中更大时，其损失比其他 step 的中间一步多出的部分，与 `holdups` 中相同。"),
    "The span without what is known.": "扣除已知部分后的时长。",
    (
        "Its exposed communication beyond that of the other steps, as far as another rank has none of "
        "it then: the wait for that one. 0 where one rank was captured."
    ): (
        "其未掩盖通信比其他 step 多出、且同时有另一 rank 没有该通信的部分：即等待那个 rank 的时间。"
        "只采集了一个 rank 时为 0。"
    ),
    "What it computes, as in `overlaps`.": "其计算时间，与 `overlaps` 中相同。",
    "Its communication that no computation hides.": "其未被计算掩盖的通信时间。",
    "Its idle time.": "其空闲时间。",
    "Operators called in all steps.": "所有 step 中调用的算子数。",
    "Entries put into the task queue and taken from it in all steps.": ("所有 step 中放入与取出任务队列的条目数。"),
    (
        "How much shorter a step would be if a second thread made the launching calls; missing where "
        "that is not known, and where one does."
    ): "若由第二个线程执行下发调用，单步会缩短多久；未知或已有第二个线程时缺失。",
    "The part of free in which a copy to the host runs; missing where directions were not recorded.": (
        "空闲中正在进行设备到 host 拷贝的部分；未采集方向时缺失。"
    ),
    (
        "The part of free in which copies within the device run, and none to or from the host; missing likewise."
    ): "空闲中正在进行设备内拷贝、且没有与 host 之间拷贝的部分；同样可能缺失。",
    "Steps that count; 0 where only queues were recorded.": "计入的 step 数；只采集了队列信息时为 0。",
    "The longest iteration interval.": "最长的迭代间隔。",
    "Iteration intervals of more than a quarter of that, itself counted.": ("超过其四分之一的迭代间隔数，含其自身。"),
    "Its number; the last operation of the pipeline has the smallest.": ("编号；流水线中最后一个操作的编号最小。"),
    "Kind, such as MapOp or BatchOp.": "种类，例如 MapOp、BatchOp。",
    "Threads or processes that do it.": "执行它的线程或进程数。",
    "It reads the data: nothing stands before it.": "它负责读取数据：之前没有其他操作。",
    "Nothing with a queue stands behind it.": "其后没有带队列的操作。",
    "How full the emptiest queue it takes from is; missing for one that reads.": (
        "其取用的最空的队列有多满；负责读取的操作缺失。"
    ),
    "How full its own queue is; missing where it has none.": "其自身队列有多满；没有队列时缺失。",
    "Part of the samples in which its own queue was empty.": "采样中其自身队列为空的比例。",
    "How full the fullest queue from its own on is.": "从其自身队列起，最满的队列有多满。",
    "How full the emptiest queue before it is.": "其之前最空的队列有多满。",
    "Part of the looks in which the queue behind the dataset was empty.": "查看时数据集之后的队列为空的比例。",
    "The same of the queue on the device; missing where it is unknown.": "设备侧队列的同一比例；未知时缺失。",
    "Iteration interval of the rank.": "该 rank 的迭代间隔。",
    "The same of the queue on the device.": "设备侧队列的同一数值。",
    "Part of its time that the process waited for storage, mean over its threads.": (
        "进程等待存储的时间占比，对其线程取均值。"
    ),
    "The most that the process read from storage in a second.": "进程每秒从存储读取的最大值。",
    "The most that it wrote to storage in a second.": "进程每秒写入存储的最大值。",
    "As in `module_memory`.": "与 `module_memory` 中相同。",
    "Most reserved at any moment; missing when never recorded.": "任一时刻预留的最大值；从未采集时缺失。",
    "As in `memory_uses`.": "与 `memory_uses` 中相同。",
    "Allocated at that moment.": "该时刻已分配的显存。",
    "Memory of the host.": "host 的内存容量。",
    "Part of it that all processes held, mean; without what the kernel gives back when asked.": (
        "其中被所有进程占用的比例（均值），不含内核可按需归还的部分。"
    ),
    "Step, mean over its ranks.": "单步耗时，取各 rank 的均值。",
    "Free, mean over its ranks.": "空闲时间，取各 rank 的均值。",
    (
        "How much shorter its step looks than that of the stage where it is longest: in the first step "
        "it waits before its first task, which no recorded receive shows, or after its last."
    ): (
        "其单步看起来比最长的 stage 短多少：首个 step 在首个任务之前等待（没有 receive 记录可显示），"
        "或在最后一个任务之后等待。"
    ),
    (
        "What it waits for other stages, with no kernel beside it, in the collective where stages first "
        "meet after its last send or receive, mean over its ranks; 0 where none is seen."
    ): (
        "在最后一次 send 或 receive 之后，各 stage 首次会合的集合通信中，没有 kernel 并行地等待其他 "
        "stage 的时间，取各 rank 的均值；未发现时为 0。"
    ),
    (
        "Mean of bubble, unseen and drained waiting of all stages, each over its steps; missing likewise."
    ): "所有 stage 的 bubble、未显示的等待与收尾等待的均值，各取其全部 step；同样可能缺失。",
    (
        "Mean of the rest of the step of all stages: computation, other communication and idle time; likewise."
    ): "所有 stage 单步其余部分的均值：计算、其他通信与空闲；同样可能缺失。",
    "Computation of the stage that computes longest; missing likewise.": (
        "计算最久的 stage 的计算时间；同样可能缺失。"
    ),
    "The part of that which no recorded send or receive shows.": ("其中没有任何 send 或 receive 记录可显示的部分。"),
    (
        "The part of the mean waiting in which data move for certain, sends beside receives counted "
        "once: mean of all stages; missing where no transit was measured."
    ): ("平均等待中确定在传输数据的部分，并行的 send 与 receive 只计一次，取所有 stage 的均值；没有传输数据时缺失。"),
    "The first stage that waits nearly as long (90 %) as the one that waits longest over all steps.": (
        "在所有 step 中等待时间接近最久者（90 %）的第一个 stage。"
    ),
    (
        "Data moving with no kernel beside it, at the least: what is exposed beyond all time in which none move."
    ): "没有 kernel 并行地传输数据的时间的下限：未掩盖时间中超出不在传输的时间的部分。",
    "First recorded step of several: where it begins is not recorded, so it has no interval.": (
        "多个 step 中采集到的第一个：其起点未记录，因此没有间隔。"
    ),
    "The step, from the end of the one before.": "该 step，自前一个结束起。",
    "The part of it that waits for another pipeline stage (Receive).": ("其中等待其他流水线 stage 的部分（Receive）。"),
    "Stages of which it was counted.": "有此计数的 stage 数。",
    "Floating-point operations of a step, in millions, mean over its ranks.": (
        "单步的浮点运算次数，单位百万，取其各 rank 的均值。"
    ),
    "Mean of all stages.": "所有 stage 的均值。",
    "Those of the stage with the fewest.": "最少的 stage 的数值。",
    "No stage has more.": "没有更多的 stage。",
    "Waiting for another pipeline stage with nothing beside it.": "没有任何并行地等待其他流水线 stage 的时间。",
    "Other communication with no computation beside it.": "没有计算并行的其他通信时间。",
    "Computation of its slowest rank.": "其最慢 rank 的计算时间。",
    (
        "Micro-batches per step, told by the sends, or batched sends and receives, of the rank that has "
        "fewest; more with virtual stages; missing where none was recorded."
    ): (
        "平均每步的 micro-batch 数，由 send（或成批的 send 与 receive）最少的 rank 得知；使用虚拟 stage "
        "时偏多；没有记录时缺失。"
    ),
    "Over all steps it computes longer than any other stage.": "在所有 step 中计算时间比其他 stage 都长。",
    (
        "Rows of the first inputs of its grouped multiplications together: a token for each time it is used."
    ): "其分组矩阵乘的首个输入的行数之和：一个 token 每被用一次计一行。",
    "Grouped multiplications.": "分组矩阵乘的耗时。",
    "Its communication per step.": "平均每步的通信时间。",
    "Median communication of the other ranks of its stage.": "同一 stage 其他 rank 通信时间的中位数。",
    "Collectives it took part in with captured peers.": "与其他已采集 rank 共同参与的集合通信次数。",
    "Part of those in which it came last.": "其中最后到达的比例。",
    (
        "Per step: what each rank it kept waiting lost where it came last, computation aside, on average."
    ): "平均每步：它最后到达时，被它拖住的每个 rank 平均损失的时间，计算除外。",
    (
        "The same without the one meeting of the capture in which they lost most: what is no single event."
    ): "同上，但不计整次采集中损失最大的一次会合：排除单一偶发事件。",
    "Its part of all that ranks of its stage lost waiting for one another.": (
        "占所在 stage 各 rank 相互等待的全部损失的比例。"
    ),
    "Highest AI Core frequency it reached; missing when not recorded.": ("达到的最高 AI Core 频率；未采集时缺失。"),
    "Highest of all captured ranks.": "所有已采集 rank 中最高的频率。",
    (
        "Standard error of its computation beside that of its peers: what the differences within a step "
        "vary from step to step, on the rank in the middle, over the root of the number of steps; "
        "missing with one step."
    ): (
        "其计算时间相对同组其他 rank 的标准误差：单步内差异在各 step 之间的波动（取中间的 rank）除以 "
        "step 数的平方根；只有一个 step 时缺失。"
    ),
    (
        "How long its kernels take over what kernels of the same type and shapes take on the other "
        "captured ranks (median), by time; missing when fewer than half of its kernel time has a like "
        "elsewhere."
    ): (
        "其 kernel 的耗时与其他已采集 rank 上同类型、同形状 kernel 的耗时（中位数）之比，按时间加权；"
        "有对应者不足其 kernel 耗时的一半时缺失。"
    ),
    "The operator type that takes longest beyond what it takes on the peers (median), per step.": (
        "平均每步比同组其他 rank（中位数）多出耗时最多的算子类型。"
    ),
    "By how much that type takes longer than on the peers.": "该类型比同组其他 rank 多出的耗时。",
    "What that type takes on the peers, median.": "该类型在同组其他 rank 上的耗时，取中位数。",
    (
        "Part of its kernel time, without kernels that wait for other ranks, in shapes that no other "
        "captured rank has, beyond that part of its peers (median); missing without shapes."
    ): (
        "其 kernel 耗时（不含等待其他 rank 的 kernel）中，其他已采集 rank 没有的形状所占比例，"
        "减去同组其他 rank 的该比例（中位数）；没有形状时缺失。"
    ),
    (
        "Elements of the inputs of its kernels per step, over the median of its peers; missing without shapes."
    ): "平均每步其 kernel 输入的元素数与同组其他 rank 的中位数之比；没有形状时缺失。",
    "Median forward and backward pass of the peers.": "同组其他 rank 前向与反向时间的中位数。",
    "Idle charged to the host per step; missing without a timeline.": (
        "平均每步归因于 host 的空闲时间；没有时间线时缺失。"
    ),
    "Median free time of the peers.": "同组其他 rank 空闲时间的中位数。",
    (
        "Communication of the peer that communicates shortest: the others wait in theirs for the last rank."
    ): "通信时间最短的同组 rank 的通信时间：其他 rank 在通信中等待最后到达者。",
    (
        "The call of its host that fills more of its pauses than of those of the peers (median), by most."
    ): "其 host 停顿中比同组其他 rank（中位数）多占最多的调用。",
    "By how much that call fills more of them, per step.": "平均每步该调用多占的时间。",
    "Median iteration interval of the peers.": "同组其他 rank 迭代间隔的中位数。",
    "Sending rank.": "发送方 rank。",
    "Receiving rank.": "接收方 rank。",
    "Moved per step.": "平均每步的传输量。",
    "The part of that in bulk: for kinds of collective that move 1 MB or more over it in a step.": (
        "其中的大块传输：单步内经它传输 1 MB 及以上的集合通信种类。"
    ),
    (
        "Size over time of what is moved in bulk; missing where nothing is: few bytes tell nothing of a link."
    ): "大块传输的数据量除以时间；没有大块传输时缺失：少量字节无法反映链路。",
    "Links of the same kind that carried a comparable amount in bulk, itself included.": (
        "大块传输量相当的同类链路数，含其自身。"
    ),
    "Median bandwidth of those.": "这些链路带宽的中位数。",
    "How far below the median, in scaled median absolute deviations; 0 or more.": (
        "低于中位数多少，以缩放后的绝对中位差（MAD）计；不小于 0。"
    ),
    "Part of the communication of its ranks that no computation hides.": ("其各 rank 的通信中未被计算掩盖的比例。"),
    (
        "What data-parallel collectives of its ranks fill, per step, of the time in which these would "
        "else wait for other pipeline stages to end: so much of them costs nothing. 0 on a link whose "
        "traffic in bulk is mostly something else; missing without stages."
    ): (
        "平均每步，其各 rank 的数据并行通信占去了多少原本要等待其他流水线 stage 结束的时间："
        "这部分没有代价。大块传输大多属于其他通信的链路为 0；没有 stage 时缺失。"
    ),
    (
        "How much sooner a step would end if no other pipeline stage waited for that of its ranks "
        "(`stage_times`); missing where they stand in different ones."
    ): (
        "若没有其他流水线 stage 等待其 rank 所在的 stage，单步可提前多久结束（`stage_times`）；各 rank "
        "分属不同 stage 时缺失。"
    ),
    "Time of its kernels.": "其 kernel 的耗时。",
    "Mean of the stage in this step.": "所在 stage 在这一 step 的均值。",
    "Elements of the inputs of its kernels, over the mean of the stage in this step.": (
        "其 kernel 输入的元素数与所在 stage 在这一 step 的均值之比。"
    ),
    "Its exposed communication.": "其未掩盖的通信时间。",
    "Mean exposed communication of the other ranks of the stage in this step.": (
        "同一 stage 其他 rank 在这一 step 未掩盖通信的均值。"
    ),
    "The rank whose kernels took longest in this step.": "这一 step 中 kernel 耗时最长的 rank。",
    (
        "By how much its kernels take longer than the mean of the stage in its other steps, on average; "
        "below 0 where shorter, missing where it has no other."
    ): "其他各 step 中，其 kernel 耗时平均比所在 stage 的均值多多少；更短时为负，没有其他 step 时缺失。",
}
TABLE_MEANINGS: Mapping[str, str] = {
    (
        "All kernels of one type and shape that copy, cast or reorder a whole cache of keys and values, per step."
    ): "平均每步中，拷贝、转换或重排整个 KV cache 的某一类型、某一形状的全部 kernel。",
    (
        "Synchronising calls of one rank that other ranks made as well, by number, and those that ended "
        "when theirs did not."
    ): "一个 rank 上其他 rank 也发出过的同步调用的数量，以及其中没有与它们同时结束的数量。",
    (
        "Calls of one kind over the whole capture, as the profiler summed them up; of ranks whose calls are not listed."
    ): "profiler 按整次采集汇总的某一种调用；仅限没有逐条列出调用的 rank。",
    "One communication operator on one rank, set against its like.": ("一个 rank 上的一次通信算子，与其同类相比。"),
    (
        "Exposed collectives of one kind on one rank that stand between the same two kinds of "
        "operators, per step. Only calls count of which more than half has no kernel beside it, and "
        "none from rank to rank. Copies, casts and cuts around them are passed over: those prepare what "
        "is exchanged."
    ): (
        "平均每步，一个 rank 上位于相同两种算子之间的某一种未掩盖通信。只计一半以上没有 kernel "
        "并行的调用，点到点通信不计。其前后的拷贝、转换与切分略过：它们是在为交换准备数据。"
    ),
    (
        "How much of one table of a rank is there, by other tables of it, and by the calls that other "
        "ranks recorded. One row is of the whole recording, without a step; each step that lacks some "
        "has one more."
    ): (
        "按同一 rank 的其他表以及其他 rank 记录的调用，一张表的数据完整程度。其中一行针对整次采集，没有 "
        "step；每个有缺失的 step 另有一行。"
    ),
    "Something in the input that could not be read, with its place.": "输入中无法读取的内容及其位置。",
    (
        "One operation of a dataset pipeline between its queues, with what is known of the steps that wait for it."
    ): "数据集流水线中位于队列之间的一个操作，以及等待它的 step 的已知信息。",
    (
        "All steps of a serving engine on one rank that read no prompt and generate for as many requests."
    ): "一个 rank 上不读入 prompt、且为同样数量的请求生成的全部引擎 step。",
    "The steps of a serving engine on one rank that do the same.": "一个 rank 上做同一件事的引擎 step。",
    (
        "How much the experts of one rank had to do per step, beside those of the other ranks of its stage."
    ): "平均每步一个 rank 的专家的工作量，与同一 stage 的其他 rank 相比。",
    "How fast the AI Cores of one rank ran.": "一个 rank 的 AI Core 的运行频率。",
    (
        "Runs of small operators that one fused operator would replace, all of one kind on one rank, per step."
    ): "平均每步，一个 rank 上可由一个融合算子替换的某一种小算子串。",
    (
        "Operators that the framework called on one rank, and how often launching was handed to a second thread."
    ): "一个 rank 上框架调用的算子，以及下发交给第二个线程的次数。",
    (
        "One call behind a row of `holdups`: of each kind and rank the twenty that leave the device idle longest."
    ): "`holdups` 中某一行背后的一次调用：每个种类、每个 rank 取使设备空闲最久的二十次。",
    (
        "The rank that one kind of host cost holds up most in one step, beside the other ranks of its "
        "stage. Steps in which it costs no rank more than the others, and kinds that no rank of two or "
        "more shows, have no row."
    ): (
        "在一个 step 中，被某一种 host 开销拖累最多的 rank，与同一 stage 的其他 rank 相比。没有 rank "
        "比其他 rank 更受影响的 step，以及两个以上 rank 都未出现的种类没有对应的行。"
    ),
    (
        "One kind of host cost in one step, and what it loses: how much sooner the rank's step would end without it."
    ): "一个 step 中的某一种 host 开销及其损失：没有它时该 rank 的单步可提前多久结束。",
    (
        "How busy the processors of the host were while one rank was recorded. With everything that ran "
        "there; where `host_sys` sampled them, with the process of the rank alone."
    ): ("采集一个 rank 期间 host 处理器的忙碌程度。包含期间运行的一切；由 `host_sys` 采样时只含该 rank 的进程。"),
    (
        "What a rank moved over one kind of link for one communicator whose members all ran on one "
        "host. Hosts are those that captures name; where a name stands for more ranks than a server has "
        "devices, it names none."
    ): (
        "一个 rank 为成员全在同一 host 的某个通信域、经某类链路传输的数据。host 以采集中的名称为准；"
        "一个名称对应的 rank 多于服务器的设备数时，不视为 host 名。"
    ),
    (
        "What was used of the host's memory, storage and network while one rank was recorded. Files "
        "that sum a recording up tell peaks; a mean is known where it was sampled."
    ): ("采集一个 rank 期间 host 的内存、存储与网络的使用情况。对整次采集汇总的文件给出峰值；有采样时给出均值。"),
    "A long collective or copy that drained the launch queue, and the vertical links that follow it.": (
        "一次耗尽下发队列的长通信或长拷贝，以及其后竖直的下发连线。"
    ),
    (
        "Kernels of one rank that are about as long: a row for each whole µs below 100 µs, one for all that are longer."
    ): "一个 rank 上时长相近的 kernel：100 µs 以下每 1 µs 一行，更长的合为一行。",
    (
        "All launches of one rank, by what lies between the calls of the host and their tasks on the device."
    ): "一个 rank 的全部下发，按 host 调用与设备任务之间的时间。",
    (
        "Whether the host launched the kernels of one rank one by one, or many at once as graphs, in "
        "all steps; by phases where a serving engine read prompts in some of its steps and generated "
        "tokens in others, on ranks that all tell."
    ): (
        "在全部 step 中，host 是逐个下发一个 rank 的 kernel，还是以图一次下发很多；若引擎的 step "
        "有的读入 prompt、有的生成 token，且所有 rank 都能说明，则按阶段划分。"
    ),
    (
        "How evenly long one rank took to launch kernels one by one, and what launches cost that were held up."
    ): "一个 rank 逐个下发 kernel 的耗时是否均匀，以及被耽搁的下发的代价。",
    "ASCEND_LAUNCH_BLOCKING as recorded on one rank, and what the waits that it brings would lose.": (
        "一个 rank 上记录的 ASCEND_LAUNCH_BLOCKING，以及它带来的等待会造成的损失。"
    ),
    "All launches of one rank, and how long the device stood still until late ones, in all steps.": (
        "一个 rank 的全部下发，以及在全部 step 中设备停等晚到任务的时间。"
    ),
    (
        "The first recorded step of a rank, where it took much longer than any other: no other table counts it."
    ): "一个 rank 采集到的首个 step，它远比其他 step 长：其他表都不计它。",
    "All traffic from one rank to another over one kind of link, set against links of the same kind.": (
        "从一个 rank 到另一个 rank 经某类链路的全部流量，与同类链路相比。"
    ),
    "The longest call of one kind of collective on one communicator, on one rank in one step.": (
        "一个 rank、一个 step 中，同一通信域上某种集合通信最长的一次。"
    ),
    "One communication operator seen on several ranks: who came last, how long the others waited.": (
        "在多个 rank 上都见到的一次通信算子：谁最后到达，其他 rank 等了多久。"
    ),
    "The moment at which one component held most device memory on one rank.": (
        "一个 rank 上某个组件占用显存最多的时刻。"
    ),
    "The most device memory that one CANN module reserved on one rank.": ("一个 rank 上某个 CANN 模块预留的最大显存。"),
    (
        "A module of the model on one rank, with all that it calls, per step; modules that differ by a "
        "number are one. `layers.0.mlp` and `layers.1.mlp` are `layers.*.mlp`. A kernel belongs to the "
        "innermost module around the operator that launched it; in the backward pass, to the module of "
        "the operator whose gradient is computed."
    ): (
        "平均每步，一个 rank 上模型的一个模块及其调用的一切；只以编号区分的模块合为一个。`layers.0.mlp` "
        "与 `layers.1.mlp` 合为 `layers.*.mlp`。kernel 属于下发它的算子所在的最内层模块；"
        "反向中属于被求梯度的算子所在的模块。"
    ),
    "What one collective moved over one kind of link in packets of one size, and the time that cost.": (
        "一次集合通信经某类链路、以某一大小的数据包传输的内容及其耗时。"
    ),
    (
        "What the hardware counted in all kernels of one type on one rank, beside how busy their pipes "
        "were. A recording has one set of `aic_metrics`; the columns of the others are missing."
    ): (
        "一个 rank 上某一类型的全部 kernel 的硬件计数，以及各流水单元的忙碌程度。一次采集只有一组 "
        "`aic_metrics`，其余各组的列缺失。"
    ),
    (
        "All kernels of one type on a rank in its slow steps, beside its quick ones. Only kernels of "
        "which every step has as many with equal inputs; the steps of a rank are parted where the times "
        "of all of them together lie furthest apart. A rank has no row where fewer than two steps are "
        "slow or quick, or where the slow ones came first. The first step is left out."
    ): (
        "一个 rank 的慢 step 中某一类型的全部 kernel，与快 step 相比。只计每个 step 个数相同、"
        "输入相同的 kernel；以全部 kernel 合计耗时相差最大处划分该 rank 的 step。慢或快的 step "
        "少于两个，或慢的在前时，该 rank 没有行。首个 step 不计。"
    ),
    (
        "What the kernels of one type and shape have to do, beside what the chip can: the rows of "
        "`operator_shapes`. A kernel cannot be quicker than the chip multiplies or moves bytes: the "
        "larger of `compute_us` and `memory_us`. What lies in the level-2 cache already needs no "
        "bandwidth, so that a share of it may pass 1."
    ): (
        "某一类型、某一形状的 kernel 需要完成的工作，与芯片的能力相比：对应 `operator_shapes` 的各行。"
        "kernel 不可能快于芯片的计算或传输，即 `compute_us` 与 `memory_us` 中较大者。已在 L2 cache "
        "中的数据不占带宽，因此其比例可能超过 1。"
    ),
    "All kernels of one type with the same inputs, per step.": "平均每步，同一类型、输入相同的全部 kernel。",
    (
        "All kernels of one type on one rank, per step. Where the list of kernels is absent or lacks "
        "rows, and the profiler's totals by operator type were recorded, these stand for it: calls and "
        "time over the whole capture, which tell neither steps nor what ran beside what."
    ): (
        "平均每步，一个 rank 上某一类型的全部 kernel。没有 kernel 列表或列表有缺失、且有 profiler "
        "按算子类型的汇总时，以汇总代替：次数与时间为整次采集的合计，既不区分 step，"
        "也无从得知哪些同时运行。"
    ),
    (
        "Kernels of one type with the same inputs that ran beside communication, held against those "
        "that ran without. Only where three or more ran either way; a kernel counts as beside "
        "communication where nine tenths of it are."
    ): (
        "某一类型、输入相同的 kernel 与通信并行时和不并行时的比较。只在两种情况各有三次以上时给出；"
        "kernel 有十分之九与通信并行才算并行。"
    ),
    (
        "Where one rank's device time went in one step: `span = compute + exposed_comm + free`. Where "
        "the list of kernels lacks rows, the profiler's own sums are given; without them the split is "
        "missing."
    ): (
        "一个 step 中一个 rank 的设备时间的去向：`span = compute + exposed_comm + free`。kernel "
        "列表缺行时采用 profiler 自己的汇总，没有汇总时拆分缺失。"
    ),
    (
        "Forward convolutions whose kernel is as large as its stride, which a matrix multiplication does as well."
    ): "卷积核与步长一样大的前向卷积，矩阵乘可以同样完成。",
    (
        "How busy one network port of a rank's device was during the capture, and what it lost meanwhile."
    ): "采集期间一个 rank 的设备的一个网口有多忙，以及期间的丢失。",
    "How one rank was captured.": "一个 rank 的采集方式。",
    (
        "The mean step of one rank by phases, beside its peers: the other captured ranks of the same "
        "pipeline stage. The first recorded step counts only where there is no other."
    ): (
        "一个 rank 的平均单步按阶段的拆分，与同一流水线 stage 的其他已采集 rank 相比。首个采集到的 step "
        "仅在没有其他 step 时计入。"
    ),
    "One rank's mean step beside its peers: the other captured ranks of the same pipeline stage.": (
        "一个 rank 的平均单步，与同一流水线 stage 的其他已采集 rank 相比。"
    ),
    (
        "What one rank computes again inside the backward pass, because its activations were not kept, per step."
    ): "平均每步，一个 rank 因未保留激活值而在反向中重新计算的内容。",
    "From the first to the last event in the timeline of one rank, on the host or on the device.": (
        "一个 rank 的时间线上（host 或设备）从第一个到最后一个事件。"
    ),
    (
        "Small operators that follow each other in the same order again and again, and that no pattern "
        "of a chain knows, per step; the few sequences in which one kernel would spare most."
    ): ("平均每步，反复以相同顺序相继出现、而没有任何模式收录的小算子；只列合成一个 kernel 可省最多的少数几个序列。"),
    "One environment variable or profiler switch of one rank.": "一个 rank 的一个环境变量或采集开关。",
    (
        "Of one rank and step: how many different input shapes its kernels have, and how many are seen first."
    ): "一个 rank、一个 step 中，kernel 有多少种不同的输入形状，其中多少是首次出现。",
    "How much the ranks of one pipeline stage compute in a step, as the profiler counted it.": (
        "按 profiler 的统计，一个流水线 stage 的各 rank 在一个 step 中的计算量。"
    ),
    "One pipeline stage in one step.": "一个 step 中的一个流水线 stage。",
    "One long idle interval of the device that the host is to blame for; by rank, the longest first.": (
        "一段由 host 造成的较长的设备空闲；每个 rank 最长的在前。"
    ),
    (
        "What a rank without steps did before its work began: one long pause, with hardly any work before it."
    ): "没有 step 的 rank 在正式工作之前所做的事：一段长停顿，此前几乎没有工作。",
    (
        "By how much one step is longer than the others of its rank, waits for other ranks and known causes aside."
    ): "一个 step 比该 rank 的其他 step 长多少，不含对其他 rank 的等待与已知原因。",
    (
        "The work of one rank in one step beside that of the other ranks of its stage in the same step. "
        "Steps that were not recorded on all ranks of the stage are left out."
    ): (
        "一个 rank 在一个 step 中的工作量，与同一 stage 的其他 rank 在同一 step 中相比。未在该 stage "
        "全部 rank 上采集到的 step 不计。"
    ),
    (
        "One step as MindSpore marks it on the device: interval, forward and backward, and tail add up to it."
    ): "MindSpore 在设备上标记的一个 step：间隔、前向与反向、拖尾之和即该 step。",
    "The length of one step beside the other steps of the rank.": ("一个 step 的时长，与该 rank 的其他 step 相比。"),
    "Where one rank's time went in one step, as the profiler itself summed it up.": (
        "profiler 自己汇总的一个 rank、一个 step 的时间去向。"
    ),
    "What one communication operator moved over one kind of link, in packets of one size.": (
        "一次通信算子经某类链路、以某一大小的数据包传输的内容。"
    ),
    (
        "The pauses between what the device of one rank did, where work alone counts because msprof "
        "marked no step: nobody knows which of them are the job's and which lie before, behind or "
        "between its runs."
    ): (
        "一个 rank 的设备在各项工作之间的停顿；msprof 未标记 step，只有工作时间可计："
        "无法得知哪些停顿属于任务，哪些在其运行之前、之后或之间。"
    ),
    (
        "What one rank computes in forward passes whose gradient autograd records and no backward pass "
        "takes, per step. Of the last steps only what a backward pass followed that an optimizer ended; "
        "none where most steps have none."
    ): (
        "平均每步，一个 rank 在前向中计算、autograd 记录了梯度而没有任何反向使用的内容。"
        "最后几步只计其后有反向且由优化器结束的部分；大多数 step 都没有时不给出。"
    ),
    (
        "One sum that the profiler wrote down beside the events, and what the events themselves add up "
        "to. Ranks whose list of kernels is known to lack rows have none: there the sums are believed."
    ): (
        "profiler 在事件之外写下的一项汇总，以及事件自身合计的结果。已知 kernel 列表缺行的 rank "
        "没有此项：那里以汇总为准。"
    ),
}
