# SPDX-License-Identifier: Apache-2.0
"""The kind of job, and the steps of an engine that serves."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Key, Ns, Rank, Share, Us
from advisor.messages.text import Text

LAYERS = ("linear layer", "convolution layer", "attention layer", "norm layer", "embedding layer", "pooling layer")
"""Kinds of layers: several of them make a model, where a single one may be a benchmark."""
TORCH_OPERATOR = "torch operator"
"""What a call of an operator of PyTorch tells, whichever stack drives it."""


SEVERAL_STEPS = Text(
    en="record five engine steps or more while requests are served; with VLLM_CUSTOM_SCOPES_FOR_PROFILING=1 vLLM and "
    "vLLM-Ascend name them",
    zh="在处理请求期间采集 5 个以上引擎 step；设置 VLLM_CUSTOM_SCOPES_FOR_PROFILING=1 后 vLLM 与 vLLM-Ascend 会标出",
)


class JobSign(Fact):
    """One sign on one rank of what kind of job ran, or which software drove it."""

    table = "job_signs"
    called = Text("what tells the kind of job", "判断任务类型的依据")
    observed = False

    rank: Rank
    tells: Annotated[
        str,
        Key(
            "`backward` (a backward pass or an optimizer), a kind of layer such as `linear layer`, `cache` (keys and "
            "values kept for later tokens), `prefill` and `decode` (attention over a prompt, or for one new token), "
            "`rollout` and `update` (the halves of reinforcement learning), `loaded model` (read from a file and "
            "executed as a whole), `torch operator` (of PyTorch, whichever stack drives it); else the name of a stack, "
            "such as `vLLM`."
        ),
    ]
    seen_as: Annotated[
        str,
        Key(
            "`operator` (of the device), `call` (of the host), `mark` (set by the program), `line` (of Python) or "
            "`setting` (a variable)."
        ),
    ]
    name: Annotated[str, Key("What was seen: of everything that tells the same, the most frequent.")]
    calls: Annotated[float, Count("Number of occurrences; 1 for a setting.")]


class EngineBorder(Fact):
    """Where a step of a serving engine begins: by its marks, or where no step was marked by what tells `engine_steps`;
    on ranks whose steps do more, as in reinforcement learning, where a pass begins that generates tokens in them.

    Of steps that were found by what repeats the end of the last is one more.
    """

    table = "engine_borders"
    called = Text("where steps of a serving engine begin", "推理引擎各 step 的开始")
    record_with = SEVERAL_STEPS
    observed = False

    rank: Rank
    start_ns: Annotated[int, Ns("On the host; on the device where what repeats there told it.")]


class EngineStep(Fact):
    """The steps of a serving engine on one rank that do the same."""

    table = "engine_steps"
    called = Text("steps of a serving engine", "推理引擎的 step")
    record_with = SEVERAL_STEPS
    of_pauses = True
    observed = False

    rank: Rank
    engine_phase: Annotated[
        str,
        Key(
            "`prefill` (prompts are read), `decode` (each request gets its next tokens), `mixed` (both) or `unknown`. "
            "Marks say which. Else sizes do: a step reads prompts where the model works on more than twice as many "
            "rows as go through its last product; whether others get tokens in it is then told by operators alone, as "
            "is the phase where shapes were not recorded."
        ),
    ]
    by: Annotated[
        str,
        Key(
            "What told where steps begin: `marks` of the engine around each, `calls` of its function that runs one, or "
            "`repetition`, an estimate by what repeats on the device."
        ),
    ]
    steps: Annotated[float, Count("Steps; of those that were found by repetition only whole ones between two others.")]
    answering: Annotated[
        float,
        Count("Of these, those while requests are being answered: mixed ones, and right after one that generates."),
    ]
    preceded: Annotated[
        float, Count("Of these, those of which the idle time before them is known; not of the first one seen.")
    ]
    requests: Annotated[float, Count("For how many requests: the median.")]
    tokens: Annotated[float, Count("Tokens it works on, with those that fill up a batch: the median.")]
    apart_us: Annotated[
        float,
        Us(
            "From the start of a step to that of the next, the median: on the device, from the first kernel that each "
            "launched, else on the host."
        ),
    ]
    idle_us: Annotated[
        float,
        Us(
            "Idle time of the device before a step, copies aside: from the last kernel of those before it to the first "
            "that the host launched in it, or between the two around its start where that is more. The median, 0 where "
            "the device is busy. By repetition what idles from the choice of tokens to the first layer."
        ),
    ]
    host_wait_us: Annotated[
        float,
        Us(
            "How long the thread that runs a step waits for the device until the next one begins, the median: so much "
            "earlier its steps could begin. By repetition that thread is the one that calls most operators. Missing "
            "where its calls into CUDA, HIP or CANN were not recorded."
        ),
    ]
    long_pauses: Annotated[
        float,
        Count(
            "Pauses before a step that last longer than a step from start to start, and five times the median one; "
            "compiling, loading code and collecting garbage aside."
        ),
    ]
    long_idle_us: Annotated[float, Us("Idle time of the device in these.")]


class DecodeSize(Fact):
    """All steps of a serving engine on one rank that read no prompt and generate for as many requests."""

    table = "decode_sizes"
    called = Text("decode steps by number of requests", "按请求数统计的 decode step")
    record_with = SEVERAL_STEPS
    of_pauses = True
    observed = False

    rank: Rank
    by: Annotated[str, Key("What told where steps begin: `marks`, `calls` or `repetition`, as in `engine_steps`.")]
    requests: Annotated[
        float, Count("For how many requests each of them generates; missing of graphs whose shapes were not recorded.")
    ]
    steps: Annotated[float, Count("Steps.")]
    replayed: Annotated[float, Count("Steps in which the host replays a captured graph, of the model or a part of it.")]
    launches: Annotated[
        float, Count("Host calls per step that launch: mean. One that replays a graph launches all that it holds.")
    ]
    apart_us: Annotated[float, Us("From the start of such a step to that of the next, on the host: the median.")]
    replayed_idle_us: Annotated[
        float,
        Us(
            "Idle time of the device from the start of a step that replays a graph to that of the next, on the host, "
            "copies aside: the mean; missing where that is not known."
        ),
    ]
    eager_idle_us: Annotated[float, Us("The same of the steps that replay none.")]
    busy_us: Annotated[float, Us("The rest of the time from the start of a step to that of the next: the mean of all.")]
    replays: Annotated[
        float, Count("Graphs that a step replays which replays any: mean. A whole step may be one graph.")
    ]
    between_idle_us: Annotated[
        float,
        Us("Idle time of the device from the first replay of such a step to the last one, copies aside: the mean."),
    ]
    update_us: Annotated[
        float,
        Us(
            "How long the host brings captured tasks up to date in such a step (as vLLM-Ascend does with the lengths "
            "that attention takes, layer by layer), from the first to the last: the mean. The graph waits for each."
        ),
    ]
    update_idle_us: Annotated[float, Us("Idle time of the device meanwhile, copies aside: the mean.")]
    host_wait_us: Annotated[
        float,
        Us("How long the thread that runs such a step waits for the device: the mean; missing as in `engine_steps`."),
    ]
    drains: Annotated[
        float,
        Share(
            "Such steps in which that thread waits until the device is done with all it was given, as for the tokens "
            "that were chosen, and prepares what comes next only then; not those where it waits for an event of an "
            "earlier step, or right before a replay. Missing as in `engine_steps`."
        ),
    ]
