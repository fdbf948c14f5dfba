# SPDX-License-Identifier: Apache-2.0
"""What the job was that was captured."""

from __future__ import annotations

from typing import Annotated

from advisor.facts.base import Count, Fact, Key, Rank, Us

LAYERS = ("linear layer", "convolution layer", "attention layer", "norm layer", "embedding layer", "pooling layer")
"""Kinds of layers: several of them make a model, where a single one may be a benchmark."""


class JobSign(Fact):
    """One thing on one rank that tells what kind of job ran, or which software drove it."""

    table = "job_signs"
    observed = False

    rank: Rank
    tells: Annotated[
        str,
        Key(
            "`backward` (a backward pass or an optimizer), a kind of layer such as `linear layer`, `cache` (keys and "
            "values kept for later tokens), `prefill` and `decode` (attention over a prompt, or for one new token); "
            "else the name of a stack, such as `vLLM`."
        ),
    ]
    seen_as: Annotated[
        str, Key("`operator` (of the device), `call` (of the host), `line` (of Python) or `setting` (a variable).")
    ]
    name: Annotated[str, Key("What was seen: of everything that tells the same, the most frequent.")]
    calls: Annotated[float, Count("How often; 1 for a setting.")]


class EngineStep(Fact):
    """The steps of a serving engine on one rank, by the marks that the engine sets around each."""

    table = "engine_steps"
    of_pauses = True
    observed = False

    rank: Rank
    steps: Annotated[float, Count("Marked steps.")]
    apart_us: Annotated[float, Us("From the start of a step to that of the next, on the host: the median.")]
    idle_us: Annotated[float, Us("Idle time of the device around the start of a step: the median, 0 where it is busy.")]


class DecodeSize(Fact):
    """All marked steps of a serving engine on one rank that read no prompt and generate for as many requests."""

    table = "decode_sizes"
    of_pauses = True
    observed = False

    rank: Rank
    requests: Annotated[float, Count("For how many requests each of them generates.")]
    steps: Annotated[float, Count("Steps.")]
    replayed: Annotated[float, Count("Steps in which the host replays a captured graph, of the model or a part of it.")]
    launches: Annotated[float, Count("Recorded launches per step: mean.")]
    apart_us: Annotated[float, Us("From the start of such a step to that of the next, on the host: the median.")]
