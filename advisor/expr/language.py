# SPDX-License-Identifier: Apache-2.0
"""What an expression may say: every operator, function, unit and run name, with its meaning. Nothing else exists.

Missing stays missing: arithmetic and comparisons with a missing value are missing, `and`, `or` and `not` are
three-valued (`false and missing` is false, `true or missing` is true), dividing by zero is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import get_args

from msgspec import Struct

from advisor.messages.message import Message, did_you_mean
from advisor.model.job import STACKS, Phase, Workload
from advisor.model.run import Run, Sides
from advisor.units import FACTORS, Type

MAX_SOURCE = 2000
MAX_NODES = 200
MAX_DEPTH = 40
MAX_TEXT = 200
MAX_NUMBER = 1e18

MISSING_WORD = "missing"
"""What stands for a value that is not known, in the place of one of the two of a choice."""
MOMENT = "moment"
"""Unit of an absolute time. Two moments can be compared and subtracted (which gives ns), and nothing else."""


class LanguageEntry(Struct, frozen=True):
    """One thing of the language: how it is written and what it means."""

    name: str
    usage: str
    meaning: str


OPERATORS: tuple[LanguageEntry, ...] = (
    LanguageEntry("+", "a + b", "sum of two numbers of one unit"),
    LanguageEntry("-", "a - b", "difference of two numbers of one unit; of two absolute times, in ns; also a sign"),
    LanguageEntry("*", "a * b", "product; a share, a count or a bare number keeps the unit of the other"),
    LanguageEntry("/", "a / b", "quotient, missing when b is 0; of two values of one unit it is a share"),
    LanguageEntry("==", "a == b", "equal: numbers of one unit, texts or truths"),
    LanguageEntry("!=", "a != b", "not equal"),
    LanguageEntry("<", "a < b", "less, numbers of one unit"),
    LanguageEntry("<=", "a <= b", "at most"),
    LanguageEntry(">", "a > b", "more"),
    LanguageEntry(">=", "a >= b", "at least"),
    LanguageEntry("in", 'a in ["x", "y"]', "one of a list of literals"),
    LanguageEntry("not in", 'a not in ["x", "y"]', "none of a list of literals"),
    LanguageEntry("and", "a and b", "both; false as soon as one is false"),
    LanguageEntry("or", "a or b", "either; true as soon as one is true"),
    LanguageEntry("not", "not a", "the opposite"),
    LanguageEntry("if else", "a if c else b", "a where c is true, b where c is false"),
    LanguageEntry(
        "missing",
        "a if c else missing",
        "no value, as where nothing was recorded; one of the two values of a choice, and nowhere else",
    ),
    LanguageEntry("true", "true", "the truth value true"),
    LanguageEntry("false", "false", "the truth value false"),
)

AGGREGATES: tuple[LanguageEntry, ...] = (
    LanguageEntry("count", "count(where=c)", "how many rows of the group, or how many of them where c is true"),
    LanguageEntry("sum", "sum(x, where=c)", "sum of the recorded values; 0 over no rows"),
    LanguageEntry("mean", "mean(x, where=c)", "mean of the recorded values"),
    LanguageEntry("median", "median(x, where=c)", "median of the recorded values"),
    LanguageEntry("min", "min(x, where=c)", "smallest recorded value"),
    LanguageEntry("max", "max(x, where=c)", "largest recorded value"),
    LanguageEntry("std", "std(x, where=c)", "population standard deviation of the recorded values; 0 for one value"),
    LanguageEntry("quantile", "quantile(x, 0.9, where=c)", "quantile between 0 and 1, linear between neighbours"),
    LanguageEntry(
        "first", "first(x, where=c)", "recorded value of the first row in table order; also of a text column"
    ),
    LanguageEntry(
        "mode", "mode(name, where=c)", "most frequent text; of equally frequent ones the first in the alphabet"
    ),
    LanguageEntry("distinct", "distinct(x, where=c)", "how many different recorded values"),
)
"""Functions that make one value of a group's rows. All ignore missing values; with none left they are missing."""

