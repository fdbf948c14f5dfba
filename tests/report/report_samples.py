# SPDX-License-Identifier: Apache-2.0
"""Small diagnoses of every shape, with names that try to break out of whatever they are written into."""

from __future__ import annotations

from pathlib import Path

from advisor.messages.text import Language, Text
from advisor.model.findings import (
    Confidence,
    Diagnosis,
    Evidence,
    Exhibit,
    ExhibitKind,
    Finding,
    Head,
    Label,
    Measure,
    Outcome,
    Param,
    Place,
    Reference,
    RemedyStep,
    Rows,
    RuleInfo,
    Saving,
    Scalar,
    Severity,
    TimeSplit,
    fingerprint,
)
from advisor.model.run import Capture, Parallel, Run
from advisor.model.unread import SavedMessage, Unread
from advisor.report.charts.draw import Renderer
from advisor.report.output_formats import Reported
from advisor.report.writers import check_output, write_files
from tests.input_notes import note

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "](http://evil.example)",
    "@all",
    "`|` | ```` ` \\",
    "{{ 7 * 7 }} {% raw %}",
    "a\u202eb\u0000c\x1b[31md",
    "[red]x[/red]",
    "\ud800",
    "k" * 5000,
)
START_NS = 1_700_000_000_000_000_000


def write_report(diagnosis: Diagnosis, path: Path, language: Language, renderer: Renderer | None = None) -> None:
    """Writes a diagnosis in the format of the file's suffix, as the command line does."""
    for _ in write_files(Reported(diagnosis, language, renderer=renderer), check_output(path)):
        pass


def table(columns: str, *rows: tuple[Scalar, ...], total: int = 0) -> Rows:
    """Rows under columns written as `name:unit name …`."""
    heads = tuple(Head(name=name, unit=unit) for name, _, unit in (part.partition(":") for part in columns.split()))
    return Rows(columns=heads, rows=rows, total=total or len(rows))


