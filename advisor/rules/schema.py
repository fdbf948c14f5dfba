# SPDX-License-Identifier: Apache-2.0
"""The shape of a rule as written. What the words mean is settled in `bind`; `json_schema` serves editors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from copy import deepcopy
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from advisor.messages.errors import Mistake, Unclear
from advisor.messages.message import Message, did_you_mean
from advisor.messages.text import Text
from advisor.messages.wide_signs import hint_on_wide_sign
from advisor.model.findings import Reference, RemedyStep
from advisor.yaml_files.document import Path_, RuleDocument
from advisor.yaml_files.slips import in_quotes
from advisor.yaml_files.suggestions import suggest_close, suggest_known

CATEGORIES = ("capture", "host", "compute", "comm", "ranks", "pipeline", "memory", "io", "env")
CHINESE = re.compile("[\u4e00-\u9fff]")
ID = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*/[a-z][a-z0-9]*(-[a-z0-9]+)*$"


def _as_written(value: object) -> object:
    """YAML reads `when: true` and `x: 5` as values; as expressions they are text again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else value


def _in_both(value: object) -> object:
    """What is said in one language is said so in the other too; shipped rules say both (see `style`)."""
    if not isinstance(value, dict):
        return value
    one, other = value.get("en"), value.get("zh")
    if (one is None) == (other is None):
        return value
    return {**value, "en": one if other is None else other, "zh": other if one is None else one}


def _words_in_both(value: object) -> object:
    return _in_both(value) if isinstance(value, dict) and len(value) == 1 else value  # two keys: one is a slip


Words = Annotated[Text, BeforeValidator(_words_in_both), AfterValidator(Text.unfolded)]
Expression = Annotated[str, BeforeValidator(_as_written), Field(min_length=1)]
RuleId = Annotated[str, Field(pattern=ID)]
StatementKey = Annotated[str, Field(min_length=1)]
SeverityWord = Literal["info", "low", "medium", "high", "critical"]
ConfidenceWord = Literal["low", "medium", "high"]
ResourceWord = Literal["device_memory", "host_memory", "processors", "launching"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ParamFile(_Part):
    """A threshold, and why it has this value."""

    value: float = Field(allow_inf_nan=False)
    unit: Literal["", "us", "B", "GB/s", "MHz", "count", "share", "times"] = ""
    basis: Words


class ShownFile(_Part):
    """One value to show as evidence."""

    @model_validator(mode="before")
    @classmethod
    def _both(cls, value: object) -> object:
        return _in_both(value)

    show: str
    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)
    threshold: str = ""
    as_: Literal["", "times", "share", "us", "B", "count", "GB/s", "MHz"] = Field("", alias="as")


class RowsFile(_Part):
    """An excerpt of the rows behind a finding."""

    in_: str = Field(
        "",
        alias="in",
        description="Table of the rows, which has every key of `for_each`; the rule's own table when left out.",
    )
    columns: list[str] = Field(min_length=1)
    where: Expression = "true"
    order: Expression = "0"
    top: int = Field(10, ge=1, le=50)


class OccurrencesFile(_Part):
    """The events behind a finding: worst occurrences with their times, to look at in a timeline."""

    in_: str = Field("", alias="in", description="Table of the events; the rule's own table when left out.")
    by: list[str] | dict[str, str] | None = Field(
        None,
        description="Columns that an event shares with a row of the rule, or a mapping from the column of the rule to "
        "that of the events; all keys both tables have when left out.",
    )
    where: Expression | None = Field(None, description="Keeps the events for which it is true.")
    order: Expression | None = Field(
        None, description="Worst first, ascending; in the order of `rows`, then longest first, when left out."
    )


class SavingFile(_Part):
    """What fixing it could win per step, at most."""

    us: Expression
    imposes: Expression = ""
    across: Literal["worst", "mean", "least", "critical", "worst_or_critical"] = "worst"
    assumes: Words
    at_most: bool = False
    host_time: bool = False
    frees: Literal["", "communication"] = ""


class FixFile(_Part):
    """One step of the remedy."""

    do: Words
    run: str = ""
    code: str = ""
    care: Words | None = None
    takes: list[ResourceWord] = []
    when: Expression = "true"

    def as_step(self) -> RemedyStep:
        """The step as reports show it; when it applies is kept beside it."""
        return RemedyStep(do=self.do, run=self.run, code=self.code, care=self.care, takes=tuple(self.takes))