FUNCTIONS: tuple[LanguageEntry, ...] = (
    *AGGREGATES,
    LanguageEntry("least", "least(a, b)", "the smallest of two or more numbers"),
    LanguageEntry("greatest", "greatest(a, b)", "the largest of two or more numbers"),
    LanguageEntry("abs", "abs(x)", "size without sign"),
    LanguageEntry("startswith", 'startswith(name, "x")', "whether a text begins with a literal"),
    LanguageEntry("endswith", 'endswith(name, "x")', "whether a text ends with a literal"),
    LanguageEntry("contains", 'contains(name, "x")', "whether a text holds a literal"),
    LanguageEntry("as_number", "as_number(name)", "the number a text stands for; missing where it is none"),
    LanguageEntry(
        "setting",
        'setting("X")',
        "the environment variable X as it was recorded, a text; missing where it was not recorded, was unset, or "
        "differs between the ranks (under `for_each: [rank]` it is that of the rank)",
    ),
    LanguageEntry("recorded", "recorded(x)", "whether a value is not missing; never missing itself"),
)

UNITS: tuple[LanguageEntry, ...] = tuple(
    LanguageEntry(name, f"5 * {name}", f"{factor:g} {base}" if factor != 1 else f"the unit {base}")
    for name, (factor, base) in FACTORS.items()
)

AGGREGATE_NAMES = frozenset(entry.name for entry in AGGREGATES)
FUNCTION_NAMES = frozenset(entry.name for entry in FUNCTIONS)
USAGE = {entry.name: entry.usage for entry in FUNCTIONS}
RESERVED = FUNCTION_NAMES | FACTORS.keys() | {"true", "false", MISSING_WORD, "otherwise"}
"""Words that a `let` or a param may not take."""

INSTEAD: dict[str, str] = {
    "avg": "mean",
    "average": "mean",
    "len": "count",
    "size": "count",
    "percentile": "quantile",
    "stdev": "std",
    "stddev": "std",
    "minimum": "min",
    "maximum": "max",
    "nunique": "distinct",
    "unique": "distinct",
    "isnull": "recorded",
    "isnan": "recorded",
    "exists": "recorded",
    "env": "setting",
    "getenv": "setting",
    "float": "as_number",
    "int": "as_number",
    "True": "true",
    "False": "false",
    "None": "recorded",
    "nan": "missing",
    "NaN": "missing",
    "null": "missing",
}
"""What people of other languages write, and what it is called here."""

INSTEAD_OF_SYNTAX: dict[str, str] = {
    "Pow": "multiply_instead",
    "Mod": "no_remainder",
    "FloorDiv": "divide",
    "BitAnd": "join_with_and",
    "BitOr": "join_with_or",
    "BitXor": "multiply_instead",
    "Invert": "negate_with_not",
    "Is": "compare_equal",
    "IsNot": "compare_unequal",
}


WORDS: dict[str, str] = {
    "Attribute": "attribute_access",
    "Subscript": "indexing",
    "Lambda": "a_lambda",
    "JoinedStr": "an_f_string",
    "List": "a_list_outside",
    "Tuple": "a_list_outside",
    "ListComp": "a_comprehension",
    "SetComp": "a_comprehension",
    "DictComp": "a_comprehension",
    "GeneratorExp": "a_comprehension",
}
SIGNS: dict[str, str] = {
    "Pow": "**",
    "Mod": "%",
    "FloorDiv": "//",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "Invert": "~",
    "NamedExpr": ":=",
    "LShift": "<<",
    "RShift": ">>",
    "MatMult": "@",
    "Is": "is",
    "IsNot": "is not",
}
"""What parts of Python that are not part of the language are called: messages by their code, and signs."""


def nearest_function(name: str) -> Message:
    """What to write where there is no function of this name."""
    near = [INSTEAD[name]] if name in INSTEAD else get_close_matches(name, FUNCTION_NAMES, 1)
    return did_you_mean(near) or Message("known", names=", ".join(entry.name for entry in FUNCTIONS))


class RunName(Struct, frozen=True):
    """A name every expression may use: a property of the run."""

    name: str
    type: Type
    meaning: str
    value: Callable[[Run], float | str | None]
    values: tuple[str, ...] = ()
    """Every text that it can be, where these are few and known."""


_LEVELS = {"Level_none": -1.0, "Level0": 0.0, "Level1": 1.0, "Level2": 2.0}
HIGHEST_LEVEL = max(_LEVELS.values())
"""What most is recorded with."""
_NUMBER, _TEXT = Type("number"), Type("text")


def _none_if_zero(value: float) -> float | None:
    return value or None


def _words_of(known: object) -> tuple[str, ...]:
    """The words of a `Literal` but for the empty one, which stands for nothing known."""
    return tuple(word for word in get_args(known) if word)


