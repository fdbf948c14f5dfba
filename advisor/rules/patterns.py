# SPDX-License-Identifier: Apache-2.0
"""Patterns of chains, as files say them: the order of small operators that one fused operator replaces, and the remedy.

A pattern is one YAML file in a folder `patterns` of a folder of rules. Words in capitals stand for the spellings of
one member; those that all patterns share are in `rules/patterns/spellings.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from advisor.expr.compile import Compiled, Scope, compile_expr
from advisor.expr.language import RUN_SCOPE
from advisor.expr.mismatches import say_wrong_kind
from advisor.facts.chain_patterns import ChainMember, ChainOrder, ChainPattern, ChainPatterns
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import ExprError, Mistake, RuleError
from advisor.messages.message import Message
from advisor.model.findings import RemedyStep
from advisor.rules.rule import Rule
from advisor.rules.schema import FixFile, slips_in_document
from advisor.units import Type
from advisor.yaml_files.document import RuleDocument, read_text, refused_link
from advisor.yaml_files.parsed_files import document_of_text
from advisor.yaml_files.suggestions import suggest_known

FOLDER = "patterns"
"""The folder of patterns in a folder of rules."""
SPELLINGS = "spellings.yaml"
"""The file there that says how members are spelled, and what may stand between them."""
MOST_MEMBERS, MOST_OPTIONAL = 16, 8
"""Each choice of optional members is a form that is looked for: 256 at most."""

_WORD = re.compile(r"[A-Z]+$")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*$")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChainFile(_Part):
    """One order in which the operators run."""

    members: str = Field(
        min_length=1,
        description="The members in order: `?` after one that may be missing, `!` after the rarest, which the chain is "
        "looked for by. Words in capitals stand for spellings, others for one type.",
    )
    passes: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Passes over the tensor the fused operator needs, over those of the longest member that is not "
        "kept.",
    )
    keeps: str = Field("", description="Members whose work stays as it is, such as matrix products.")
    grouped: bool = Field(
        False,
        description="Products that are kept become one call, as quick as the chip can compute and load all of them.",
    )
    widens: bool = Field(
        False,
        description="The fused operator takes half precision and computes in float32 inside: conversions around the "
        "chain go too.",
    )
    spread: bool = Field(
        False,
        description="Kernels that are brief beside the members stand between these, and stay: without any it is "
        "another chain.",
    )
    vectors: str = Field("", description="Members of which one input has a single axis, as a bias has.")
    accumulates: str = Field(
        "",
        description="Members that add a float32 matrix to the weight gradient that the member before them multiplies "
        "in half precision.",
    )
    wants: str = Field(
        "",
        description="The same members in the order that the fused operator takes, where the chain computes the same "
        "in another one.",
    )
    beside: str = Field(
        "",
        description="Words for operators of which one has to run on the rank too, such as what chooses experts; "
        "without it these operators mean something else.",
    )


class PatternCaseFile(_Part):
    """One of the pattern's own tests."""

    name: str = Field(min_length=1, description="The promise it keeps.")
    kernels: str = Field(
        min_length=1,
        description="Types of kernels one after another; `Add(64,128;128)` gives the shapes of inputs, "
        "`Add(64,128;128|FLOAT;FLOAT)` their data types too.",
    )
    chains: int = Field(ge=0, description="How many chains of this pattern are found.")


class PatternFile(_Part):
    """A pattern file."""

    model_config = ConfigDict(title="advisor pattern")

    name: str = Field(min_length=1, description="The name of the file without its ending.")
    since: str = Field(description="The version in which the pattern came.")
    operator: str = Field(
        min_length=1, description="The fused operator as CANN names it, or what runs over all tensors at once."
    )
    workload: Literal["", "training", "inference"] = Field(
        "", description="Whether the fused operator serves training alone, or inference alone."
    )
    spellings: dict[str, str] = Field(
        {}, description="Words in capitals, each with the types it stands for, in this pattern."
    )
    chains: list[ChainFile] = Field(min_length=1, description="The orders in which the operators run.")
    fix: list[FixFile] = Field([], description="What to do, as in rules; without it, a rule of its own says so.")
    tests: list[PatternCaseFile] = Field(
        min_length=1, description="Kernels, and how many chains are found in them: one case that finds some."
    )


class SpellingsFile(_Part):
    """How members are spelled."""

    passed_over: str
    joined: str
    aside: str
    spellings: dict[str, str]