EXPOSED = RuleInfo(
    id="comm/exposed-communication",
    title=Text(
        en="Communication is exposed for {exposed_share} of each step", zh="每步有 {exposed_share} 的时间通信未被掩盖"
    ),
    why=Text(
        en="While a collective runs alone, the device computes nothing. "
        "`allReduce` at the end of the backward pass is the usual place.",
        zh="通信独占设备时，计算处于停顿状态。反向结束后的 `allReduce` 最常见。",
    ),
    params=(
        Param(
            name="tolerated",
            value=0.1,
            unit="share",
            basis=Text(en="Ten per cent is common in tuned jobs.", zh="调优后的任务一般在一成以内。"),
        ),
        Param(
            name="enough",
            value=200,
            unit="count",
            basis=Text(en="Fewer calls say little.", zh="次数太少不具代表性。"),
            overridden=True,
        ),
    ),
    labels=(
        Label(name="exposed_share", label=Text(en="Exposed share of the step", zh="未掩盖通信占比")),
        Label(name="exposed_us", label=Text(en="Exposed per step", zh="每步未掩盖通信")),
        Label(name="enough", label=Text(en="Least number of calls", zh="最少次数")),
    ),
    fix=(
        RemedyStep(
            do=Text(
                en="Let gradient buckets be sent while the backward pass still runs.",
                zh="让梯度分桶在反向计算期间就开始通信。",
            ),
            code="model = DistributedDataParallel(\n    model, bucket_cap_mb=100, gradient_as_bucket_view=True,\n)",
            care=Text(en="Larger buckets need more memory.", zh="分桶越大，显存占用越高。"),
        ),
        RemedyStep(
            do=Text(en="Unroll {op} into hierarchical steps.", zh="将 {op} 改为分级通信。"),
            run='export HCCL_ALGO="level0:NA;level1:H-D_R"',
        ),
    ),
    assumes=Text(en="All communication can be hidden down to the tolerated share.", zh="未掩盖通信可以降到阈值以内。"),
    references=(
        Reference(
            title="HCCL",
            url="https://www.hiascend.com/document/detail/zh/canncommercial/80RC3/apiref/envvar/envref_07_0001.html",
        ),
        Reference(title="odd", url="javascript:alert(1)"),
    ),
)
DISPATCH = RuleInfo(
    id="host/dispatch-bound",
    title=Text(
        en="{vertical_share} of launches reach a device that has run dry",
        zh="{vertical_share} 的下发到达时设备已经空等",
    ),
    why=Text(
        en="The host launches each kernel only after the device has nothing left to do.",
        zh="设备已无任务可做时，host 才下发下一个算子。",
    ),
    labels=(Label(name="vertical_share", label=Text(en="Launches into a dry device", zh="设备空等时的下发占比")),),
    params=(
        Param(
            name="share", value=0.5, unit="share", basis=Text(en="To be calibrated on the corpus.", zh="待用样本标定。")
        ),
    ),
    fix=(
        RemedyStep(
            do=Text(en="Turn on the second level of the task queue.", zh="打开二级流水下发。"),
            run="export TASK_QUEUE_ENABLE=2",
            care=Text(
                en="Without effect while `ASCEND_LAUNCH_BLOCKING=1`.", zh="`ASCEND_LAUNCH_BLOCKING=1` 时不生效。"
            ),
        ),
    ),
)
FREE = RuleInfo(
    id="host/free-time",
    title=Text(en="The device is idle for {free_share} of each step", zh="设备在每步中有 {free_share} 的时间空闲"),
    why=Text(
        en="Idle time is time in which the device neither computes nor communicates.", zh="空闲指设备既不计算也不通信。"
    ),
    labels=(Label(name="free_share", label=Text(en="Idle share of the step", zh="空闲占比")),),
    fix=(RemedyStep(do=Text(en="Begin with the causes listed.", zh="先处理列出的根因。")),),
)
CONVERSION = RuleInfo(
    id="compute/conversion-kernels",
    status="preview",
    title=Text(
        en="`{op_type}` takes {share} of the step to change types or layout",
        zh="`{op_type}` 转换类型或格式占单步 {share}",
    ),
    why=Text(
        en="A conversion moves every byte and computes nothing. Here it is {op_type}.",
        zh="格式转换只搬运数据，不做计算。这里是 {op_type}。",
    ),
    labels=(Label(name="share", label=Text(en="Share of the step", zh="单步占比")),),
    fix=(
        RemedyStep(
            do=Text(en="Keep one format throughout.", zh="全程保持同一种格式。"),
            code="torch.npu.config.allow_internal_format = False",
        ),
    ),
)
NEAR = Measure(
    fingerprint="0" * 16,
    evidence=(Evidence(name="free_share", value=0.043, unit="share", threshold=0.1),),
    short_of="free_share",
)
"""What the quiet rule measured."""
QUIET = RuleInfo(
    id="memory/near-capacity",
    title=Text(en="Memory peaks at {peak_share} of the chip", zh="内存峰值达到芯片容量的 {peak_share}"),
    why=Text(en="Little is left.", zh="余量不足。"),
)

WRONG = Text(en="the rule divides by text at `let.x`", zh="规则在 `let.x` 处除以文本")
LEVEL = Text(en="record with `profiler_level=Level1` or above", zh="采集时设置 `profiler_level=Level1` 或更高")
ONE_RANK = Text(en="only one rank was captured", zh="只采集了一个 rank")


def outcomes(*fired: RuleInfo) -> tuple[Outcome, ...]:
    """One of every kind, and those that fired."""
    return (
        *(Outcome(rule=info.id, outcome="fired") for info in fired),
        Outcome(rule=QUIET.id, outcome="quiet", measures=(NEAR,)),
        Outcome(rule="ranks/slow-rank", outcome="not applicable", reason=ONE_RANK),
        Outcome(rule="compute/top-operators", outcome="skipped", reason=LEVEL, needs=("kernels",)),
        Outcome(rule="compute/dynamic-shapes", outcome="skipped", reason=LEVEL, needs=("kernels",)),
        Outcome(rule="memory/churn", outcome="skipped", needs=("memory_uses",)),
        Outcome(rule="io/data-loader", outcome="failed", reason=WRONG),
    )


def finding(info: RuleInfo, us: float, severity: Severity, **more: object) -> Finding:
    """A finding of a rule on a step of 117 ms."""
    subject = more.pop("subject", {})
    assert isinstance(subject, dict)
    return Finding.model_validate(
        {
            "rule": info.id,
            "fingerprint": fingerprint(info.id, subject),
            "severity": severity,
            "confidence": Confidence.high,
            "saving": Saving(us=us, share=us / 117_000),
            "subject": subject,
            **more,
        }
    )