RUN_NAMES: tuple[RunName, ...] = (
    RunName(
        "step_us",
        Type("number", "us"),
        "device span of a step, mean over ranks and steps",
        lambda r: _none_if_zero(r.step_us),
    ),
    RunName(
        "device_idle_share",
        Type("number", "share"),
        "part of the mean step in which the device is idle",
        lambda r: r.idle_share,
    ),
    RunName(
        "exposed_comm_share",
        Type("number", "share"),
        "part of the mean step that is communication with no computation beside it",
        lambda r: r.exposed_share,
    ),
    RunName(
        "step_count",
        _NUMBER,
        "recorded steps in which a device worked; 1 when none were marked",
        lambda r: r.step_count,
    ),
    RunName("rank_count", _NUMBER, "ranks of the job, as far as is known", lambda r: r.rank_count),
    RunName("captured_ranks", _NUMBER, "ranks that were captured", lambda r: len(r.ranks)),
    RunName(
        "world_size",
        _NUMBER,
        "ranks of the job, at least; missing when nothing tells",
        lambda r: _none_if_zero(r.world_size),
    ),
    RunName(
        "missing_ranks", _TEXT, "ranks that were not captured, such as `2-7, 9`", lambda r: r.missing_ranks or None
    ),
    RunName(
        "missing_stages",
        _TEXT,
        "pipeline stages of which no rank was captured, such as `1-3`; missing where there are none, or stages are "
        "not known",
        lambda r: r.missing_stages or None,
    ),
    RunName(
        "level", _NUMBER, "lowest profiler level, -1 to 2; missing when not recorded", lambda r: _LEVELS.get(r.level)
    ),
    RunName(
        "core_metrics",
        _TEXT,
        "sets of hardware counters that were recorded, such as `PipeUtilization` or `L2Cache`, and `L2 cache` where "
        "`l2_cache` was on; missing when not recorded",
        lambda r: r.core_metrics,
    ),
    RunName(
        "sampled",
        _TEXT,
        "samplers that were on: `sys_io`, `sys_interconnection`, `host_sys`, `data_process`, or `none`; missing when "
        "not recorded",
        lambda r: r.sampled,
    ),
    RunName(
        "call_stacks",
        _TEXT,
        "`on` where Python call stacks were recorded on some rank, else `off`; missing when not recorded",
        lambda r: r.call_stacks,
        ("on", "off"),
    ),
    RunName(
        "recorded_alone",
        _TEXT,
        "`host` or `device` where profilers were told to record nothing else; missing where both were or none says it",
        lambda r: r.recorded_alone,
        ("host", "device"),
    ),
    RunName(
        "sides",
        _TEXT,
        "`both` (host and device), `device` or `summary` (a cluster summary)",
        lambda r: r.sides or None,
        _words_of(Sides),
    ),
    RunName(
        "lost_files",
        _TEXT,
        "files with events, such as `trace_view.json`, that were recorded and not given for some rank",
        lambda r: r.lost_files or None,
    ),
    RunName(
        "kernel_list",
        _TEXT,
        "`yes` where the kernels of all ranks lie in lists of their own, `no` where some lie in the timeline alone",
        lambda r: r.kernel_list or None,
        ("yes", "no"),
    ),
    RunName("tp", _NUMBER, "tensor-parallel size", lambda r: _none_if_zero(r.parallel.tp)),
    RunName("pp", _NUMBER, "pipeline-parallel size", lambda r: _none_if_zero(r.parallel.pp)),
    RunName("dp", _NUMBER, "data-parallel size", lambda r: _none_if_zero(r.parallel.dp)),
    RunName("cp", _NUMBER, "context-parallel size", lambda r: _none_if_zero(r.parallel.cp)),
    RunName("ep", _NUMBER, "expert-parallel size", lambda r: _none_if_zero(r.parallel.ep)),
    RunName("device_family", _TEXT, "`npu` or `gpu`", lambda r: r.device_family, ("npu", "gpu")),
    RunName(
        "framework",
        _TEXT,
        "`PyTorch` or `MindSpore`; `other` where msprof recorded, which tells of none; missing when not recorded",
        lambda r: r.framework or ("other" if r.recorder == "msprof" else None),
        ("PyTorch", "MindSpore", "other"),
    ),
    RunName(
        "recorder",
        _TEXT,
        "`msprof` where it recorded a program from outside, else `framework`",
        lambda r: r.recorder or "framework",
        ("msprof", "framework"),
    ),
    RunName(
        "workload",
        _TEXT,
        "`training`, `inference` or `RL`, as the operators or the user tell; a capture that holds one half of `RL` "
        "is an `inference` (rollout) or a `training` (update); missing where nothing tells",
        lambda r: r.job.workload or None,
        _words_of(Workload),
    ),
    RunName(
        "phase",
        _TEXT,
        "of an inference: `prefill`, `decode` or `mixed`; missing where nothing tells",
        lambda r: r.job.phase or None,
        _words_of(Phase),
    ),
    RunName(
        "stack",
        _TEXT,
        "whose flags the job has: `PyTorch` (alone), `FSDP`, `DeepSpeed`, `Megatron`, `vLLM`, `SGLang`, `MindIE`, "
        "`MindSpore`, `verl`, or `AscendCL`: a program that executes models which ATC or another converter wrote; "
        "`other` where msprof recorded and nothing tells; missing where nothing else tells",
        lambda r: r.job.stack or ("other" if r.recorder == "msprof" else None),
        (*STACKS, "other"),
    ),
    RunName("chip", _TEXT, "chip, such as `Ascend910B`", lambda r: r.chip or None),
    RunName(
        "execution",
        _TEXT,
        "how MindSpore runs the job: `pynative`, `graph` (whose operators are launched one by one) or `whole graph`; "
        "missing when not recorded",
        lambda r: r.execution or None,
        ("pynative", "graph", "whole graph"),
    ),
    RunName(
        "export",
        _TEXT,
        "what the captures were read from, such as `text`, `database` or `text+database`; missing where they differ",
        lambda r: r.export or None,
    ),
    RunName("cann_version", _TEXT, "version of CANN", lambda r: r.cann_version or None),
    RunName("torch_npu_version", _TEXT, "version of torch_npu", lambda r: r.torch_npu_version or None),
)