@dataclass(frozen=True)
class Pattern:
    """A pattern with nothing left to resolve."""

    chain: ChainPattern
    fix: tuple[RemedyStep, ...]
    fix_when: tuple[str, ...]
    tests: tuple[PatternCaseFile, ...]
    path: Path
    document: RuleDocument

    @property
    def name(self) -> str:
        return self.chain.name

    @property
    def id(self) -> str:
        """How it is asked for beside rules: no rule has its folder."""
        return f"{FOLDER}/{self.name}"


@dataclass(frozen=True)
class PatternCatalog:
    """Patterns, ordered by name, and what may stand between the members of any chain."""

    patterns: tuple[Pattern, ...]
    passed_over: frozenset[str]
    aside: frozenset[str]
    joined: frozenset[str]
    """What else a graph compiler may join into one kernel."""

    @cached_property
    def chains(self) -> ChainPatterns:
        """What is looked for."""
        return ChainPatterns(tuple(one.chain for one in self.patterns), self.passed_over, self.aside, self.joined)

    def remedies_into(self, rule: Rule) -> Rule:
        """The rule with the steps of each pattern, for its own chains, before its own."""
        told = [
            (one.name, step, when) for one in self.patterns for step, when in zip(one.fix, one.fix_when, strict=True)
        ]
        whens = tuple(_when_of_pattern(name, when) for name, _, when in told)
        fix, fix_when = tuple(step for _, step, _ in told), (*whens, *rule.fix_when)
        return replace(rule, fix=(*fix, *rule.fix), fix_when=fix_when)


@lru_cache(maxsize=1024)
def _when_of_pattern(name: str, when: str) -> Compiled:
    """When a step of a pattern is shown by a rule that tells of chains of any."""
    words = f'pattern == "{name}"' if when == "true" else f'pattern == "{name}" and ({when})'
    return compile_expr(words, Scope({**RUN_SCOPE, "pattern": Type("text")}))


def is_pattern_file(path: Path) -> bool:
    """Whether a file below a folder of rules holds a pattern and no rule."""
    return path.parent.name == FOLDER


def shipped_patterns() -> PatternCatalog:
    """The patterns that are shipped.

    Raises:
        RuleError: A file is no pattern.
    """
    found, mistakes = gather_patterns(())
    if mistakes:
        raise RuleError(mistakes)
    return found


def gather_patterns(files: Iterable[tuple[Path, Path]]) -> tuple[PatternCatalog, list[Mistake]]:
    """The shipped patterns and those of these files, each with its folder of rules; and what is wrong with any."""
    ours = shipped_folder("rules")
    words = _shared_spellings(ours / FOLDER / SPELLINGS)
    every = {path.resolve(): (path, ours) for path in sorted((ours / FOLDER).glob("*.yaml"))}
    every |= {path.resolve(): (path, folder) for path, folder in files}
    every.pop((ours / FOLDER / SPELLINGS).resolve(), None)
    patterns: dict[str, Pattern] = {}
    mistakes: list[Mistake] = []
    for path, folder in every.values():
        found = refused_link(path, folder) or read_pattern(path, words)
        if not isinstance(found, Pattern):
            mistakes += found
        elif found.name not in patterns:
            patterns[found.name] = found
        else:
            first = Message("first_in", file=patterns[found.name].path.as_posix())
            mistakes.append(found.document.mistake(("name",), Message("defined_twice", name=found.name), first))
    ordered = tuple(patterns[name] for name in sorted(patterns))
    aside = frozenset(words.aside.split())
    passed_over, joined = aside.union(words.passed_over.split()), frozenset(words.joined.split())
    return PatternCatalog(ordered, passed_over, aside, joined), mistakes


def _shared_spellings(path: Path) -> SpellingsFile:
    return _spellings_of(read_text(path, path.as_posix()).encode(), path.as_posix())


@lru_cache(maxsize=1)
def _spellings_of(text: bytes, file: str) -> SpellingsFile:
    document = document_of_text(text, file)
    try:
        return SpellingsFile.model_validate(document.data)
    except ValidationError as error:
        raise RuleError(slips_in_document(document, error, SpellingsFile)) from None


def read_pattern(path: Path, words: SpellingsFile) -> Pattern | list[Mistake]:
    """The pattern of one file, or everything wrong with it. What a file said before is not worked out again."""
    try:
        return _bound(path, read_text(path, path.as_posix()).encode(), tuple(sorted(words.spellings.items())))
    except RuleError as error:
        return list(error.mistakes)


@lru_cache(maxsize=1024)
def _bound(path: Path, text: bytes, words: tuple[tuple[str, str], ...]) -> Pattern:
    document = document_of_text(text, path.as_posix())
    if not isinstance(document.data, dict):
        raise RuleError([document.mistake((), Message("pattern_is_mapping"))])
    try:
        written = PatternFile.model_validate(document.data)
    except ValidationError as error:
        raise RuleError(slips_in_document(document, error, PatternFile)) from None
    pattern = _Binder(document, path, written, dict(words)).bound()
    document.let_go_of_nodes()
    return pattern


