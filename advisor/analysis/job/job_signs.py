# SPDX-License-Identifier: Apache-2.0
"""What tells the kind of job: operators, calls, lines of Python and settings that only some jobs have.

A backward pass or an optimizer is training. Operators that keep keys and values for later tokens, attend to what is
kept, or compute with quantised experts in one, run only where text is generated. A model that was loaded as a file and
is executed infers. Names are those of CANN, of ATB and of the kernels that serving engines bring; what they do not tell
stays unknown. Which half of a reinforcement learning is recorded is told by the ranges that the profiler of verl sets
around the functions of its workers, named as these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.host.host import EXECUTING
from advisor.facts.derived import JobSign
from advisor.facts.derived.job import LAYERS, TORCH_OPERATOR
from advisor.facts.observed import ApiTotal, HostCall, Kernel, OperatorTotal, ProgramMark, Setting
from advisor.facts.table import Array, Table, Texts

_VLLM_STEP = r"execute_(\d+_)?context_"
ENGINE_STEP = _VLLM_STEP + r"|step\[(DECODE|EXTEND|MIXED) "
"""How the mark begins that an engine sets around each of its steps. vLLM names the requests whose prompts it reads, and
behind `_generation_` those for which it generates; SGLang says which of both it does."""
LAYER_CALLS = tuple(
    zip(
        LAYERS,
        (
            r"\w+::linear$",
            r"\w+::conv[123]d$",
            r"\w+::(scaled_dot_product_attention|(npu_)?(prompt_flash|fused_infer)_attention\w*)$",
            r"\w+::(native_(layer|batch|group)_norm|(npu_)?(add_|fused_)?rms_norm)$",
            r"\w+::embedding$",
            r"\w+::(adaptive_)?(avg|max)_pool[123]d$",
        ),
        strict=True,
    )
)
"""Operators of the forward pass by the kind of layer that calls them; no backward pass does."""
_OPERATORS = (
    (
        "backward",
        r"(?-i:\w+Grad(V\d+|D|Ext)?\b|\w+Grad(?=[A-Z])|.*Backprop(Input|Filter)|Apply(Ada|RMS|Rms|Momentum|Lamb|FusedEma))"
        r"|Gradients/Default/|.*(_backward\b|_backward_|fused_adam|multi_tensor_apply|[_:]([dw]grad|bwd)_|[_:](dgrad|wgrad)\b)",
    ),
    (
        "decode",
        r"IncreFlashAttention|PagedAttention|paged_attention|PagedMultiLatentAttention|.*flash_attn_with_kvcache"
        r"|.*single_query_cached_kv|fmhaSm\w*ForGen\b|.*BatchDecodeWithPagedKV",
    ),
    (
        "prefill",
        r"PromptFlashAttention|UnpadFlashAttention|.*(mha_batch_prefill|BatchPrefillWith(Paged|Ragged)KV)|fmhaSm(?=\w*Context\b)\w*PagedKv",
    ),
    (
        "cache",
        r"FusedInferAttentionScore|ReshapeAndCache|ScatterPaKvCache|KvRmsNormRopeCache|MlaProlog|MlaPreprocess|mla_preprocess"
        r"|SparseFlashMla(?!\w*Grad)|QuantLightningIndexer|DispatchFFNCombine|GroupedMatmulSwigluQuant"
        r"|.*(reshape_and_cache|store_kv_?cache|store_cache|unified_attention|append_paged_kv_cache|concat_and_cache_mla)",
    ),
    ("MindSpore", r"(?:Gradients/|Recompute\w*/)?Default/\S*-op\d"),
    ("vLLM", r"vllm::|_C_cache_ops::|_C_ascend::|_compute_slot_mapping_kernel"),
    ("SGLang", r"sglang::|sgl_kernel::"),
)
_MARKS = (
    ("verl", r"update_(actor|critic)$"),
    ("rollout", r"generate_sequences$"),
    ("update", r"update_(actor|critic)$"),
)
_CALLS = (
    *_MARKS,
    ("backward", r"autograd::engine::evaluate_function|torch::autograd::AccumulateGrad|Optimizer\.(step|zero_grad)"),
    *LAYER_CALLS,
    ("cache", r"\w+::_?(npu_)?(reshape_and_cache|unified_attention)"),
    ("prefill", _VLLM_STEP + r"[1-9]|step\[(EXTEND|MIXED) "),
    ("decode", _VLLM_STEP + r"\d+(\(.*?\))?_generation_[1-9]|step\[(DECODE|MIXED) "),
    ("vLLM", r"vllm::|execute_context_"),
    ("SGLang", r"sglang::|step\[(DECODE|EXTEND|MIXED) "),
    ("DeepSpeed", r"DeepSpeed(Engine|ZeroOptimizer)"),
    ("FSDP", r"FullyShardedDataParallel|FSDP::"),
    ("PyTorch", r"DistributedDataParallel\.forward|torch\.distributed\.ddp"),
    (TORCH_OPERATOR, r"(aten|c10d)::"),
)
_LINES = (
    ("verl", r"verl/(workers|trainer|single_controller|utils|models)/"),
    ("vLLM", r"vllm(_ascend)?/(v1|engine|worker|model_executor|attention|distributed|compilation|forward_context)\b"),
    ("SGLang", r"sglang/srt/"),
    ("MindIE", r"(atb_llm|mindie_llm)/"),
    ("Megatron", r"(megatron/(core|training|legacy)|mindspeed(_(llm|mm|rl))?/\w+)/"),
    ("DeepSpeed", r"deepspeed/(runtime|ops|comm|moe|utils)/"),
    ("FSDP", r"torch/distributed/(_composable/)?fsdp/"),
    ("PyTorch", r"torch/nn/parallel/distributed\.py"),
    ("MindSpore", r"(mindspore|mindformers)/"),
)
_VARIABLES = (("vLLM", r"VLLM_"), ("SGLang", r"SGLANG_|SGL_"), ("MindIE", r"MINDIE_|ATB_LLM_"))


class Vocabulary(Struct, frozen=True):
    """Names that tell something, by what they tell; `prefix` may stand before each of them."""

    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    every: re.Pattern[str]
    """All of them in one: most names tell nothing."""

    @classmethod
    def of(cls, told: tuple[tuple[str, str], ...], prefix: str = "") -> Vocabulary:
        every = "|".join(names for _, names in told)
        patterns = tuple((tells, re.compile(f"{prefix}(?:{names})")) for tells, names in told)
        return cls(patterns, re.compile(f"{prefix}(?:{every})"))

    def told_by(self, name: str) -> tuple[str, ...]:
        """What a name tells."""
        if not self.every.match(name):
            return ()
        return tuple(tells for tells, names in self.patterns if names.match(name))


OPERATORS = Vocabulary.of(_OPERATORS)
CALLS = Vocabulary.of(_CALLS)
MARKS = Vocabulary.of(_MARKS)
LINES = Vocabulary.of(_LINES, prefix=r"(?:.*/)?")
VARIABLES = Vocabulary.of(_VARIABLES)

_LINE = re.compile(r".+\.py\(\d+\): ")
_Sign = tuple[int, str, str, str, float]


def job_signs(
    kernels: Table[Kernel] | None,
    totals: Table[OperatorTotal] | None,
    calls: Table[HostCall] | None,
    settings: Table[Setting] | None,
    marks: Table[ProgramMark] | None,
    *,
    called: Table[ApiTotal] | None = None,
) -> Table[JobSign]:
    """One row per rank, thing that is told and way it was seen."""
    signs: list[_Sign] = []
    if kernels is not None:
        for column in ("op_type", "function", "op_name"):
            signs += _signs_of_names(kernels["rank"], kernels.texts(column), OPERATORS, "operator")
    if totals is not None:
        signs += _signs_of_names(totals["rank"], totals.texts("op_type"), OPERATORS, "operator", totals["calls"])
    if calls is not None:
        names = calls.texts("name")
        lines = [_LINE.match(name) is not None for name in names.names]
        signs += _signs_of_names(calls["rank"], names, LINES, "line", among=lines)
        signs += _signs_of_names(calls["rank"], names, CALLS, "call", among=[not line for line in lines])
        signs += _signs_of_executions(calls)
    if called is not None:
        signs += _signs_of_names(called["rank"], called.texts("name"), CALLS, "call", called["calls"])
        signs += _signs_of_executions(called, called["calls"])
    if marks is not None:
        signs += _signs_of_names(marks["rank"], marks.texts("name"), MARKS, "mark")
    if settings is not None:
        given = settings.texts("kind").isin(["env"]) & ~settings.texts("value").isin([""])
        signs += _signs_of_names(settings["rank"][given], settings.texts("name").take(given), VARIABLES, "setting")
    return _most_frequent(signs)


def _signs_of_names(
    ranks: Array,
    names: Texts,
    known: Vocabulary,
    seen_as: str,
    calls: Array | None = None,
    *,
    among: Sequence[bool] | None = None,
) -> Iterator[_Sign]:
    """What the names of one column tell, rank by rank; all of them, or those with a truth."""
    asked = [*range(len(names.names))] if among is None else [*compress(range(len(names.names)), among)]
    may = map(known.every.match, (names.names[code] for code in asked))
    told = {code: known.told_by(names.names[code]) for code in compress(asked, may)}
    telling = names.hits(code in told for code in range(len(names.names)))
    for rank, code, often in _count_names(ranks, names, telling, calls):
        for tells in told[code]:
            yield rank, tells, seen_as, names.names[code], often


def _signs_of_executions(table: Table[HostCall] | Table[ApiTotal], calls: Array | None = None) -> Iterator[_Sign]:
    """By rank and name: how often models were executed that had been loaded as files."""
    names = table.texts("name")
    executing = table.texts("activity").isin(EXECUTING) & (names.codes >= 0)
    for rank, code, often in _count_names(table["rank"], names, executing, calls):
        yield rank, "loaded model", "call", names.names[code], often


def _count_names(ranks: Array, names: Texts, chosen: Array, calls: Array | None) -> Iterator[tuple[int, int, float]]:
    """Rank by rank the code of each name in the chosen rows, and how often it is there; or the sum of its `calls`."""
    for rank in distinct_ranks(ranks, chosen).tolist():
        rows = chosen & (ranks == rank)
        often = np.bincount(names.codes[rows], None if calls is None else np.nan_to_num(calls[rows]))
        for code in np.unique(names.codes[rows]).tolist():
            yield rank, code, float(often[code])


def _most_frequent(signs: list[_Sign]) -> Table[JobSign]:
    """Of what tells the same in the same way on a rank the most frequent."""
    best: dict[tuple[int, str, str], _Sign] = {}
    for sign in sorted(signs, key=lambda sign: (-sign[-1], sign[3])):
        best.setdefault(sign[:3], sign)
    columns = zip(*sorted(best.values()), strict=True) if best else ((),) * 5
    return Table.build(JobSign, **dict(zip(("rank", "tells", "seen_as", "name", "calls"), columns, strict=True)))
