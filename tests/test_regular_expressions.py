# SPDX-License-Identifier: Apache-2.0
"""Names in a capture may be of any length: no regular expression goes over a text again for each of its signs.

Each of the package is tried, in the ways in which it is applied, on texts that lead it to: what it repeats and what
stands before that, many times over, with an end that fits nothing.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from re import _compiler, _parser
from typing import Any, NamedTuple

import msgspec
import pytest

import advisor
from advisor.analysis.job import engine_borders, job_signs
from advisor.engine import user_line
from advisor.model.findings import Reference
from advisor.policy import pyproject
from advisor.report import line_breaks
from advisor.rules.schema import ID
from advisor.sources.ascend.kernels import type_of_name
from advisor.sources.files import csvfile
from advisor.sources.kineto import header, kernel_names
from advisor.sources.shared.environment_snapshot import _SMI_VERSION
from advisor.yaml_files import amounts

PACKAGE = Path(advisor.__file__).parent
ALL_MATCHES = frozenset({"findall", "finditer", "split", "sub", "subn"})
WAYS = frozenset({"fullmatch", "match", "search"}) | ALL_MATCHES
STAND_INS = {"ID": ID, **dict.fromkeys(("english", "every", "key", "names", "pattern", "prefix"), "key")}
"""What stands for the variables that expressions are made of, where those made with them are not found themselves."""

SIGNS = "a0._ -\n/:,;([{<\"'`|A中"
"""Tried as what a class of signs holds, in this order."""
ENDS = ("!", "\n!")
LENGTHS = tuple(16 << power for power in range(8))
LONGEST = 4 * LENGTHS[-1]
GROWTH = 8
"""Four times the text takes four times as long, sixteen times if it is gone over again for each sign."""
TOO_LONG = 5e-6
"""Seconds per sign: twenty times what the slowest take that read a text once."""
NOTABLE = 3e-7
"""Seconds per sign of the longest text: ten times what others take, less than half of what any does that goes over it
again. Where memory has to be asked for anew, long texts take some times as long per sign as short ones."""

Ways = dict[re.Pattern[Any], set[str]]


class Hostile(NamedTuple):
    """A text of any length."""

    begin: str
    again: str
    end: str

    def of(self, length: int) -> str:
        return self.begin + self.again * (length // len(self.again)) + self.end


def sample(tree: Iterable[Any]) -> str:
    """A text that fits, what may be left out once in it."""
    return "".join(samples(item)[0] for item in tree)


def samples(item: Any) -> list[str]:
    """Texts that fit a part of an expression: one, but of a class many."""
    kind, value = item
    name = str(kind)
    if name == "LITERAL":
        return [chr(value)]
    if name in ("IN", "ANY", "NOT_LITERAL"):
        fits = _compiler.compile(_parser.SubPattern(_parser.State(), [item])).fullmatch
        return [*filter(fits, SIGNS)] or [next(filter(fits, map(chr, range(0x10000))))]
    if name.endswith("_REPEAT"):
        return [sample(value[2]) * max(value[0], 1)]
    if name in ("BRANCH", "SUBPATTERN", "ATOMIC_GROUP"):
        return [one for tree in inner_trees(item) for one in samples_of_group(list(tree))]
    return [""]


def samples_of_group(items: list[Any]) -> list[str]:
    return samples(items[0]) if len(items) == 1 else [sample(items)]


def inner_trees(item: Any) -> list[Any]:
    """The parts inside a part of an expression."""
    kind, value = item
    name = str(kind)
    if name == "BRANCH":
        return value[1]
    if name == "ATOMIC_GROUP":
        return [value]
    return [value[-1]] if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT") or name.endswith("_REPEAT") else []


def endless_repeats(tree: Iterable[Any], before: str = "") -> Iterator[tuple[str, list[str]]]:
    """What stands before each, and what it repeats."""
    for item in tree:
        if str(item[0]).endswith("_REPEAT") and item[1][1] is _parser.MAXREPEAT:
            yield before, samples_of_group(list(item[1][2]))
        for part in inner_trees(item):
            yield from endless_repeats(part, before)
        before += sample([item])


def hostile_texts(pattern: re.Pattern[Any]) -> Iterator[Hostile]:
    """What any part of it repeats, alone and with what stands before, many times over behind what stands before one."""
    repeats = [*endless_repeats(_parser.parse(pattern.pattern, pattern.flags))]
    begins = dict.fromkeys(["", *(begin for begin, _ in repeats)])
    again = dict.fromkeys(
        one for begin, signs in repeats for sign in signs for one in (sign, begin, begin + sign) if one
    )
    yield from itertools.starmap(Hostile, itertools.product(begins, again, ENDS))


def seconds(pattern: re.Pattern[Any], way: str, text: str) -> float:
    plain = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    begin = time.process_time()
    if way in ALL_MATCHES:
        for _ in pattern.finditer(plain):
            pass
    else:
        getattr(pattern, way)(plain)
    return time.process_time() - begin


def least_seconds(pattern: re.Pattern[Any], way: str, text: str) -> float:
    """Of ten times, as the machine may be busy."""
    return min(seconds(pattern, way, text) for _ in range(10))


def goes_over_it_again(pattern: re.Pattern[Any], way: str, text: Hostile) -> bool:
    """Whether the time grows faster than the text, step by step: it may double with each sign."""
    took = []
    for length in LENGTHS:
        took.append(seconds(pattern, way, text.of(length)))
        if took[-1] > TOO_LONG * length and least_seconds(pattern, way, text.of(length)) > TOO_LONG * length:
            return True
    if took[-1] < GROWTH * took[-3]:
        return False
    short, long = (least_seconds(pattern, way, text.of(length)) for length in (LENGTHS[-3], LONGEST))
    return long > max(GROWTH**2 * short, NOTABLE * LONGEST)


def slow_text(pattern: re.Pattern[Any], way: str) -> Hostile | None:
    return next((text for text in hostile_texts(pattern) if goes_over_it_again(pattern, way, text)), None)


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        yield from itertools.chain.from_iterable(map(patterns_in, value))
    elif isinstance(value, Mapping):
        yield from patterns_in([*value.values()])
    elif isinstance(value, msgspec.Struct):
        yield from patterns_in([getattr(value, name) for name in value.__struct_fields__])


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def loops(node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """What a loop takes, and from what."""
    parts = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
    return [(part.target, part.iter) for part in parts]


def ways_of(nodes: list[ast.AST], name: str) -> set[str]:
    """How what has this name is applied, or what loops take from it."""
    found = {attribute for owner, attribute in applied(nodes) if owner == name}
    for node in nodes:
        for target, source in loops(node):
            if name in names_in(source):
                inside = [*ast.walk(node)]
                found |= set().union(*(ways_of(inside, one) for one in names_in(target) - {name}))
    return found


def applied(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names, and how each is applied; texts are split too."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in WAYS and not isinstance(node.value, ast.Constant):
            owner = ast.unparse(node.value)
            if owner != "re" and (node.attr != "split" or owner.isupper()):
                yield owner, node.attr


def written_calls(nodes: Iterable[ast.AST], module: Mapping[str, Any]) -> Iterator[tuple[re.Pattern[Any], str]]:
    """The expressions that stand in calls of `re` itself, and which function is called."""
    for node in nodes:
        owner, _, called = ast.unparse(node.func).rpartition(".") if isinstance(node, ast.Call) else ("", "", "")
        if owner == "re" and called in WAYS | {"compile"}:
            flags = [one for one in map(ast.unparse, node.args[1:]) if one.startswith("re.")]
            code = f"re.compile({', '.join([ast.unparse(node.args[0]), *flags])})"
            yield eval(code, dict(module), STAND_INS), called  # noqa: S307


def applied_expressions() -> Ways:
    """Every expression of the package, and how it is applied: where that is not plain, in all ways of its module.

    What only functions of other modules import is tried in every way.
    """
    found: Ways = defaultdict(set)
    perhaps: Ways = defaultdict(set)
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text("utf-8")
        if not re.search(r"\.(fullmatch|match|search|sub|find(all|iter))\b|import re\n", text):
            continue
        nodes = [*ast.walk(ast.parse(text))]
        own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        of_module = {way for _, way in applied(nodes)}
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        module = vars(importlib.import_module(name))
        for pattern, way in written_calls(nodes, module):
            (perhaps if way == "compile" else found)[pattern] |= of_module if way == "compile" else {way}
        for name, value in module.items():
            for pattern in patterns_in(value):
                found[pattern] |= ways_of(nodes, name)
                perhaps[pattern] |= of_module if name in own else set()
    return {one: found[one] or perhaps[one] or {"fullmatch", "search"} for one in found.keys() | perhaps.keys()}


def test_every_regular_expression_reads_a_text_once():
    every = applied_expressions()
    assert len(every) > 250
    slow = {(pattern.pattern, way): slow_text(pattern, way) for pattern, ways in every.items() for way in ways}
    assert not {name: text for name, text in slow.items() if text}


class Mended(NamedTuple):
    """An expression that went over its text again, and what reads the text since."""

    earlier: re.Pattern[Any]
    way: str
    pieces: tuple[str, ...]
    """What texts are made of that tell both apart, if anything does."""
    found: Callable[[re.Pattern[Any], str], object]
    finds: Callable[[str], object]


def parts_of_name(name: str) -> list[str]:
    ends = [0, *(found.start() for found in line_breaks._PART_ENDS.finditer(name)), len(name)]
    return [name[begin:end] for begin, end in itertools.pairwise(ends)]


def groups(found: re.Match[Any] | None) -> object:
    return found and found.groups()


def without_key(text: bytes) -> bytes:
    return header._LAST_KEY.sub(b"", text).rstrip().removesuffix(b",")


OPENING = '"traceEvents": ['
PREFILL = dict(job_signs.OPERATORS.patterns)["prefill"]
MENDED = {
    "a part of a name": Mended(
        re.compile(r".*?(?:[_/.:;,]+(?=\w)|$)"),
        "finditer",
        ("a", "_", ".", ":", "-", "中", " "),
        lambda earlier, text: [part for part in earlier.findall(text) if part] or [""],
        parts_of_name,
    ),
    "the type in a name": Mended(
        re.compile(r"\d+$"),
        "sub",
        ("a", "0", "12", "٣", "!", "\n"),
        lambda earlier, text: earlier.sub("", text) or text,
        type_of_name,
    ),
    "a heading and its unit": Mended(
        re.compile(r"^(.*?)\s*\(([^()]*)\)$"),
        "match",
        ("a", " ", "(", ")", "us", "\n"),
        lambda earlier, text: groups(earlier.match(" ".join(text.split()))),
        lambda text: groups(csvfile._UNIT.match(" ".join(text.split()))),
    ),
    "an amount": Mended(
        re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*([^\W\d_]*|%)"),
        "fullmatch",
        ("1", "20", ".", "e", "-", " ", "%", "s"),
        lambda earlier, text: groups(earlier.fullmatch(text)),
        lambda text: groups(amounts._AMOUNT.fullmatch(text)),
    ),
    "a function that runs a step": Mended(
        re.compile(r"(?:.*/)?vllm(_\w+)?/\S*model_runner\w*\.py\(\d+\): execute_model$"),
        "match",
        ("vllm/", "/", "vllm_a/", "model_runner", "_v1", ".py(1): execute_model", "\n", " "),
        lambda earlier, text: bool(earlier.match(text)),
        lambda text: bool(engine_borders.FUNCTION.match(text)),
    ),
    "a frame": Mended(
        re.compile(r"(?P<file>[^\n;]+?\.pyw?)\((?P<line>\d{1,9})\)(?:: (?P<function>.*))?"),
        "fullmatch",
        ("a", ".py(1)", ".pyw(23)", ": ", "\n", ";", " "),
        lambda earlier, text: groups(earlier.fullmatch(text)),
        lambda text: groups(user_line._FRAME.fullmatch(text)),
    ),
    "a version of npu-smi": Mended(
        re.compile(r"npu-smi[^\n]*?Version:\s*([\w.]+)"),
        "findall",
        ("npu-smi", "npu-sm", "Version:", " ", "\n", "1.2", "-"),
        lambda earlier, text: earlier.findall(text)[:1],
        lambda text: _SMI_VERSION.findall(text)[:1],
    ),
    "a kernel without marks": Mended(
        re.compile(r"\[clone [^\]]*\]|\.kd$"),
        "sub",
        ("[clone ", "]", "[", "a", ".kd", "\n"),
        lambda earlier, text: earlier.sub("", text),
        kernel_names._without_marks,
    ),
    "an operator of prefill": Mended(
        re.compile(
            r"PromptFlashAttention|UnpadFlashAttention|.*(mha_batch_prefill|BatchPrefillWith(Paged|Ragged)KV)"
            r"|fmhaSm\w*PagedKv\w*Context\b"
        ),
        "match",
        ("fmhaSm", "PagedKv", "Context", "a", ":", "Page"),
        lambda earlier, text: bool(earlier.match(text)),
        lambda text: bool(PREFILL.match(text)),
    ),
    "what stands before the events": Mended(
        re.compile(rb',?\s*"traceEvents"\s*:\s*\[\s*$'),
        "sub",
        ("1", ",", " ", "\n", '"a"', OPENING),
        lambda earlier, text: earlier.sub(b"", (text + OPENING).encode()),
        lambda text: without_key((text + OPENING).encode()),
    ),
    "the mark of a step": Mended(
        re.compile(r"execute_(?:\d+_)?context_(\d+)(?:\((?:sq)?(\d*).*?\))?_generation_(\d+)(?:\((?:sq)?(\d*).*?\))?"),
        "match",
        ("execute_context_", "1", "(", "sq", "23", ")", "_generation_", "\n"),
        lambda earlier, text: groups(earlier.match("execute_context_4" + text)),
        lambda text: groups(engine_borders._VLLM.match("execute_context_4" + text)),
    ),
    "the settings in pyproject.toml": Mended(
        re.compile(r"^\s*\[+\s*tool\s*\.\s*advisor\b|^\s*tool\s*\.\s*advisor\b|^\s*advisor\s*[=.]", re.MULTILINE),
        "search",
        ("[", " ", "\n", "tool", ".", "advisor", "=", "a"),
        lambda earlier, text: [bool(earlier.search(text)), *map(bool, map(earlier.match, text.split("\n")))],
        lambda text: [bool(pyproject._STARTS.search(text)), *map(bool, map(pyproject._STARTS.match, text.split("\n")))],
    ),
    "a page about PyTorch": Mended(
        re.compile(
            r"https?://(?:[\w.-]+\.)?(?:pytorch\.org|nvidia\.com/megatron|\S*/pytorch|\S*mindspeed)|\S+ .*torch", re.I
        ),
        "match",
        ("docs.", "pytorch.org", "/", "Mindspeed", "nvidia.com/megatron", " "),
        lambda earlier, text: bool(earlier.match(f"https://{text} about")),
        lambda text: not Reference(title="about", url=f"https://{text}").concerns("", "MindSpore", ""),
    ),
}


@pytest.mark.parametrize("one", MENDED.values(), ids=MENDED)
def test_texts_of_a_few_pieces_say_what_they_said_before(one: Mended) -> None:
    """Longer ones are not made of anything else."""
    texts = ["".join(pieces) for many in range(5) for pieces in itertools.product(one.pieces, repeat=many)]
    found = [one.found(one.earlier, text) for text in texts]
    assert any(one != found[0] for one in found)
    assert [one.finds(text) for text in texts] == found


TWICE = {one: (mended.earlier, mended.way) for one, mended in MENDED.items()} | {
    "a host": (re.compile(r"(?P<host>.*[^\W_].*?)_\d{2,10}$", re.DOTALL), "match"),
    "no end in sight": (re.compile(r"(a|b|ab)*c"), "match"),
}


@pytest.mark.parametrize(("pattern", "way"), TWICE.values(), ids=TWICE)
def test_an_expression_that_goes_over_its_text_again_is_found(pattern: re.Pattern[Any], way: str) -> None:
    assert slow_text(pattern, way)