class ReferenceFile(_Part):
    """Where to read more."""

    title: Annotated[str, Field(min_length=1)] | Words
    url: str = Field(pattern=r"^https?://")

    def as_reference(self) -> Reference:
        """The page as reports name it."""
        if isinstance(self.title, str):
            return Reference(title=self.title, url=self.url)
        return Reference(title=self.title.en, title_zh=self.title.zh, url=self.url)


class CaseFile(_Part):
    """One of the rule's own tests."""

    model_config = ConfigDict(defer_build=True)

    name: str = Field(min_length=1)
    given: dict[str, str] = {}
    expect: Literal["quiet", "skipped", "not applicable"] | list[dict[str, str | int | float | bool | list[int] | None]]


class RuleFile(_Part):
    """A rule file without its tests."""

    id: RuleId
    since: str
    status: Literal["stable", "preview", "deprecated"] = "stable"
    implements: list[StatementKey] = []
    formerly: list[RuleId] = []
    title: Words
    title_with: dict[str, Words] = {}
    why: Words
    applies_when: Expression = "true"
    requires: list[str] = []
    coverage: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    params: dict[str, ParamFile] = {}
    for_each: list[str]
    in_: str = Field(alias="in")
    where: Expression = "true"
    let: dict[str, Expression] = {}
    when: Expression
    severity: SeverityWord | dict[SeverityWord, Expression]
    explains: list[RuleId] = []
    includes: list[RuleId] = []
    own_reason: str = ""
    symptom: Expression = ""
    scarce: ResourceWord | None = None
    doubts: bool | list[str] = False
    inflates: Literal["", "host_time"] = ""
    evidence: list[ShownFile] = []
    rows: RowsFile | None = None
    occurrences: OccurrencesFile | None = None
    saving: SavingFile | None = None
    confidence: ConfidenceWord | dict[ConfidenceWord, Expression] = "medium"
    fix: list[FixFile] = Field(min_length=1)
    pattern_fixes: bool = False
    references: list[ReferenceFile] = []
    tests: Any = None


class WholeRuleFile(RuleFile):
    """A rule file."""

    model_config = ConfigDict(defer_build=True, title="advisor rule")

    tests: list[CaseFile] = Field(min_length=1)


def check_shape(document: RuleDocument) -> tuple[RuleFile | None, list[Mistake], Set[Path_]]:
    """The rule as written, everything wrong with its shape, and the paths of what stands in for slips.

    Where small slips can be bridged the rule comes all the same, so that the rest of it can be checked too.
    """
    if not isinstance(document.data, dict):
        return None, [document.mistake((), Message("rule_is_mapping"))], set()
    try:
        return RuleFile.model_validate(document.data), [], set()
    except ValidationError as error:
        slips = error.errors(include_url=False)
    told: dict[Path_, dict[str, Any]] = {}
    for slip in slips:  # of two alternatives that both fail, a word and a mapping, the word is the likelier
        told.setdefault(_path_in_data(slip["loc"], document.data), dict(slip))
    told = {path: slip for path, slip in told.items() if not _told_better(path, slip, told)}
    unsaid = {path for path in told if _is_unsaid(path, told)}
    mistakes = [
        _mistake_of_silence(document, path) if path in unsaid else _mistake_of_slip(document, path, slip)
        for path, slip in told.items()
        if (*path[:-1], "en") not in unsaid or path in unsaid
    ]
    try:
        return RuleFile.model_validate(_bridge_slips(document.data, told)), mistakes, told.keys()
    except ValidationError:
        return None, mistakes, set()


def _told_better(path: Path_, slip: Mapping[str, Any], told: Iterable[Path_]) -> bool:
    """Whether a mapping is only said to be no word, while what is wrong inside it is told too."""
    inside = any(other[: len(path)] == path and other != path for other in told)
    return slip["type"] in ("literal_error", "string_type") and inside


def _is_unsaid(path: Path_, told: Mapping[Path_, Mapping[str, Any]]) -> bool:
    """Whether a text is missing in both languages, of which one would do."""
    both = [(*path[:-1], language) for language in ("en", "zh")]
    return path == both[0] and all(one in told and told[one]["type"] == "missing" for one in both)


def _mistake_of_silence(document: RuleDocument, path: Path_) -> Mistake:
    return document.mistake(path[:-1], Message("said_in_no_language", name=".".join(map(str, path[:-1]))))