RUN_SCOPE: dict[str, Type] = {entry.name: entry.type for entry in RUN_NAMES}
RUN_VALUES: dict[str, tuple[str, ...]] = {entry.name: entry.values for entry in RUN_NAMES if entry.values}
"""Every text that a name of the run can be, by the name."""


def run_values(run: Run) -> dict[str, float | str | None]:
    """The value of every run name; None where it is not known."""
    return {entry.name: entry.value(run) for entry in RUN_NAMES}


_ABOUT = """\
The language of `where`, `let` and `when` in [rules](../writing-rules.md#expressions), and of queries of
[assistants](../mcp.md): everything that can be written, with what it means.
"""

_MISSING = """\
**Missing stays missing.** Arithmetic and comparisons with a missing value are missing; a division by zero is missing.
`and`, `or` and `not` are three-valued: `false and missing` is false, `true or missing` is true, the rest is missing.
Aggregates leave missing values out, and are missing when nothing is left. `where` keeps the rows for which it is true.
A rule whose `when` is missing is *skipped*, with the reason.

**Rows and groups.** A column has one value per row; aggregates, params, run names and the keys of `for_each` have one
per group. A group value beside a column is spread over the rows: `count(where=duration_us > 3 * typical_us)`.

**Units** are checked: µs cannot be compared with bytes; a bare number goes with anything. µs over µs is a share, a
share of µs is µs. Absolute times (`…_ns`) can only be compared with and subtracted from each other.
"""

_LIMITS = f"""\
An expression has at most {MAX_SOURCE} characters and {MAX_NODES} parts, nested at most {MAX_DEPTH} deep; numbers reach
to 1e18, texts to {MAX_TEXT} characters. There are no powers, attributes, subscripts, loops or other calls: an
expression can neither run code, nor read a file, nor hang.
"""


def reference_page() -> str:
    """The page of the documentation about expressions, in Markdown."""
    parts = ["# Expressions\n", _ABOUT, _MISSING]
    for title, entries in (
        ("Operators", OPERATORS),
        ("Aggregates: one value per group", AGGREGATES),
        ("Functions", tuple(entry for entry in FUNCTIONS if entry not in AGGREGATES)),
        ("Units", UNITS),
    ):
        parts.append(f"## {title}\n")
        parts.append("| written | meaning |\n|---|---|")
        parts.append("\n".join(f"| `{entry.usage}` | {entry.meaning} |" for entry in entries) + "\n")
    parts.append("## Names of the run\n")
    parts.append("| name | holds | meaning |\n|---|---|---|")
    parts.append("\n".join(f"| `{name.name}` | {name.type} | {name.meaning} |" for name in RUN_NAMES) + "\n")
    parts += ["## Limits\n", _LIMITS]
    return "\n".join(parts)
