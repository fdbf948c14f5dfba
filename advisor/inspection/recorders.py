# SPDX-License-Identifier: Apache-2.0
"""How each profiler is told what to record: its options, and a configuration to copy.

torch_npu: <https://www.hiascend.com/document/detail/zh/Pytorch/60RC2/apiref/apilist/ptaoplist_001222.html>.
MindSpore: <https://www.mindspore.cn/docs/en/r2.6.0/api_python/mindspore/mindspore.profiler.profile.html>.
msprof: <https://www.hiascend.com/document/detail/zh/canncommercial/83RC1/devaids/Profiling/atlasprofiling_16_0011.html>.
PyTorch on GPUs: <https://docs.pytorch.org/docs/stable/profiler.html>. ATB: the README of ATB-Models.
vLLM: <https://docs.vllm.ai/projects/ascend/en/latest/developer_guide/performance_and_debug/service_profiling_guide.html>.
SGLang: <https://docs.sglang.io/docs/developer_guide/benchmark_and_profiling>. Servers are told so from outside, while
they run: they switch their profiler on themselves, and none of their loops is anybody's own.
MindSpore, the loop of `Model.train`: <https://www.mindspore.cn/tutorials/en/r2.7.0/debug/profiler.html> and
<https://www.mindspore.cn/docs/en/r2.6.0/api_python/train/mindspore.train.Model.html>.
verl: <https://ascend.github.io/docs/sources/verl/ascend_profiling_en.html>. Its configuration starts and stops the
profiler for whole steps of its trainer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from advisor.messages.text import Text
from advisor.model.inspection import Recorder

Switch = Literal["device", "host", "steps", "level1", "pipes", "shapes", "memory", "stack", "l2", "data"]
"""Something that profilers record, whatever they call it."""

STEPS = 5
"""Steps to record after one of warm-up: one for the edge, and enough to tell what recurs."""
ENGINE_STEPS = 20
"""Of a serving engine: they are short, and some of them read prompts."""

_BATCHES = 20
"""To take while the data pipeline is looked at: enough to tell whether its queues run empty."""


def _t(en: str, zh: str) -> Text:
    return Text(en, zh)


RECORDS: Mapping[Switch, Text] = {
    "device": _t("what runs on the device", "device 侧执行"),
    "host": _t("calls of the framework and of the device's software", "框架与下层接口调用"),
    "steps": _t("where steps begin and end", "step 的起止"),
    "level1": _t(
        "types, shapes and data types of kernels, calls of CANN, how collectives split, traffic by link",
        "算子类型、shape、数据类型，CANN 接口调用，通信的传输与等待拆分，链路流量",
    ),
    "pipes": _t("how busy the pipes of the cores are", "核内各流水线占用率"),
    "shapes": _t("shapes of framework operators", "框架算子的输入 shape"),
    "memory": _t("device memory over time, by component and operator", "显存随时间的变化，按组件与算子统计"),
    "stack": _t("the lines of the program", "代码调用栈"),
    "l2": _t("hits of the L2 cache", "L2 Cache 命中率"),
    "data": _t("queues and operations of the data pipeline", "数据流水线的队列与各操作"),
}

_CONTENTS_OF_VERL: Mapping[Switch, str] = {
    "host": "contents=[cpu]",
    "shapes": "contents=[shapes]",
    "memory": "contents=[memory]",
    "stack": "contents=[stack]",
}
OPTIONS: Mapping[Recorder, Mapping[Switch, str]] = {
    "torch_npu": {
        "device": "ProfilerActivity.NPU",
        "host": "ProfilerActivity.CPU",
        "steps": "prof.step()",
        "level1": "profiler_level=Level1",
        "pipes": "aic_metrics=PipeUtilization",
        "shapes": "record_shapes=True",
        "memory": "profile_memory=True",
        "stack": "with_stack=True",
        "l2": "l2_cache=True",
    },
    "mindspore": {
        "device": "ProfilerActivity.NPU",
        "host": "ProfilerActivity.CPU",
        "steps": "prof.step()",
        "level1": "profiler_level=Level1",
        "pipes": "aic_metrics=PipeUtilization",
        "memory": "profile_memory=True",
        "stack": "with_stack=True",
        "l2": "l2_cache=True",
        "data": "data_process=True",
    },
    "msprof": {
        "device": "--task-time",
        "host": "--ascendcl=on --runtime-api=on",
        "level1": "--task-time=l1",
        "pipes": "--aic-metrics=PipeUtilization",
        "memory": "--task-memory=on --sys-hardware-mem=on",
        "l2": "--l2=on",
    },
    "atb": {
        "device": "ATB_PROFILING_ENABLE=1",
        "host": "ATB_PROFILING_ENABLE=1",
        "level1": "PROFILING_LEVEL=Level1",
        "shapes": "ATB_PROFILING_TENSOR_ENABLE=1",
        "stack": "WITH_STACK_ENABLE=1",
    },
    "vllm": {
        "device": '"profiler": "torch"',
        "host": '"profiler": "torch"',
        "steps": "VLLM_CUSTOM_SCOPES_FOR_PROFILING=1",
        "level1": '"profiler": "torch"',
        "pipes": "aic_metrics=PipeUtilization",
        "shapes": '"torch_profiler_record_shapes": true',
        "memory": '"torch_profiler_with_memory": true',
        "stack": '"torch_profiler_with_stack": true',
    },
    "sglang": {
        "device": '"activities": ["CPU", "GPU"]',
        "host": '"activities": ["CPU", "GPU"]',
        "level1": '"activities": ["CPU", "GPU"]',
        "pipes": "aic_metrics=PipeUtilization",
        "shapes": '"record_shapes": true',
        "stack": '"with_stack": true',
    },
    "verl": {"device": "contents=[npu]", "level1": "level=level1", **_CONTENTS_OF_VERL},
    "verl-gpu": {"device": "contents=[cuda]", **_CONTENTS_OF_VERL},
    "torch.profiler": {
        "device": "ProfilerActivity.CUDA",
        "host": "ProfilerActivity.CPU",
        "steps": "prof.step()",
        "shapes": "record_shapes=True",
        "memory": "profile_memory=True",
        "stack": "with_stack=True",
    },
}
"""By profiler what it can be told, and in which words."""

_SLOWER = _t(
    "Call stacks, memory and shapes make the host slower: judge idle time by a recording without them.",
    "采集调用栈、显存与 shape 会拖慢 host：判断空闲时间请以不开启这些开关的采集为准。",
)
_ALL_RANKS = _t(
    "Record every rank, and the same steps on each.",
    "请在所有卡上采集相同的 step。",
)
_WAITING = _t(
    "Record while requests are waiting all the time: an engine without requests idles too. Few steps are enough.",
    "请在始终有请求等待时采集：没有请求时引擎本就空闲；采集少量 step 即可。",
)
_LEVEL_OF_VLLM = _t(
    "No option chooses the level on Ascend: the engine's own profiler records at Level1. Counters of the cores come "
    "with it where `vllm_ascend/profiler/torch_npu_profiler.py` (`worker/worker.py` in older versions) says "
    "`PipeUtilization`; where it says `AiCoreNone`, change that line.",
    "昇腾上没有采集级别选项：引擎自带的采集固定为 Level1。`vllm_ascend/profiler/torch_npu_profiler.py`（旧版本为 "
    "`worker/worker.py`）中 `aic_metrics` 为 `PipeUtilization` 时才有核内计数；若为 `AiCoreNone`，请修改该行。",
)
_LEVEL_OF_SGLANG = _t(
    "No option chooses the level on Ascend: versions before pull request 24685 of May 2026 give torch_npu "
    "no `experimental_config` and record at Level0, without shapes or counters. Use a newer one, or add it where it "
    "calls `torch.profiler.profile`.",
    "昇腾上没有采集级别选项：未包含 PR 24685（2026 年 5 月）的版本不向 torch_npu 传入 `experimental_config`，"
    "只采集 Level0，没有 shape 与核内计数。请升级，或在 SGLang 调用 `torch.profiler.profile` 处自行传入。",
)
_OF_ROLES = _t(
    "Add these to your own command; other roles, such as the reference and the critic, have a `profiler` of their own.",
    "将这些参数加到自己的启动命令中；reference、critic 等其他角色各有自己的 `profiler` 配置。",
)
_OF_MODEL_TRAIN = _t(
    "Where `Model.train` runs the loop, call `prof.step()` in a callback's `on_train_step_end`. With data sinking that "
    "is called once per `sink_size` steps, a whole epoch if it is not set: record with `sink_size=1`.",
    "由 `Model.train` 驱动训练时，在 Callback 的 `on_train_step_end` 中调用 `prof.step()`。"
    "开启数据下沉时每 `sink_size` 步才回调一次（未设置时为整个 epoch）：采集时请设 `sink_size=1`。",
)
_BEFORE_26 = _t(
    "MindSpore before 2.6 knows neither `profile` nor `_ExperimentalConfig`: there `mindspore.Profiler` takes these "
    'options itself, `aic_metrics` as `aicore_metrics`, the folder as `output_path="./prof"`, and the handler is '
    "`tensor_board_trace_handler`, given without calling it.",
    "2.6 之前的 MindSpore 没有 `profile` 与 `_ExperimentalConfig`：请把这些参数直接传给 `mindspore.Profiler`，"
    '其中 `aic_metrics` 写作 `aicore_metrics`，输出目录为 `output_path="./prof"`，'
    "回调为 `tensor_board_trace_handler`（传入时不加括号）。",
)
CARE: Mapping[Recorder, tuple[tuple[Switch | Literal[""], Text], ...]] = {
    "torch_npu": (("", _ALL_RANKS), ("memory", _SLOWER)),
    "mindspore": (("", _ALL_RANKS), ("", _OF_MODEL_TRAIN), ("", _BEFORE_26), ("memory", _SLOWER)),
    "msprof": (
        (
            "",
            _t(
                "msprof records neither the framework nor Python: for host causes use the profiler of the framework; "
                "a program without one marks its parts with mstx and adds --msproftx=on.",
                "msprof 不采集框架层与 Python 调用栈：分析 host 侧原因请使用框架自带的 profiler；"
                "不使用框架的程序可用 mstx 标记各部分，并加上 --msproftx=on。",
            ),
        ),
    ),
    "atb": (
        (
            "shapes",
            _t(
                "ATB_PROFILING_TENSOR_ENABLE takes CPU time: judge idle time by a recording without it.",
                "ATB_PROFILING_TENSOR_ENABLE 会增加 CPU 耗时：判断空闲时间请以未开启的采集为准。",
            ),
        ),
    ),
    "vllm": (
        ("", _WAITING),
        (
            "",
            _t(
                "Versions that do not know `--profiler-config` take VLLM_TORCH_PROFILER_DIR=./prof instead. On Ascend "
                'parse with `torch_npu.profiler.profiler.analyse("./prof")`.',
                "不支持 `--profiler-config` 的版本改用 VLLM_TORCH_PROFILER_DIR=./prof。昇腾上用 "
                '`torch_npu.profiler.profiler.analyse("./prof")` 解析。',
            ),
        ),
        ("level1", _LEVEL_OF_VLLM),
        ("memory", _SLOWER),
    ),
    "sglang": (("", _WAITING), ("level1", _LEVEL_OF_SGLANG), ("stack", _SLOWER)),
    "verl": (("", _OF_ROLES), ("memory", _SLOWER)),
    "verl-gpu": (("", _OF_ROLES), ("memory", _SLOWER)),
    "torch.profiler": (("", _ALL_RANKS), ("memory", _SLOWER)),
}
"""What to bear in mind, where a switch is on or always."""


IN_SHELL: Collection[Recorder] = ("msprof", "atb", "vllm", "sglang", "verl", "verl-gpu")
"""Those that are told by a command."""


def write_code(recorder: Recorder, on: Collection[Switch], *, level2: bool = False, infers: bool = False) -> str:
    """A configuration to copy with these switches on; `infers` says that nothing is trained."""
    level = "Level2" if level2 else "Level1" if "level1" in on else "Level0"
    match recorder:
        case "msprof":
            lines = _msprof_command(on)
        case "atb":
            lines = _atb_variables(on, level)
        case "vllm":
            lines = _vllm_commands(on)
        case "sglang":
            lines = _sglang_commands(on)
        case "verl":
            lines = _verl_command(on, tool="npu", device="npu", level=level)
        case "verl-gpu":
            lines = _verl_command(on, tool="torch", device="cuda")
        case _:
            lines = _python_code(recorder, on, level)
    code = "\n".join(lines)
    return code.replace("train_step(batch)", "infer(batch)").replace("train.py", "infer.py") if infers else code


_MODULES: Mapping[Recorder, tuple[str, str]] = {
    "torch_npu": ("torch_npu", "AiCMetrics"),
    "mindspore": ("mindspore", "AicoreMetrics"),
    "torch.profiler": ("torch", ""),
}
"""Where the module `profiler` is, and what it calls the counters of the cores."""


def _python_code(recorder: Recorder, on: Collection[Switch], level: str) -> Iterator[str]:
    package, metrics = _MODULES[recorder]
    yield f"from {package} import profiler"
    yield ""
    if metrics:
        yield "config = profiler._ExperimentalConfig("
        yield f"    profiler_level=profiler.ProfilerLevel.{level},"
        if "pipes" in on:
            yield f"    aic_metrics=profiler.{metrics}.PipeUtilization,"
        if "l2" in on:
            yield "    l2_cache=True,"
        yield ")"
    yield f"steps = profiler.schedule(wait=0, warmup=1, active={STEPS}, repeat=1, skip_first=10)"
    device = "NPU" if metrics else "CUDA"
    yield "with profiler.profile("
    yield f"    activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.{device}],"
    yield "    schedule=steps,"
    yield '    on_trace_ready=profiler.tensorboard_trace_handler("./prof"),'
    for switch in ("shapes", "memory", "stack"):
        if switch in on and switch in OPTIONS[recorder]:
            yield f"    {OPTIONS[recorder][switch]},"
    if metrics:
        yield "    experimental_config=config,"
    yield ") as prof:"
    yield "    for batch in loader:"
    yield "        train_step(batch)"
    yield "        prof.step()"
    if "data" in on and "data" in OPTIONS[recorder]:
        yield from _code_of_data_pipeline(OPTIONS[recorder]["data"])


def _code_of_data_pipeline(option: str) -> Iterator[str]:
    """Of MindSpore, whose profiler switches the option off where it is given a schedule (`ProfilerParameters`)."""
    yield ""
    yield "# the data pipeline in a run of its own: a schedule would switch it off"
    yield "with profiler.profile("
    yield '    on_trace_ready=profiler.tensorboard_trace_handler("./prof_data"),'
    yield f"    {option},"
    yield "):"
    yield f"    for batch, _ in zip(loader, range({_BATCHES})):"
    yield "        train_step(batch)"


def _msprof_command(on: Collection[Switch]) -> Iterator[str]:
    options = OPTIONS["msprof"]
    given = ["--output=./prof", options["host"], "--task-time=l1", "--ai-core=on"]
    given += [options[switch] for switch in ("pipes", "memory", "l2") if switch in on]
    yield "msprof " + " \\\n    ".join([*given, "./app"])


def _atb_variables(on: Collection[Switch], level: str) -> Iterator[str]:
    yield "export ATB_PROFILING_ENABLE=1"
    yield f"export PROFILING_LEVEL={level}"
    yield "export PROFILING_FILEPATH=./prof"
    if "shapes" in on:
        yield "export ATB_PROFILING_TENSOR_ENABLE=1"
    if "stack" in on:
        yield "export WITH_STACK_ENABLE=1"


def _vllm_commands(on: Collection[Switch]) -> Iterator[str]:
    told = {"torch_profiler_with_stack": "stack", "torch_profiler_with_memory": "memory"}
    told |= {"torch_profiler_record_shapes": "shapes"}
    options = ", ".join(f'"{name}": {str(switch in on).lower()}' for name, switch in told.items())
    yield "export VLLM_CUSTOM_SCOPES_FOR_PROFILING=1   # names the steps of the engine"
    yield "vllm serve MODEL \\"
    yield f"""    --profiler-config '{{"profiler": "torch", "torch_profiler_dir": "./prof", {options}}}'"""
    yield "# in another shell, while requests are served:"
    yield "curl -X POST http://localhost:8000/start_profile"
    yield "sleep 2"
    yield "curl -X POST http://localhost:8000/stop_profile"


def _sglang_commands(on: Collection[Switch]) -> Iterator[str]:
    options = ", ".join(f'"{name}": {str(switch in on).lower()}' for name, switch in _OF_SGLANG.items())
    yield "export SGLANG_TORCH_PROFILER_DIR=./prof"
    yield "python3 -m sglang.launch_server --model-path MODEL"
    yield "# in another shell, while requests are served:"
    yield "curl -X POST http://localhost:30000/start_profile -H 'Content-Type: application/json' \\"
    yield f"""    -d '{{"num_steps": {ENGINE_STEPS}, "activities": ["CPU", "GPU"], {options}}}'"""


def _verl_command(on: Collection[Switch], *, tool: str, device: str, level: str = "") -> Iterator[str]:
    contents = [device, "cpu", *(switch for switch in ("shapes", "memory", "stack") if switch in on)]
    role = "actor_rollout_ref.actor.profiler"
    given = [
        "python3 -m verl.trainer.main_ppo",
        f"global_profiler.tool={tool}",
        '"global_profiler.steps=[2]"',
        "global_profiler.save_path=./prof",
        f"{role}.enable=True",
        f"{role}.all_ranks=True",
        *([f"{role}.tool_config.{tool}.level={level.lower()}"] if level else []),
        f'"{role}.tool_config.{tool}.contents=[{",".join(contents)}]"',
    ]
    yield " \\\n    ".join(given)


_OF_SGLANG: Mapping[str, Switch] = {"with_stack": "stack", "record_shapes": "shapes"}
