# SPDX-License-Identifier: Apache-2.0
"""The command line: words in, exit code out. Decides nothing.

Exit codes: 0 fine, 1 findings at or above `--fail-on`, 2 wrong use or a wrong rule, 3 nothing readable in the input.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.arguments import SETTINGS_FILE, parser

if TYPE_CHECKING:
    import argparse

    from advisor.errors import Both
    from advisor.findings import Diagnosis
    from advisor.report.charts import Renderer
    from advisor.rules.bind import Rule
    from advisor.rules.catalog import Catalog, Settings
    from advisor.text import Language

FINE, FOUND, WRONG, UNREADABLE = 0, 1, 2, 3
INTERRUPTED = 130
LARGE_BYTES = 64 << 20
"""From here on reading takes longer than the drawing process takes to wake up, and wants the memory."""
READ = ("timeline", "database", "ranks")
"""Parts of the work (see `progress`) after which a large capture is read."""
_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of glibc's mallopt(3)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives the exit code."""
    arguments = parser().parse_args(argv)
    if not hasattr(arguments, "command"):
        parser().print_help()
        return WRONG
    from advisor.errors import AdvisorError, InputError, SpokenError, WorkerLost

    try:
        code = COMMANDS[arguments.command](arguments)
    except AdvisorError as error:
        said = error.say(_language(getattr(arguments, "lang", None))) if isinstance(error, SpokenError) else error
        print(f"advisor: {said}", file=sys.stderr)
        return UNREADABLE if isinstance(error, InputError | WorkerLost) else WRONG
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - so that closing it at exit finds no pipe
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _give_back_memory() -> None:
    """Lets freed columns return to the system: glibc otherwise keeps blocks of up to 32 MiB for later use."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # another C library has no such switch
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 1 << 20)


def _diagnose(arguments: argparse.Namespace) -> int:
    with _charts(arguments.output) as charts:  # before anything large is imported: it wakes up beside that
        _give_back_memory()
        from advisor.report import check_outputs, outside_captures
        from advisor.report.bar import Bar
        from advisor.report.charts import begin

        outputs = check_outputs(arguments.output, arguments.path)
        settings = _settings(arguments)
        language = _language(arguments.lang)
        with Bar(language) as bar:
            from advisor.diagnosis import judge, open_profile, show

            def told(what: str, done: int, total: int) -> None:
                bar(what, done, total)
                if done >= total and what in READ:
                    charts.wake()

            profile = open_profile(arguments.path, jobs=arguments.jobs, progress=told)
            outside_captures(outputs, arguments.path, tuple(c.path for c in profile.run.captures))
            small = profile.size_bytes <= LARGE_BYTES
            if not small:
                charts.rest()
            rules = partial(_catalog, arguments.rules, settings, arguments.only)
            # drawing takes as long as reading the rules, and they want all that rests on events
            ahead = small and profile.single and charts.wanted and settings is None and not arguments.only
            catalog = None if ahead else rules()
            shown = show(profile, catalog)
            begin(charts, language, shown)
            catalog = catalog or rules()
            diagnosis = judge(profile, catalog, shown, bar)
        return _hand_out(diagnosis, arguments, outputs, charts)


def _render(arguments: argparse.Namespace) -> int:
    from pydantic import ValidationError

    from advisor.damage import because
    from advisor.errors import Both, InputError
    from advisor.findings import Diagnosis
    from advisor.report import check_outputs

    _settings(arguments)
    outputs = check_outputs(arguments.output, arguments.path)
    with _charts(outputs) as charts:
        try:
            diagnosis = Diagnosis.model_validate_json(arguments.path.read_bytes())
        except OSError as error:
            why = because(error)
            raise InputError(
                Both(f"{arguments.path} cannot be read: {why.en}", f"无法读取 {arguments.path}：{why.zh}"),
                Both("give the .json of a diagnosis", "请给出诊断输出的 .json 文件"),
            ) from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(
                Both(
                    f"{arguments.path} is not a diagnosis: {where or 'the whole file'}: {first['msg']}",
                    f"{arguments.path} 不是诊断结果：{where or '整个文件'} 的内容不符合格式",
                ),
                Both(
                    "give a .json written by `advisor diagnose … -o report.json`",
                    "请给出由 `advisor diagnose … -o report.json` 写出的 .json 文件",
                ),
            ) from error
        return _hand_out(diagnosis, arguments, outputs, charts)


def _hand_out(diagnosis: Diagnosis, arguments: argparse.Namespace, outputs: Sequence[Path], charts: Renderer) -> int:
    from advisor import report
    from advisor.findings import Severity
    from advisor.report.terminal import print_diagnosis

    language = _language(arguments.lang)
    for path in outputs:
        report.write(diagnosis, path, language, charts)
    if not arguments.quiet:
        print_diagnosis(diagnosis, language, top=arguments.top or 5, written=outputs)
    level = arguments.fail_on
    worst = max((finding.severity for finding in diagnosis.findings), default=None)
    return FOUND if level and worst is not None and worst >= Severity[level] else FINE


def _rules_list(arguments: argparse.Namespace) -> int:
    catalog = _catalog(arguments.rules, _settings(arguments))
    for rule in catalog.rules:
        info = rule.info()
        print(f"{rule.id:<34} {info.status:<11} {info.title.say(_language(arguments.lang))}")
    return FINE


def _rules_show(arguments: argparse.Namespace) -> int:
    from advisor.report.terminal import print_rule

    catalog = _catalog(arguments.rules, _settings(arguments))
    rule = _named(catalog, arguments.id)
    print_rule(rule.info(), _language(arguments.lang), logic=rule.logic())
    return FINE


def _named(catalog: Catalog, rule_id: str) -> Rule:
    from difflib import get_close_matches

    from advisor.errors import Both, UsageError

    found = {rule.id: rule for rule in catalog.rules}
    if rule_id in found:
        return found[rule_id]
    near = get_close_matches(rule_id, found, 1)
    meant = Both(f"did you mean `{near[0]}`?", f"是不是 `{near[0]}`？") if near else _listed()
    raise UsageError(Both(f"no rule `{rule_id}`", f"没有规则 `{rule_id}`"), meant)


def _listed() -> Both:
    from advisor.errors import Both

    return Both("advisor rules list shows them all", "可用 advisor rules list 查看全部规则")


def _rules_new(arguments: argparse.Namespace) -> int:
    from advisor.errors import Both, UsageError
    from advisor.rules.catalog import new_rule

    target: Path = arguments.dir / f"{arguments.id}.yaml"
    text = new_rule(arguments.id)
    if target.exists():
        raise UsageError(
            Both(f"{target} exists already", f"{target} 已存在"),
            Both("choose another id, or edit that file", "换一个规则 id，或直接修改该文件"),
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    print(f"{target}\nnext: advisor rules test {arguments.dir}")
    return FINE


def _rules_lint(arguments: argparse.Namespace) -> int:
    from advisor.rules.catalog import lint

    mistakes = lint(_folders(arguments.dirs))
    for mistake in mistakes:
        print(mistake)
    return WRONG if mistakes else FINE


def _rules_test(arguments: argparse.Namespace) -> int:
    from advisor.engine.prove import prove
    from advisor.rules.catalog import Catalog

    catalog = Catalog.load(_folders(arguments.dirs))
    failed = 0
    for rule in catalog.rules:
        wrong = prove(rule)
        failed += bool(wrong)
        print(f"{'FAILED' if wrong else 'ok':<7} {rule.id}")
        for line in wrong:
            print(f"        {line}")
    print(f"{len(catalog.rules) - failed} passed, {failed} failed")
    return WRONG if failed else FINE


def _rules_schema(_: argparse.Namespace) -> int:
    import json

    from advisor.rules.schema import json_schema

    print(json.dumps(json_schema(), ensure_ascii=False, indent=2))
    return FINE


def _folders(given: Sequence[Path]) -> list[Path]:
    from advisor.errors import Both, UsageError
    from advisor.shipped import shipped

    for folder in given:
        if not folder.exists():
            raise UsageError(
                Both(f"{folder} does not exist", f"{folder} 不存在"),
                Both("give a folder of rule files", "请给出存放规则文件的目录"),
            )
    return list(given) or [shipped("rules")]


def _catalog(own: Sequence[Path], settings: Settings | None, only: Sequence[str] = ()) -> Catalog:
    from advisor.rules.catalog import Catalog
    from advisor.shipped import shipped

    catalog = Catalog.load([shipped("rules"), *_folders(own)] if own else [shipped("rules")], settings)
    if not only:
        return catalog
    from advisor.errors import Both, UsageError

    chosen = catalog.select(only)
    if not chosen.rules:
        patterns = ", ".join(only)
        raise UsageError(Both(f"no rule matches {patterns}", f"没有规则匹配 {patterns}"), _listed())
    return chosen


def _settings(arguments: argparse.Namespace) -> Settings | None:
    """The settings in force, if any; what they say of language and exit code counts where the command says nothing."""
    path: Path | None = getattr(arguments, "config", None)
    if path is not None and not path.is_file():
        from advisor.errors import Both, UsageError

        raise UsageError(
            Both(f"{path} does not exist", f"{path} 不存在"),
            Both(f"give a file of settings such as {SETTINGS_FILE}", f"请给出配置文件，例如 {SETTINGS_FILE}"),
        )
    found = path or Path(SETTINGS_FILE)
    if not found.is_file():
        return None
    from advisor.rules.settings import Settings

    settings = Settings.read(found)
    arguments.lang = arguments.lang or settings.language
    arguments.fail_on = getattr(arguments, "fail_on", None) or settings.fail_on
    return settings


def _language(asked: str | None) -> Language:
    said = asked or os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if said.lower().startswith("zh") else "en"


def _charts(outputs: Sequence[Path]) -> Renderer:
    """The chart renderer, warming up beside the reading when an HTML report is wanted."""
    from advisor.report.charts import Renderer

    return Renderer(start=any(path.suffix == ".html" for path in outputs))


COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "diagnose": _diagnose,
    "render": _render,
    "rules_list": _rules_list,
    "rules_show": _rules_show,
    "rules_new": _rules_new,
    "rules_lint": _rules_lint,
    "rules_test": _rules_test,
    "rules_schema": _rules_schema,
}
"""What each command of `arguments` does."""