def exhibit(kind: ExhibitKind, rows: Rows) -> Exhibit:
    return Exhibit(kind=kind, rows=rows)


MEMORY = "rank component from_us:us to_us:us allocated_bytes:B reserved_bytes:B capacity_bytes:B"
COURSE = "rank step from_us:us to_us:us compute_us:us exposed_comm_us:us free_us:us lead_us:us"
ROOFLINES = "rank chip op_type input_shapes dtype peak_tflops intensity tflops memory_gbps:GB/s us:us"


def exhibits(ranks: int = 8, steps: int = 5, names: tuple[str, ...] = HOSTILE) -> tuple[Exhibit, ...]:
    """One of each kind."""
    split = [(r, r * 4 // ranks, 9_000.0 + 100 * r, 80_000.0 - 900 * r, 25_000.0 + 300 * r) for r in range(ranks)]
    causes = (("host_late", 17_000.0), ("python", 4_000.0), ("wait", 2_000.0), ("copy", 900.0), ("oddity", 10.0))
    edges = [10 ** (i / 3) for i in range(-1, 16)]
    bins = [(0.0 if i == 0 else edges[i], edges[i + 1], 10.0 + 90 * (8 - abs(i - 8))) for i in range(16)]
    operators = [(name, "AI_CORE", 4000.0 / (i + 1), 10.0) for i, name in enumerate(("MatMulV2", "TransData", *names))]
    peaks = (("BF16", 295.0), ("FLOAT", 74.0))
    roofs = [
        (
            0,
            "Ascend910B3",
            name,
            "4096,4096;4096,4096",
            *peaks[i % 2],
            20.0 * 3**i,
            60.0 / 2**i,
            1600.0,
            900.0 / (i + 1),
        )
        for i, name in enumerate(("MatMulV2", *names[:3]))
    ]
    cells = [(r, s, 110_000.0 + 500 * r + 3_000 * (s == 50)) for r in range(ranks) for s in range(50, 50 + steps)]
    links = [
        (a, b, "HCCS" if a // 4 == b // 4 else "RDMA", 24.0 - a if a // 4 == b // 4 else 11.0 + b / 10, 1e8)
        for a in range(ranks)
        for b in range(ranks)
        if a != b
    ]
    memory = [(5, names[0], 1e6 * at, 1e6 * (at + 1), 2.0**30 * at, 2.0**33, 2.0**36) for at in range(8)]
    course = [
        (rank, 50, 1e3 * at, 1e3 * (at + 1), 700.0, 200.0 if at % 2 else 0.0, 100.0 if at % 2 else 300.0, 40.0 * at)
        for rank in range(ranks)
        for at in range(12)
    ]
    return (
        exhibit("time_split", table("rank stage compute_us:us exposed_comm_us:us free_us:us", *split)),
        exhibit("idle_causes", table("cause us:us", *causes)),
        exhibit("launch_latency", table("from_us:us to_us:us launches:count", *bins)),
        exhibit("operators", table("op_type core us:us calls:count", *operators, total=212)),
        exhibit("rooflines", table(ROOFLINES, *roofs, total=77)),
        exhibit("rank_steps", table("rank step span_us:us", *cells)),
        exhibit("links", table("source target link bandwidth_gbps:GB/s size_bytes:B", *links)),
        exhibit("step_course", table(COURSE, *course)),
        exhibit("memory_course", table(MEMORY, *memory)),
    )


def rich(hostile: tuple[str, ...] = HOSTILE) -> Diagnosis:
    """Findings of every severity, causes, excerpts, places, hostile names; every kind of outcome and exhibit."""
    exposed = finding(
        EXPOSED,
        57_000,
        Severity.critical,
        seen=tuple(
            Place(rank=rank, stage=rank // 4, step=step, saving_us=57_000.0 - 100 * rank)
            for rank in range(8)
            for step in range(50, 55)
        ),
        evidence=(
            Evidence(name="exposed_share", value=0.70, unit="share", threshold=0.1),
            Evidence(name="exposed_us", value=81_515.6, unit="us"),
            Evidence(name="op", value=hostile[0]),
        ),
        excerpt=table(
            "name op elapse_us:us size_bytes:B start_ns:ns bandwidth_gbps:GB/s",
            *(
                (name, "allReduce", 79_000.0 - i, 2.0**20 * i, START_NS + 1_234_567 * i, None)
                for i, name in enumerate(hostile)
            ),
            total=112,
        ),
    )
    dispatch = finding(
        DISPATCH,
        21_000,
        Severity.high,
        seen=tuple(Place(rank=rank, saving_us=21_000.0 - rank) for rank in range(0, 40, 2)),
        evidence=(Evidence(name="vertical_share", value=0.83, unit="share", threshold=0.5),),
        excerpt=table(
            "op_type cause latency_us:us vertical", ("Add", "host_late", 12.5, True), ("Mul", None, float(3), False)
        ),
        confidence=Confidence.medium,
    )
    free = finding(
        FREE,
        14_000,
        Severity.medium,
        seen=(Place(rank=0, step=50, saving_us=14_000.0),),
        evidence=(Evidence(name="free_share", value=0.22, unit="share"),),
        causes=(dispatch.fingerprint,),
    )
    conversions = [
        finding(
            CONVERSION,
            900.0 / (i + 1),
            Severity.low if i else Severity.info,
            subject={"op_type": name},
            evidence=(Evidence(name="share", value=0.008, unit="share", threshold=0.05),),
            confidence=Confidence.low,
        )
        for i, name in enumerate(hostile)
    ]
    dispatch = dispatch.model_copy(update={"symptoms": (free.fingerprint,)})
    return Diagnosis(
        version="0.1.0",
        run=RUN,
        split=TimeSplit(
            step_us=117_000,
            compute_us=9_000,
            exposed_comm_us=82_000,
            overlapped_us=3_000,
            free_us=26_000,
            copy_us=900,
            event_wait_us=0,
        ),
        findings=(exposed, dispatch, free, *conversions),
        outcomes=outcomes(CONVERSION, EXPOSED, DISPATCH, FREE),
        rules=tuple(sorted((EXPOSED, DISPATCH, FREE, CONVERSION, QUIET), key=lambda info: info.id)),
        exhibits=exhibits(names=hostile),
        unread=(
            Unread(
                file=f"ASCEND_PROFILER_OUTPUT/{hostile[0]}.csv",
                place="row 17",
                what=f"`{hostile[-1]}` holds no usable number",
                rows=3,
                place_message=SavedMessage(code="at_row", values={"n": 17}),
                what_message=SavedMessage(code="no_usable_number", values={"column": hostile[-1]}),
            ),
            Unread(file="trace_view.json", what=hostile[-1]),
        ),
    )


RUN = Run(
    name="resnet50 <b>|` @all",
    framework="PyTorch",
    cann_version="8.3.RC1",
    torch_npu_version="2.7.1",
    chip="Ascend910B",
    level="Level1",
    ranks=tuple(range(8)),
    world_size=16,
    steps=tuple(range(50, 55)),
    step_us=117_000,
    start_ns=START_NS,
    parallel=Parallel(tp=2, pp=4, source="distributed_args"),
    captures=tuple(
        Capture(
            rank=rank,
            path=f"rank{rank}_ascend_pt",
            source="text" if rank else "text+database",
            level="Level1",
            activities=("CPU", "NPU"),
            complete=rank != 3,
            size_bytes=2_500_000,
        )
        for rank in range(8)
    ),
    notes=(note("other_captures=2"), note("chosen=a`b"), note("new_note=1")),
)

SHAPES: dict[str, Diagnosis] = {
    "rich": rich(),
    "fine": Diagnosis(
        version="0.1.0",
        run=RUN,
        split=TimeSplit(step_us=100.0, compute_us=99.0, exposed_comm_us=0.0, overlapped_us=0.0, free_us=1.0),
        outcomes=(Outcome(rule=QUIET.id, outcome="quiet"),),
        rules=(QUIET,),
    ),
    "fine but half blind": Diagnosis(run=RUN, outcomes=outcomes(), rules=(QUIET,)),
    "blind": Diagnosis(
        run=Run(name="x"), outcomes=(Outcome(rule=QUIET.id, outcome="skipped", reason=LEVEL),), rules=(QUIET,)
    ),
    "empty": Diagnosis(run=Run()),
    "no steps": rich().model_copy(update={"run": RUN.model_copy(update={"steps": (), "start_ns": 0})}),
    "no rules": rich().model_copy(update={"rules": (), "outcomes": (), "exhibits": (), "split": None}),
}
"""Diagnoses of every shape a report has to cope with."""
