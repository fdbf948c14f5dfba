# SPDX-License-Identifier: Apache-2.0
"""What columns that rules read hold, in Chinese: by what the reference of facts, which is in English, says of them.

A column whose sentence is not here is called by its label; a sentence that changes has to be said anew here.
"""

from __future__ import annotations

from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
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
}
