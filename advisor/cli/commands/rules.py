# SPDX-License-Identifier: Apache-2.0
"""`advisor rules`: list, show, write and test rules and patterns of chains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, rule_options
from advisor.cli.exit_codes import FINE, FOUND, WRONG
from advisor.cli.settings_in_force import catalog_of, language_of, rule_folders, settings_of
from advisor.messages.hidden import show_hidden, show_hidden_in_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from advisor.cli.slips import Parser
    from advisor.engine.case_runs import Broken
    from advisor.report.explanation.pattern_document import PatternInfo
    from advisor.rules.catalog import Catalog
    from advisor.rules.patterns import Pattern


def words(rules: Parser) -> None:
    """What the command understands."""
    actions = rules.add_subparsers(metavar="ACTION", title=rules.say("actions", "操作"), required=True)

    one = actions.add_parser(
        "list",
        help=rules.say(
            "every rule and every pattern of chains, with its state and title", "列出所有规则和算子串模式及其状态、标题"
        ),
    )
    rule_options(one)
    language_option(one)
    one.set_defaults(run=_list_rules)

    one = actions.add_parser(
        "show",
        help=rules.say(
            "one rule or pattern: what it checks, thresholds, remedy", "显示一条规则或模式：检查什么、阈值、处理办法"
        ),
    )
    one.add_argument(
        "id", help=rules.say("for example host/free-time or patterns/gelu", "如 host/free-time 或 patterns/gelu")
    )
    rule_options(one)
    language_option(one)
    one.set_defaults(run=_show_rule)

    one = actions.add_parser(
        "new",
        help=rules.say("write a commented skeleton that passes its own tests", "写出带注释、能通过自身测试的规则模板"),
    )
    one.add_argument(
        "id", help=rules.say("category/name, for example acme/slow-embedding", "类别/名称，如 acme/slow-embedding")
    )
    one.add_argument(
        "--dir",
        type=Path,
        default=Path(),
        metavar="DIR",
        help=rules.say("the folder of your rules (default: this one)", "自定义规则目录（默认为当前目录）"),
    )
    language_option(one)
    one.set_defaults(run=_write_new_rule)

    for name, help_text, work in (
        (
            "lint",
            rules.say("every mistake in the rules, with file, line and column", "列出规则中的所有错误及其文件、行、列"),
            _lint_rules,
        ),
        ("test", rules.say("run the cases inside the rules", "运行规则自带的测试用例"), _test_rules),
    ):
        one = actions.add_parser(name, help=help_text)
        one.add_argument(
            "dirs",
            type=Path,
            nargs="*",
            metavar="PATH",
            help=rules.say(
                "folders of rules, or rule files (default: the shipped ones)", "规则目录或规则文件（默认为自带规则）"
            ),
        )
        language_option(one)
        one.set_defaults(run=work)

    one = actions.add_parser(
        "schema",
        help=rules.say("print the JSON schema of a rule file, for editors", "输出规则文件的 JSON schema，供编辑器使用"),
    )
    one.add_argument(
        "--patterns",
        action="store_true",
        help=rules.say("that of a file with a pattern of chains instead", "改为输出算子串模式文件的 schema"),
    )
    one.set_defaults(run=_print_schema)


def _list_rules(arguments: argparse.Namespace) -> int:
    from advisor.report.diagnosis.cards import open_title
    from advisor.report.prose import flat_text

    catalog, language = catalog_of(arguments.rules, settings_of(arguments)), language_of(arguments.lang)
    for rule in catalog.rules:
        info = rule.info()
        print(show_hidden(f"{rule.id:<34} {info.status:<11} {flat_text(open_title(info, language))}"))
    for pattern in catalog.patterns_by_id.values():
        title = _info_of_pattern(pattern, catalog).say_title(language)
        print(show_hidden(f"{pattern.id:<34} {'pattern':<11} {title}"))
    return FINE


def _show_rule(arguments: argparse.Namespace) -> int:
    from advisor.report.explanation.pattern_document import pattern_document
    from advisor.report.explanation.rule_document import rule_document
    from advisor.report.renderers.terminal import print_document

    catalog, language = catalog_of(arguments.rules, settings_of(arguments)), language_of(arguments.lang)
    if (pattern := catalog.patterns_by_id.get(arguments.id)) is not None:
        document = pattern_document(_info_of_pattern(pattern, catalog), language)
    else:
        rule = catalog.named(arguments.id, also=catalog.patterns_by_id)
        document = rule_document(rule.info(), language, rule.logic())
    print_document(document, inset=2)
    return FINE


def _info_of_pattern(pattern: Pattern, catalog: Catalog) -> PatternInfo:
    from advisor.report.explanation.pattern_document import PatternInfo

    chain = pattern.chain
    spelled = tuple(f"{word}: {' '.join(types)}" for word, types in chain.spellings.items())
    told_by = catalog.rules_telling_of(pattern)
    return PatternInfo(
        pattern.id, chain.operator, chain.workload, tuple(map(str, chain.orders)), spelled, pattern.fix, told_by
    )


def _write_new_rule(arguments: argparse.Namespace) -> int:
    from advisor.machine.output_files import write_new_file
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message
    from advisor.messages.shell_words import shell_words
    from advisor.rules.catalog import new_rule, refuse_shipped_id

    target: Path = arguments.dir / f"{arguments.id}.yaml"
    text = new_rule(arguments.id)
    refuse_shipped_id(arguments.id)
    try:
        write_new_file(target, text.encode())
    except FileExistsError:
        raise UsageError(Message("exists_already", path=target), Message("choose_id_or_edit")) from None
    print(target)
    print(Message("test_it_next", folder=shell_words(arguments.dir)).say(language_of(arguments.lang)))
    return FINE


def _lint_rules(arguments: argparse.Namespace) -> int:
    from advisor.rules.catalog import lint_rules

    mistakes = lint_rules(rule_folders(arguments.dirs))
    for mistake in mistakes:
        print(show_hidden_in_lines(mistake.say(language_of(arguments.lang))))
    return WRONG if mistakes else FINE


def _test_rules(arguments: argparse.Namespace) -> int:
    from textwrap import indent

    from advisor.engine.case_runs import prove_rule
    from advisor.messages.errors import RuleError, UsageError
    from advisor.messages.message import Message
    from advisor.rules.catalog import Catalog, rules_named_as_shipped

    folders, language = rule_folders(arguments.dirs), language_of(arguments.lang)
    rules = Catalog.load(folders).rules
    if mistakes := rules_named_as_shipped(rules):
        raise RuleError(mistakes)
    proofs = [(rule.id, prove_rule(rule), len(rule.tests)) for rule in rules]
    proofs += _proofs_of_patterns(folders)
    for name, wrong, _ in proofs:
        kept = Message("case_failed" if wrong else "case_passed").say(language)
        print(show_hidden(f"{kept:<7} {name}"))
        for line in wrong:
            print(show_hidden_in_lines(indent(line.say(language), " " * 8)))
    failed = sum(bool(wrong) for _, wrong, _ in proofs)
    print(Message("cases_counted", passed=len(proofs) - failed, failed=failed).say(language))
    if not any(cases for _, _, cases in proofs):
        raise UsageError(Message("no_case"), Message("write_cases"))
    return FOUND if failed else FINE


def _proofs_of_patterns(folders: Sequence[Path]) -> list[tuple[str, list[Broken], int]]:
    """Patterns of chains in these folders: what each promised and did not keep, and how many cases it has."""
    from advisor.analysis.fusion.pattern_cases import broken_cases
    from advisor.rules.catalog import pattern_files
    from advisor.rules.patterns import gather_patterns

    files = list(pattern_files(folders))
    own, every = {path for path, _ in files}, gather_patterns(files)[0]
    return [(one.id, [*broken_cases(one, every.chains)], len(one.tests)) for one in every.patterns if one.path in own]


def _print_schema(arguments: argparse.Namespace) -> int:
    import json

    from advisor.rules.editor_schema import json_schema
    from advisor.rules.patterns import pattern_schema

    print(
        json.dumps(pattern_schema() if arguments.patterns else json_schema(), indent=2)
    )  # in ASCII: a redirected output may have any encoding
    return FINE