class _Binder:
    """Collects mistakes while it resolves."""

    def __init__(self, document: RuleDocument, path: Path, written: PatternFile, words: Mapping[str, str]) -> None:
        self.document, self.path, self.written = document, path, written
        self.spellings = {**words, **written.spellings}
        self.mistakes: list[Mistake] = []

    def wrong(self, path: tuple[str | int, ...], what: Message, hint: Message | None = None) -> None:
        self.mistakes.append(self.document.mistake(path, what, hint))

    def bound(self) -> Pattern:
        """The pattern.

        Raises:
            RuleError: Everything wrong with it.
        """
        w = self.written
        if w.name != self.path.stem or not _NAME.match(w.name):
            self.wrong(("name",), Message("pattern_named_as_file", name=self.path.stem))
        orders = tuple(self.order(number, one) for number, one in enumerate(w.chains))
        whens = tuple(self.checked_when(number, step.when) for number, step in enumerate(w.fix))
        if self.mistakes:
            raise RuleError(self.mistakes)
        return Pattern(
            chain=ChainPattern(w.name, w.operator, orders, workload=w.workload, has_remedy=bool(w.fix)),
            fix=tuple(step.as_step() for step in w.fix),
            fix_when=whens,
            tests=tuple(w.tests),
            path=self.path,
            document=self.document,
        )

    def order(self, number: int, written: ChainFile) -> ChainOrder:
        words = written.members.split()
        path = ("chains", number, "members")
        anchors = [place for place, word in enumerate(words) if word.endswith("!")]
        optional = sum(word.endswith("?") for word in words)
        if len(anchors) != 1:
            self.wrong(path, Message("one_anchor"), Message("mark_the_rarest"))
        if len(words) > MOST_MEMBERS or optional > MOST_OPTIONAL:
            self.wrong(path, Message("chain_too_long", members=MOST_MEMBERS, optional=MOST_OPTIONAL))
        if len(words) - optional < 2:  # noqa: PLR2004 - one kernel is no chain
            self.wrong(path, Message("chain_too_short"))
        names = [word.rstrip("?!") for word in words]
        for key, chosen in (
            ("keeps", written.keeps),
            ("vectors", written.vectors),
            ("accumulates", written.accumulates),
        ):
            for word in chosen.split():
                if word not in names:
                    self.wrong(("chains", number, key), Message("no_member", name=word), suggest_known(word, names))
        members = tuple(self.member(number, word, written) for word in words)
        beside = frozenset[str]().union(*(self.types(number, "beside", word) for word in written.beside.split()))
        anchor, wanted = (anchors or [0])[0], self.wanted(number, names, written.wants.split())
        return ChainOrder(
            members, anchor, written.passes, written.grouped, written.widens, wanted, beside, written.spread
        )

    def wanted(self, number: int, names: list[str], words: list[str]) -> tuple[int, ...]:
        """The places of the members in the order that the fused operator takes."""
        if words and (sorted(words) != sorted(names) or words == names):
            self.wrong(("chains", number, "wants"), Message("wants_other_order", members=" ".join(names)))
            return ()
        places = {name: [at for at, one in enumerate(names) if one == name] for name in names}
        return tuple(places[word].pop(0) for word in words)

    def types(self, number: int, key: str, word: str) -> frozenset[str]:
        if _WORD.match(word) and word not in self.spellings:
            what = Message("no_spelling", name=word)
            self.wrong(("chains", number, key), what, suggest_known(word, self.spellings))
        return frozenset(self.spellings.get(word, word).split())

    def member(self, number: int, marked: str, written: ChainFile) -> ChainMember:
        word = marked.rstrip("?!")
        return ChainMember(
            word,
            self.types(number, "members", word),
            optional=marked.endswith("?"),
            kept=word in written.keeps.split(),
            vector=word in written.vectors.split(),
            accumulates=word in written.accumulates.split(),
        )

    def checked_when(self, number: int, when: str) -> str:
        """The condition of a step, over names of the run alone."""
        try:
            found = compile_expr(when, Scope(RUN_SCOPE))
        except ExprError as error:
            path = ("fix", number, "when")
            self.mistakes.append(self.document.mistake(path, error.what, error.hint, column=error.column))
            return when
        if found.type.kind != "bool":
            self.wrong(("fix", number, "when"), say_wrong_kind("bool", found.type))
        return when


def pattern_schema() -> dict[str, Any]:
    """The JSON schema of pattern files, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **PatternFile.model_json_schema(by_alias=True)}