def _bridge_slips(data: dict[str, Any], told: Mapping[Path_, Mapping[str, Any]]) -> dict[str, Any]:
    """The data without unknown keys, and with a dash for texts that are missing or are none."""
    bridged = deepcopy(data)
    for path, slip in told.items():
        parent: Any = bridged
        for step in path[:-1]:
            parent = parent[step]
        if slip["type"] in _UNKNOWN:
            parent.pop(path[-1], None)
        elif path and isinstance(parent, dict) and slip["type"] in ("missing", "string_type", "string_too_short"):
            parent[path[-1]] = "-"
    return bridged


def cases_of_document(document: RuleDocument) -> tuple[tuple[CaseFile, ...], list[Mistake]]:
    """The tests of a rule file that have the right shape, and what is wrong with the others."""
    raw = document.data.get("tests") if isinstance(document.data, dict) else None
    if not isinstance(raw, list) or not raw:
        return (), [document.mistake(("tests",), Message("rule_has_tests"), Message("one_that_fires"))]
    found: list[CaseFile] = []
    mistakes: list[Mistake] = []
    for number, entry in enumerate(raw):
        try:
            found.append(CaseFile.model_validate(entry))
        except ValidationError as error:
            told: dict[Path_, dict[str, Any]] = {}
            for wrong in error.errors(include_url=False):  # of a word and a list that both fail, the word is told
                told.setdefault(("tests", number, *_path_in_data(wrong["loc"], entry)), dict(wrong))
            mistakes += (_mistake_of_slip(document, path, wrong) for path, wrong in told.items())
    return tuple(found), mistakes


def _path_in_data(loc: tuple[str | int, ...], data: Any) -> Path_:
    """The part of a pydantic location that leads through the data; names of alternatives are left out."""
    path: list[str | int] = []
    for index, step in enumerate(loc):
        inside = isinstance(data, dict) and step in data
        if inside or (isinstance(data, list) and isinstance(step, int) and step < len(data)):
            path.append(step)
            data = data[step]
        elif (
            index == len(loc) - 1
            and isinstance(data, dict)
            and not str(step).startswith(("literal[", "dict[", "list[", "constrained-", "function-"))
        ):
            path.append(step)
    return tuple(path)


def slips_in_document(document: RuleDocument, error: ValidationError, model: type[BaseModel]) -> list[Mistake]:
    """What is wrong with the shape of a document that is no rule but such a model."""
    return [
        _mistake_of_slip(document, _path_in_data(slip["loc"], document.data), dict(slip), model)
        for slip in error.errors(include_url=False)
    ]


def _mistake_of_slip(
    document: RuleDocument, path: Path_, entry: dict[str, Any], model: type[BaseModel] | None = None
) -> Mistake:
    """A pydantic error in our words."""
    kind, name = str(entry["type"]), ".".join(map(str, path))
    if kind == "missing":
        return document.mistake(path[:-1], Message("is_missing", name=name))
    if kind in _UNKNOWN:
        unknown = str(path[-1])
        hint = hint_on_wide_sign(unknown) or suggest_known(unknown, _allowed_keys(path, model))
        return document.mistake(path, Message("unknown_key", name=unknown), hint, key=True)
    if kind == "literal_error":
        given, allowed = str(entry.get("input")), [*_words_allowed(model or WholeRuleFile, path)]
        what = Message("is_one_of", name=name, allowed=", ".join(allowed), given=given)
        hint = _hint_on_unit(given) if path[-1] == "unit" else None
        meant = [_SAME_ACROSS[given]] if path[-1] == "across" and given in _SAME_ACROSS else []
        hint = hint or did_you_mean(meant) or suggest_close(given, allowed)
        return document.mistake(path, what, hint, key=path[-1] == given)
    if kind == "string_pattern_mismatch":
        return document.mistake(path, Message("is_web_address" if name.endswith("url") else "is_rule_id", name=name))
    if kind in _NEEDS:
        hint = _hint_on_number(kind, entry.get("input")) or _hint_on_shape(kind, path, entry.get("input"), model)
        return document.mistake(path, Message(_NEEDS[kind], name=name), hint)
    if isinstance(unclear := entry.get("ctx", {}).get("error"), Unclear):
        return document.mistake(path, unclear.what, unclear.hint)
    return document.mistake(path, Message("does_not_fit", name=name, said=str(entry["msg"])))


