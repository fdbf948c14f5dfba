# SPDX-License-Identifier: Apache-2.0
"""What a rule should be beyond being right: named after its file, tested at its edges, with its thresholds named.

Rules that are shipped say everything in two languages and have three cases; of one's own one of each is enough.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from pathlib import Path

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import FilePlace, Mistake
from advisor.messages.markup import find_refusals
from advisor.messages.message import Message
from advisor.model.findings import RemedyStep
from advisor.rules.bind import Rule
from advisor.rules.cases import OF_FINDINGS, UnclearCase, parse_given
from advisor.rules.guides import known_statements
from advisor.rules.patterns import Pattern
from advisor.rules.schema import CHINESE, ID, CaseFile, cases_of_document
from advisor.rules.vendors import TELLS, named_tools
from advisor.units import UNITS
from advisor.yaml_files.document import Path_, RuleDocument
from advisor.yaml_files.suggestions import suggest_known

FEWEST_CASES = 3
_LEAST_PERCENT = 2


def check_rule(rule: Rule, directory: Path, known: Collection[str]) -> Iterator[Mistake]:
    """What is to be bettered about a rule that was read with its tests; `known` are the ids there are."""
    document = rule.document
    ours = directory.resolve() == shipped_folder("rules").resolve()
    yield from _check_name(rule, document, directory)
    yield from _check_tests(rule, document, ours)
    yield from _check_thresholds(rule, document)
    yield from _check_missing_values(rule, document)
    yield from _check_units(rule, document)
    yield from _check_languages(rule, document)
    yield from _check_markup((), document.data, document)
    yield from _check_lost_comments(rule.fix, document)
    if ours:
        yield from _check_translations((), document.data, document)
        yield from _vendor_tools(rule, document)
        yield from _check_statements(rule, document)
    for key in ("explains", "includes"):
        for number, name in enumerate(document.data.get(key, ())):
            if name == rule.id:
                yield document.mistake((key, number), Message("explains_itself"))
            elif name not in known:
                yield document.mistake((key, number), Message("unknown_rule", name=name), suggest_known(name, known))


def check_pattern(pattern: Pattern, directory: Path) -> Iterator[Mistake]:
    """What is to be bettered about a pattern."""
    document, ours = pattern.document, directory.resolve() == shipped_folder("rules").resolve()
    if not any(case.chains for case in pattern.tests):
        yield document.mistake(("tests",), Message("no_case_finds"), key=True)
    yield from _check_markup((), document.data, document)
    yield from _check_lost_comments(pattern.fix, document)
    if ours:
        if all(case.chains for case in pattern.tests):
            yield document.mistake(("tests",), Message("no_case_finds_none"), key=True)
        yield from _check_translations((), document.data, document)
        asked = [frozenset(_ASKED.findall(when)) for when in pattern.fix_when]
        yield from _steps_of_vendors(pattern.fix, asked, {"workload"} if pattern.chain.workload else set(), document)


_ASKED = re.compile(r"[a-z_]+")


def find_circles(rules: Mapping[str, Rule]) -> Iterator[Mistake]:
    """Rules that explain each other in a circle: neither could be the cause."""
    for name, rule in sorted(rules.items()):
        reached, todo = set[str](), list(rule.explains)
        while todo:
            other = todo.pop()
            if other not in reached and other in rules:
                reached.add(other)
                todo += rules[other].explains
        if name in reached and name not in rule.explains:
            yield rule.document.mistake(("explains",), Message("explains_in_circle", name=name), key=True)


def find_unsaid_host_times(rules: Iterable[Rule]) -> Iterator[Mistake]:
    """Rules in doubt because recording slowed the host that do not say whether their saving is such time, and rules
    that say so though they are not about the capture.
    """
    found = tuple(rules)
    slowing = [one for one in found if one.inflates == "host_time"]
    for rule in found:
        said = "host_time" in (rule.document.data.get("saving") or ())
        doubting = (one for one in slowing if any(fnmatchcase(rule.id, pattern) for pattern in one.doubts))
        if rule.saving is not None and not said and (other := next(doubting, None)) is not None:
            yield rule.document.mistake(
                ("saving",), Message("host_time_unsaid", name=other.id), Message("say_host_time"), key=True
            )
    for rule in slowing:
        if not rule.id.startswith("capture/"):
            yield rule.document.mistake(("inflates",), Message("inflates_elsewhere"), key=True)


def _check_name(rule: Rule, document: RuleDocument, directory: Path) -> Iterator[Mistake]:
    try:
        wanted = rule.path.relative_to(directory).with_suffix("").as_posix()
    except ValueError:
        return
    if rule.id == wanted or _category_alone(rule, directory):
        return
    legal = re.fullmatch(ID, wanted) is not None
    what = Message("id_is_path", path=wanted) if legal else Message("path_is_id", path=f"{rule.id}.yaml")
    yield document.mistake(("id",), what)


def _category_alone(rule: Rule, directory: Path) -> bool:
    """Whether the rule lies where it should, but the folder that was given is its category."""
    return rule.path.parent == directory and rule.id == f"{directory.resolve().name}/{rule.path.stem}"


def find_categories(rules: Iterable[tuple[Rule, Path]]) -> Iterator[Mistake]:
    """Folders that were given for rules and are categories, each once: ids count from the folder above."""
    for folder in dict.fromkeys(directory for rule, directory in rules if _category_alone(rule, directory)):
        above = folder.parent if folder.name not in ("", "..") else folder / ".."
        what = Message("folder_is_category", name=folder.resolve().name)
        yield Mistake(FilePlace(folder.as_posix()), what, hint=Message("give_folder_above", folder=above.as_posix()))


def _check_tests(rule: Rule, document: RuleDocument, ours: bool) -> Iterator[Mistake]:
    found, mistakes = cases_of_document(document)
    yield from mistakes
    if mistakes:
        return
    if ours and len(found) < FEWEST_CASES:
        yield document.mistake(("tests",), Message("too_few_cases", count=FEWEST_CASES), key=True)
    if not any(isinstance(case.expect, list) and case.expect for case in found):
        yield document.mistake(("tests",), Message("no_case_fires"), key=True)
    if ours and not any(case.expect == "quiet" for case in found):
        yield document.mistake(("tests",), Message("no_case_quiet"), key=True)
    names = [case.name for case in found]
    for number, case in enumerate(found):
        if case.name in names[:number]:
            yield document.mistake(("tests", number, "name"), Message("case_named_twice"))
        yield from _check_expected(rule, number, case, document)
        try:
            parse_given(case)
        except UnclearCase as unclear:
            path, at = ("tests", number, "given", unclear.table), unclear.at
            yield document.mistake(path, unclear.what, unclear.hint, key=at is None, column=at)


def _check_expected(rule: Rule, number: int, case: CaseFile, document: RuleDocument) -> Iterator[Mistake]:
    """Values that no finding of the rule has."""
    lets = (name for name, compiled in rule.let.items() if not compiled.type.per_row)
    known = {*OF_FINDINGS, *rule.for_each, *lets, *(shown.name for shown in rule.evidence)}
    for place, wanted in enumerate(case.expect if isinstance(case.expect, list) else ()):
        for name in wanted:
            if name not in known:
                what = Message("finding_lacks", number=place + 1, name=name)
                yield document.mistake(
                    ("tests", number, "expect", place, name), what, suggest_known(name, known), key=True
                )


def _check_thresholds(rule: Rule, document: RuleDocument) -> Iterator[Mistake]:
    """Numbers in `when`, and params and values nobody uses."""
    for column, text in _bare_numbers(rule.when.source.strip(), frozenset(rule.params)):
        what = Message("number_is_threshold", number=text)
        yield document.mistake(("when",), what, Message("name_the_threshold"), column=column)
    used = {evidence.threshold for evidence in rule.evidence}.union(*(one.names for one in rule.expressions()))
    for name, param in rule.params.items():
        if param.unit == "share" and param.value > 1:
            what = Message("share_beyond_whole", name=f"params.{name}", number=f"{param.value:g}")
            yield document.mistake(("params", name, "value"), what, _hint_on_share(param.value))
        if name not in used:
            yield document.mistake(("params", name), Message("param_not_used", name=name), key=True)
    used |= {evidence.name for evidence in rule.evidence}
    for name in rule.let:
        if name not in used:
            yield document.mistake(("let", name), Message("value_not_used", name=name), key=True)


def _hint_on_share(value: float) -> Message:
    """What a share beyond the whole may be meant as: from 2 on hardly anything but a percentage."""
    if not _LEAST_PERCENT <= value <= 100:  # noqa: PLR2004 - the whole in percent
        return Message("beyond_whole_is_times")
    return Message("percent_or_times", percent=f"{value:g}", number=f"{value / 100:g}")


def _check_missing_values(rule: Rule, document: RuleDocument) -> Iterator[Mistake]:
    """Divisions by 0, which say in a roundabout way that a value is missing."""
    written = [*((("let", name), one) for name, one in rule.let.items()), (("when",), rule.when)]
    for path, one in written:
        source = one.source.strip()
        for node in ast.walk(ast.parse(source, mode="eval")):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_zero(node.right):
                what, hint = Message("missing_by_division"), Message("write_missing")
                yield document.mistake(path, what, hint, column=node.right.col_offset)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _check_units(rule: Rule, document: RuleDocument) -> Iterator[Mistake]:
    """Evidence in a unit nobody reads, such as bytes per µs, or in another one than the threshold beside it."""
    for number, evidence in enumerate(rule.evidence):
        if evidence.unit not in UNITS:
            what = Message("unit_not_shown", name=evidence.name, unit=evidence.unit)
            yield document.mistake(("evidence", number, "show"), what, Message("say_how"))
        held = rule.params[evidence.threshold].unit if evidence.threshold else ""
        if held and held != evidence.unit:
            what = Message("threshold_in_other_unit", name=evidence.threshold, unit=held, shown=evidence.unit or "–")
            yield document.mistake(("evidence", number, "threshold"), what, Message("one_unit"))


def _check_lost_comments(fix: Sequence[RemedyStep], document: RuleDocument) -> Iterator[Mistake]:
    """Commands and code with a comment on their line: it belongs to the file, and nobody would read it."""
    lines = document.lines
    for number, step in enumerate(fix):
        for key, text in (("run", step.run), ("code", step.code)):
            path = ("fix", number, key)
            line = document.line(path)
            written = lines[line - 1] if text and 0 < line <= len(lines) else ""
            _, found, rest = written.partition(text.strip()) if text else ("", "", "")
            if found and rest.lstrip("\"' ").startswith("#"):
                yield document.mistake(path, Message("comment_is_lost"), Message("put_in_block", key=key))


def _vendor_tools(rule: Rule, document: RuleDocument) -> Iterator[Mistake]:
    """Remedies that name a tool of one family of devices, or framework, and do not say whom they concern."""
    everywhere = rule.applies_when.names if rule.applies_when else frozenset()
    asked = [when.names if when else frozenset[str]() for when in rule.fix_when]
    yield from _steps_of_vendors(rule.fix, asked, everywhere, document)


def _steps_of_vendors(
    fix: Sequence[RemedyStep], asked: Sequence[Set[str]], everywhere: Set[str], document: RuleDocument
) -> Iterator[Mistake]:
    """The same of steps, each with the names its condition asks for."""
    for number, (step, names) in enumerate(zip(fix, asked, strict=True)):
        texts = (step.do.en, step.do.zh, step.run, step.code, *((step.care.en, step.care.zh) if step.care else ()))
        for name, word in named_tools(" ".join(texts)):
            if (everywhere | names).isdisjoint(TELLS.get(name, {name})):
                what = Message("tool_of_some_runs", tool=word)
                yield document.mistake(("fix", number), what, Message("say_whom_it_concerns", name=name))


def _check_statements(rule: Rule, document: RuleDocument) -> Iterator[Mistake]:
    """Statements that no guide makes. What rules of one's own implement is their own affair."""
    known = known_statements()
    for number, key in enumerate(rule.implements):
        if key not in known:
            path = ("implements", number)
            yield document.mistake(path, Message("unknown_statement", name=key), suggest_known(key, known))


def _bare_numbers(text: str, params: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Numbers other than 0, 1, plain multiples of a param and the part of a quantile, with their columns."""
    tree = ast.parse(text, mode="eval").body
    fine: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for number, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(other, ast.Name) and other.id in params:
                    fine.add(id(number))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "quantile":
            fine.update(id(argument) for argument in node.args)
    for node in ast.walk(tree):
        bare = isinstance(node, ast.Constant) and isinstance(node.value, int | float) and id(node) not in fine
        if isinstance(node, ast.Constant) and bare and node.value not in (0, 1):
            yield node.col_offset, str(node.value)


def _check_languages(rule: Rule, document: RuleDocument) -> Iterator[Mistake]:
    others = ((("title_with", name), text) for name, text in rule.title_with.items())
    for path, text in ((("title",), rule.title), *others, (("why",), rule.why)):
        key = ".".join(path)
        if text.zh != text.en and not CHINESE.search(text.zh):
            yield document.mistake((*path, "zh"), Message("holds_no_chinese", name=f"{key}.zh"))
        if text.zh != text.en and CHINESE.search(text.en):
            yield document.mistake((*path, "en"), Message("holds_chinese", name=f"{key}.en"))


_REFUSED = {"html": "html_is_shown", "picture": "picture_not_shown", "link": "no_link_made"}
_MARKED_UP = ("why", "do", "care", "assumes", "basis")
"""Keys whose texts are Markdown."""


def _check_markup(path: Path_, data: object, document: RuleDocument) -> Iterator[Mistake]:
    """Raw HTML, pictures and links that no report makes."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, one in entries:
        if path[-1:] and path[-1] in _MARKED_UP and isinstance(one, str):
            for found in find_refusals(one):
                what = Message(_REFUSED[found.kind], given=found.written)
                yield document.mistake((*path, name), what, Message("write_markdown"), column=found.at)
        elif name != "tests":
            yield from _check_markup((*path, name), one, document)


def _check_translations(path: Path_, data: object, document: RuleDocument) -> Iterator[Mistake]:
    """What is said in one language alone. Rules of one's own may do so; those that are shipped say both."""
    if isinstance(data, list):
        for number, one in enumerate(data):
            yield from _check_translations((*path, number), one, document)
    if not isinstance(data, dict) or path[:1] == ("tests",):
        return
    if ("en" in data) != ("zh" in data):
        missing = ".".join(map(str, (*path, "zh" if "en" in data else "en")))
        yield document.mistake(path, Message("is_missing", name=missing))
    for name, one in data.items():
        yield from _check_translations((*path, name), one, document)