def _words_allowed(kind: Any, path: Path_) -> Iterator[str]:
    """The words of which one stands at a path below a type, or is the key there."""
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        yield from () if path else filter(None, inner)
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = (field for name, field in kind.model_fields.items() if path and path[0] == (field.alias or name))
        for field in fields:
            yield from _words_allowed(field.annotation, path[1:])
    elif get_origin(kind) is dict and path:
        yield from _words_allowed(inner[0], path[1:])
        yield from _words_allowed(inner[1], path[1:])
    elif get_origin(kind) in (list, tuple) and path:
        yield from _words_allowed(inner[0], path[1:])
    elif get_origin(kind) not in (dict, list, tuple):  # a union, or a type with notes
        for one in inner:
            yield from _words_allowed(one, path)


def _hint_on_unit(given: str) -> Message | None:
    """What a time counts in the one unit of times."""
    return Message("times_are_us", unit=given, number=_IN_US[given]) if given in _IN_US else None


def _hint_on_number(kind: str, given: object) -> Message | None:
    """How a percentage is written as a number."""
    return hint_on_percent(given) if kind.startswith("float") else None


def hint_on_percent(given: object) -> Message | None:
    """The number that a percentage stands for; nothing where this is none."""
    percent = _PERCENT.fullmatch(given) if isinstance(given, str) else None
    return Message("share_is_written", number=f"{float(percent[1]) / 100:g}") if percent else None


def _hint_on_shape(kind: str, path: Path_, given: object, model: type[BaseModel] | None) -> Message | None:
    """How a list, a text in a language or a part of a rule is written, where a plain value was given."""
    if kind == "model_type":
        return Message("has_the_keys", names=", ".join(_allowed_keys((*path, ""), model)))
    if not path or not isinstance(given, str | int | float) or isinstance(given, bool):
        return None
    if kind == "list_type":
        return Message("write_it_as", words=f"{path[-1]}: [{given}]")
    if kind == "dataclass_type" and isinstance(path[-1], str):
        language = "zh" if CHINESE.search(str(given)) else "en"
        return Message("write_it_as", words=f"{path[-1]}: {{{language}: {in_quotes(str(given))}}}")
    return None


_SAME_ACROSS = {"max": "worst", "maximum": "worst", "min": "least", "minimum": "least", "average": "mean"}
"""How ranks become one, by the words that are used for it elsewhere."""
_IN_US = {"s": "1000000", "ms": "1000", "ns": "0.001"}
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?[%％]")

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""A key that means nothing, in a model and in a `Text`."""

_NEEDS = {
    "string_type": "is_text",
    "string_too_short": "is_empty",
    "list_type": "is_list",
    "dict_type": "is_mapping",
    "model_type": "is_mapping",
    "dataclass_type": "is_mapping",
    "float_type": "is_number",
    "float_parsing": "is_number",
    "int_type": "is_whole_number",
    "int_parsing": "is_whole_number",
    "int_from_float": "is_whole_number",
    "bool_type": "is_truth",
    "bool_parsing": "is_truth",
    "finite_number": "is_finite_number",
    "too_short": "is_empty",
    "greater_than_equal": "is_too_small",
    "less_than_equal": "is_too_large",
}

_NESTED: dict[str, type[BaseModel]] = {
    "params": ParamFile,
    "evidence": ShownFile,
    "rows": RowsFile,
    "occurrences": OccurrencesFile,
    "saving": SavingFile,
    "fix": FixFile,
    "references": ReferenceFile,
    "tests": CaseFile,
}
_TEXTS = ("title", "why", "basis", "assumes", "do", "care")


def _allowed_keys(path: Path_, model: type[BaseModel] | None = None) -> list[str]:
    """The keys that may stand where an unknown one stands, in a rule where no other model is given."""
    words = [step for step in path[:-1] if isinstance(step, str)]
    if words and (words[-1] in _TEXTS or words[0] == "title_with"):
        return ["en", "zh"]
    top = model or RuleFile
    part = _part_of(top, words[0]) if words else top
    return [field.alias or name for name, field in part.model_fields.items()]


def _part_of(model: type[BaseModel], key: str) -> type[BaseModel]:
    """The model of what stands under a key, in a list or a mapping; the model itself where none does."""
    if model is RuleFile:
        return _NESTED.get(key, model)
    inner = [one for one in get_args(model.model_fields[key].annotation) if isinstance(one, type)]
    return next((one for one in inner if issubclass(one, BaseModel)), model)
